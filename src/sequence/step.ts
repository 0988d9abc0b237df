/**
 * One step of a sequence: from the state before a frame to the state after it. A frame that equals the last examined
 * one but for noise is quiet and gets its answer (quiet-frame.ts); any other frame is examined (process-frame.ts).
 */
import { countedCells } from '../cameras/counted-cells.js';
import { ScenedeltaError } from '../errors.js';
import type { StoredFrame } from '../frames/keep.js';
import type { Preview } from '../images.js';
import { comparePreviews, type PreviewComparison } from '../quiet/compare.js';
import { learnNoise } from '../quiet/noise.js';
import { gridOf } from '../quiet/preview.js';
import type { CameraHealthEvent } from '../schemas/stream-event.js';
import type { UnseenSpan } from '../stores/camera-frames.js';
import type { CameraState } from '../stores/cameras.js';
import { gapSpans } from './answer.js';
import type { PreviewStore } from './previews.js';
import { type FrameDependencies, type FrameInput, type ProcessedFrame, processFrame } from './process-frame.js';
import { quietFrame } from './quiet-frame.js';
import { checkStillness, frozenSpans } from './still.js';

export interface StepInput extends Omit<FrameInput, 'frame'> {
  /** identifies the content of the frame: the sha256 of its bytes, or any other text that equal frames share */
  readonly content: string;
  /** the frame at reduced size; called at most once */
  readonly preview: () => Promise<Preview>;
  /** the frame itself; called only if it has to be examined, and then once */
  readonly frame: () => Promise<StoredFrame>;
}

export interface StepDependencies extends FrameDependencies {
  readonly previews: PreviewStore;
}

export interface StepResult extends ProcessedFrame {
  /** the reference of the frame; null: it was quiet, so that `frame` was not called */
  readonly after: StoredFrame['ref'] | null;
  /** of the rule of quiet frames, which holds up to 1; null: the previews were not compared */
  readonly score: number | null;
  /** the camera is stuck, or works again */
  readonly health: CameraHealthEvent | null;
  /** spans that end with this frame */
  readonly unseen: readonly UnseenSpan[];
}

/**
 * @returns an answer with `nothing_new_since` for a quiet frame, and the state for the next step
 * @throws ScenedeltaError as the pipeline and the stores do
 */
export async function stepSequence(input: StepInput, deps: StepDependencies): Promise<StepResult> {
  const { camera, state, at, content } = input;
  const startedAt = performance.now();
  const look = camera.settings.examine_every_s > 0 ? await lookAt(input, deps) : null;
  const identical = content === state.last?.sha256 || look?.comparison?.identical === true;
  const { still, notes, event } = checkStillness(camera, state, { at, identical });
  const quiet =
    look?.comparison?.quiet === true
      ? quietFrame({ ...input, size: look.preview.source }, deps.pipeline.operatingPoints(camera.settings.model))
      : null;
  const passed = { quiet: performance.now() - startedAt - (look?.decodeMs ?? 0), decode: look?.decodeMs ?? 0 };

  const frame = quiet === null ? await input.frame() : null;
  const processed = quiet ?? (await processFrame({ ...input, frame: frame as StoredFrame }, deps));
  if (frame !== null && look !== null) deps.previews.keep(frame.ref, look.preview);
  const { decode = 0 } = processed.timings;
  return {
    ...processed,
    after: frame?.ref ?? null,
    score: scoreOf(look),
    timings: look === null ? processed.timings : { ...processed.timings, ...passed, decode: decode + passed.decode },
    cameraFrame: { ...processed.cameraFrame, notes: [...processed.cameraFrame.notes, ...notes] },
    state: {
      ...withLearned(processed.state, state, look?.comparison ?? null, still),
      recordedFrom: state.recordedFrom ?? at,
    },
    health: event,
    unseen: [...gapSpans(state, at, camera.settings.gap_s), ...frozenSpans(event)],
  };
}

interface Look {
  readonly preview: Preview;
  /** null: there is no examined frame to compare with */
  readonly comparison: PreviewComparison | null;
  /** of both previews, if that of the examined frame was no longer in memory */
  readonly decodeMs: number;
}

/** @returns null if the frame cannot be decoded: its examination states why */
async function lookAt({ camera, state, preview }: StepInput, { previews }: StepDependencies): Promise<Look | null> {
  const startedAt = performance.now();
  try {
    const current = await preview();
    const { examined, noise } = state;
    const reference = examined === undefined ? null : await previews.load(examined.frame);
    const decodeMs = performance.now() - startedAt;
    if (reference === null) return { preview: current, comparison: null, decodeMs };
    const counted = countedCells(camera.settings.zones, gridOf(reference));
    return { preview: current, comparison: comparePreviews(reference, current, noise ?? null, counted), decodeMs };
  } catch (thrown) {
    if (thrown instanceof ScenedeltaError && thrown.code.startsWith('image-')) return null;
    throw thrown;
  }
}

function scoreOf(look: Look | null): number | null {
  const score = look?.comparison?.score ?? Number.POSITIVE_INFINITY;
  return Number.isFinite(score) ? score : null;
}

/** Adds the learned noise and the row of still frames, which neither a quiet nor an examined frame keeps by itself. */
function withLearned(
  { still: _still, ...next }: CameraState,
  { noise: before }: CameraState,
  comparison: PreviewComparison | null,
  still: CameraState['still'],
): CameraState {
  const tiles = comparison?.tiles ?? null;
  const noise = tiles === null ? before : learnNoise(before ?? null, tiles);
  return {
    ...next,
    ...(noise === undefined ? {} : { noise }),
    ...(still === undefined ? {} : { still }),
  };
}
