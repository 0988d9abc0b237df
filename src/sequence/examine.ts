/** Examination of a camera's frame: the choice of its "before", and the comparison with it. It alters no state. */
import { chooseBaseline } from '../baseline/choose.js';
import type { BaselineDependencies, CameraFrameContext } from '../baseline/context.js';
import { carryOut } from '../baseline/orders.js';
import type { OperatingPoint } from '../cameras/operating-points.js';
import type { StoredFrame } from '../frames/keep.js';
import type { RgbImage } from '../images.js';
import { lostFinding } from '../pipeline/finding.js';
import type { Comparer, PairOutput } from '../pipeline/pair.js';
import { isBaselineEvent } from './answer.js';
import type { FrameEvidence, PreviewEvidence } from './evidence.js';
import type { FoldContext } from './fold.js';
import { frameThreshold } from './threshold.js';

export interface FrameDependencies extends BaselineDependencies {
  readonly pipeline: Comparer & { operatingPoints(model: string | null): readonly OperatingPoint[] };
}

/** Evidence, with what does not fit into plain JSON. */
export interface Examination {
  readonly evidence: FrameEvidence;
  /** null: there was nothing to compare with */
  readonly before: StoredFrame | null;
  /** of the frame, at working size; null: its baseline does not need them */
  readonly pixels: RgbImage | null;
  /** null: there was nothing to compare with */
  readonly compared: PairOutput | null;
}

const FULL = { x: 0, y: 0, width: 1, height: 1 };

/** @throws ScenedeltaError as the pipeline and the stores do */
export async function examine(
  frame: CameraFrameContext,
  seen: PreviewEvidence,
  { events, points }: Pick<FoldContext, 'events' | 'points'>,
  deps: FrameDependencies,
): Promise<Examination> {
  const { camera, at } = frame;
  const { state } = carryOut(events.filter(isBaselineEvent), frame.state, camera, at);
  const { frame: before, at: learnedAt, pixels, ...baseline } = await chooseBaseline({ ...frame, state }, deps);
  const { threshold } = frameThreshold(camera.settings, state, at, points);
  const compared = before === null ? null : await compare(before, frame, threshold, deps);
  const evidence = {
    ...seen,
    frame: frame.frame.ref,
    baseline: { ...baseline, before: before && { frame: before.ref, at: learnedAt } },
    finding:
      compared?.finding ??
      (baseline.lost === undefined
        ? null
        : lostFinding({ side: 'after', boxes: [FULL], share: 1, reason: baseline.lost })),
    ...(compared?.seen === undefined ? {} : { seen: compared.seen }),
    excluded: null,
    threshold,
    examined: true,
  };
  return { evidence, before, pixels, compared };
}

const compare = (
  before: StoredFrame,
  { camera: { id, settings }, frame, signal }: CameraFrameContext,
  threshold: number | null,
  { pipeline }: FrameDependencies,
): Promise<PairOutput> =>
  pipeline.compare({
    before: before.bytes,
    after: frame.bytes,
    beforeKey: before.ref.sha256,
    afterKey: frame.ref.sha256,
    model: settings.model,
    camera: id,
    threshold,
    truth: settings.truth ?? null,
    statements: true,
    signal,
  });
