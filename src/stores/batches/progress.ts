/** The plan of a batch and its progress: by camera, as a whole, and the event that says so. Pure. */
import { isoTime } from '../../base/wall-clock.js';
import type { Zone } from '../../camera/settings/settings.js';
import {
  type Batch,
  type BatchCamera,
  type BatchStatus,
  type Counts,
  eachCount,
  NO_COUNTS,
} from '../../schemas/batch.js';
import { roundFigures } from '../../schemas/rounding.js';
import { type StreamEvent, streamEvent } from '../../schemas/stream-event.js';

export interface PlannedCamera
  extends Pick<BatchCamera, 'camera' | 'files' | 'starts_at' | 'ends_at' | 'frames_expected'> {
  /** privacy zones of the camera of the service with this name; absent: none */
  readonly privacy?: readonly Zone[];
}

export interface BatchPlan {
  readonly cameras: readonly PlannedCamera[];
  /** inputs that belong to no camera, or that failed before the run */
  readonly failures: readonly { camera: string | null; file: string; code: string; reason: string }[];
  /** failures beyond those; absent: none */
  readonly unlisted?: number;
  readonly warnings: readonly string[];
}

export interface BatchProgress extends Pick<BatchCamera, 'reached' | 'done' | keyof Counts> {
  /** of the work of a search, 0 to 1; absent: progress is measured by `reached` */
  readonly share?: number;
}

type Progress = Pick<Batch, 'progress' | 'frames_expected' | 'cameras' | keyof Counts>;
const NOTHING: BatchProgress = { ...NO_COUNTS, reached: null, done: false };

interface Progressing {
  /** null until the inputs have been listed */
  readonly plan: BatchPlan | null;
  /** in the order of the plan's cameras; undefined before the first frame */
  readonly progress: readonly (BatchProgress | undefined)[];
}

export function progressOf({ plan, progress }: Progressing): Progress {
  const cameras = (plan?.cameras ?? []).map(({ privacy: _privacy, ...planned }, i): BatchCamera => {
    const { share: _share, ...reported } = progress[i] ?? NOTHING;
    const { frames_expected: expected } = planned;
    const all = reported.done ? reported.frames : expected === null ? null : Math.max(expected, reported.frames);
    return { ...planned, ...reported, frames_expected: all };
  });
  const totals = eachCount((name) => cameras.reduce((sum, camera) => sum + camera[name], 0));
  const expected = cameras.map(({ frames_expected }) => frames_expected);
  return {
    progress: shareOf(cameras, progress),
    ...totals,
    frames_expected:
      plan === null || expected.includes(null) ? null : expected.reduce((sum: number, all) => sum + (all ?? 0), 0),
    failures: totals.failures + (plan?.failures.length ?? 0) + (plan?.unlisted ?? 0),
    cameras,
  };
}

/** A camera counts by the length of its recordings. */
function shareOf(cameras: readonly BatchCamera[], progress: Progressing['progress']): number {
  let [reached, all] = [0, 0];
  for (const [i, camera] of cameras.entries()) {
    const length = Math.max(1, Date.parse(camera.ends_at) - Date.parse(camera.starts_at));
    all += length;
    reached += (camera.done ? 1 : (progress[i]?.share ?? doneOf(camera))) * length;
  }
  return all === 0 ? 0 : reached / all;
}

/**
 * By time, or by frames if that is more: the first frame has reached no time yet, and recordings with pauses have fewer
 * frames than their length has room for.
 */
function doneOf({ starts_at, ends_at, reached, frames, frames_expected: expected }: BatchCamera): number {
  const begin = Date.parse(starts_at);
  const length = Math.max(1, Date.parse(ends_at) - begin);
  const ofTime = reached === null ? 0 : (Date.parse(reached) - begin) / length;
  const ofFrames = expected === null || expected === 0 ? 0 : frames / expected;
  return Math.min(1, Math.max(0, ofTime, ofFrames));
}

/** `batch.progress` of one that runs; of the others `batch.` and the status. @param at epoch ms */
export function batchEvent(
  batch: Progressing & { readonly id: string; readonly status: BatchStatus },
  at: number,
): StreamEvent {
  const { cameras: _cameras, ...counts } = progressOf(batch);
  return streamEvent({
    type: batch.status === 'running' ? 'batch.progress' : `batch.${batch.status}`,
    camera: null,
    at: isoTime(at),
    subject: { kind: 'batch', id: batch.id },
    data: roundFigures({ status: batch.status, ...counts }),
  });
}
