/** Runs of frames through the turns of a camera. */
import type { StoredCamera } from '../../src/camera/settings/camera.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { GREEN, picture, RED, readComparison, sendFrame, turnProcessor, workOff } from './cameras.js';
import type { Bench } from './workers.js';

export const T = Date.parse('2026-06-01T12:00:00Z');
export const at = (seconds: number) => T + seconds * 1000;
export const EMPTY = picture();
export const WITH_CAR = picture({ things: [[60, 30, 12, 10, RED]] });
export const WITH_DOG = picture({ things: [[10, 40, 8, 8, GREEN]] });

/** @returns a function that sends frames in the order given, processes them, and reads their comparisons */
export const runsOn =
  (bench: () => Bench) =>
  /** @param frames with their capture times in s after T */
  async (
    camera: StoredCamera,
    frames: readonly (readonly [Promise<Buffer>, number])[],
    processor = turnProcessor(bench()),
  ): Promise<Comparison[]> => {
    const ids: string[] = [];
    for (const [frame, seconds] of frames) {
      ids.push(await sendFrame(bench(), camera, await frame, at(seconds)));
    }
    await workOff(camera.id, processor);
    return Promise.all(ids.map((id) => readComparison(bench(), id)));
  };
export const codes = ({ camera_frame }: Comparison | undefined = {} as Comparison) =>
  camera_frame?.notes.map(({ code }) => code);
export const beforeAt = ({ camera_frame }: Comparison) => camera_frame?.before?.captured_at ?? null;
