/** A run over all cameras of a recording: several sequences side by side, each strictly in the order of its time. */
import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { recordedCamera } from '../../camera/settings/camera.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import type { Counts } from '../../schemas/batch.js';
import type { FootageSequence } from '../inputs/recording-plan.js';
import type { Checkpoint, CheckpointStore } from './checkpoint.js';
import { runSequence, type SequenceDependencies } from './sequence-run.js';

export interface RecordingDependencies extends Omit<SequenceDependencies, 'checkpoints' | 'onProgress'> {
  readonly checkpoints: (camera: string) => CheckpointStore;
  /** sequences at a time */
  readonly parallel: number;
  /** @param at capture time that the camera has reached, epoch ms */
  readonly onProgress?: (camera: string, counts: Counts, at: number | null) => void;
}

/**
 * @returns the last checkpoint of each camera, in the order of the sequences
 * @throws the first error that is not the fault of a file or a frame; the other sequences are ended before
 */
export async function runRecording(
  sequences: readonly FootageSequence[],
  settings: CameraSettings,
  deps: RecordingDependencies,
  signal: AbortSignal,
): Promise<Checkpoint[]> {
  const limit = pLimit(deps.parallel);
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const outcomes = await Promise.allSettled(
    sequences.map((sequence) =>
      limit(async () => {
        const { camera } = sequence;
        const one = {
          ...deps,
          checkpoints: deps.checkpoints(camera),
          onProgress: (counts: Counts, at: number | null) => deps.onProgress?.(camera, counts, at),
        };
        try {
          return await runSequence(sequence, recordedCamera(camera, settings), one, either);
        } catch (thrown) {
          failed.abort();
          throw thrown;
        }
      }),
    ),
  );
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** @returns a fingerprint of everything that the records of a run depend on, in hexadecimal */
export const fingerprintOf = (inputs: object): string =>
  createHash('sha256').update(JSON.stringify(inputs)).digest('hex');
