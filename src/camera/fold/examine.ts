/** Examination of a camera's frame: the choice of its "before", and the comparison with it. It alters no state. */
import { FULL_FRAME, type RgbImage } from '../../base/images.js';
import type { DecodedFrame } from '../../frames/decode.js';
import type { StoredFrame } from '../../frames/keep.js';
import { lostFinding, tamperedFinding } from '../../pipeline/finding.js';
import type { Comparer, PairOutput } from '../../pipeline/pair.js';
import { isForeign } from '../../schemas/loss.js';
import { chooseBaseline } from '../baseline/choose.js';
import { type BaselineDependencies, type CameraFrameContext, fetchIfStored } from '../baseline/context.js';
import { carryOut } from '../baseline/orders.js';
import type { OperatingPoint } from '../settings/operating-points.js';
import { isBaselineEvent } from './answer.js';
import type { FrameEvidence, PreviewEvidence } from './evidence.js';
import type { FoldContext } from './fold.js';
import { countView, newViewOrder, viewNote } from './other-view.js';
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

/** @throws ScenedeltaError as the pipeline and the stores do */
export async function examine(
  frame: CameraFrameContext,
  seen: PreviewEvidence,
  { events, points }: Pick<FoldContext, 'events' | 'points'>,
  deps: FrameDependencies,
): Promise<Examination> {
  const { camera, at } = frame;
  const { state } = carryOut(events.filter(isBaselineEvent), frame.state, camera, at);
  const examination = await examineFrom({ ...frame, state }, seen, points, deps);
  return isForeign(examination.evidence.finding) ? followView({ ...frame, state }, examination, deps) : examination;
}

async function examineFrom(
  frame: CameraFrameContext,
  seen: PreviewEvidence,
  points: FoldContext['points'],
  deps: FrameDependencies,
): Promise<Examination> {
  const { camera, at, state } = frame;
  const { frame: before, at: learnedAt, pixels, ...baseline } = await chooseBaseline(frame, deps);
  const { threshold } = frameThreshold(camera.settings, state, at, points);
  // A learned background shows no moment.
  const shownAt = camera.settings.before === 'memory' ? null : learnedAt;
  const secondsApart = shownAt === null ? null : (at - shownAt) / 1000;
  const compared = before === null ? null : await compare(before, frame, threshold, deps, { pixels, secondsApart });
  const evidence = {
    ...seen,
    frame: frame.frame.ref,
    baseline: { ...baseline, before: before && { frame: before.ref, at: learnedAt } },
    finding:
      compared?.finding ??
      (baseline.lost === undefined
        ? null
        : lostFinding({ side: 'after', boxes: [FULL_FRAME], share: 1, reason: baseline.lost })),
    ...(compared?.seen === undefined ? {} : { seen: compared.seen }),
    excluded: null,
    threshold,
    examined: true,
  };
  return { evidence, before, pixels, compared };
}

/** The examination of a frame that shows another view than "before": a foreign picture, or the camera was turned. */
async function followView(
  frame: CameraFrameContext,
  examination: Examination,
  deps: FrameDependencies,
): Promise<Examination> {
  const { camera, state, at } = frame;
  const { evidence } = examination;
  const latest = state.otherView === undefined ? null : await fetchIfStored(state.otherView.frame, frame, deps);
  const shown = latest === null ? null : (await compare(latest, frame, evidence.threshold, deps)).finding;
  const sameView = shown !== null && shown.verdict !== 'tamper' && shown.lost === undefined;
  const otherView = countView(frame.frame.ref, state, sameView);
  const { baseline } = evidence;
  if (!otherView.confirmed) {
    const notes = [...baseline.notes, viewNote(otherView)];
    const kept = { ...baseline, candidate: { kind: 'keep' }, skipped: true, notes } as const;
    return { ...examination, evidence: { ...evidence, baseline: kept, otherView } };
  }
  const score = evidence.finding?.confidence ?? 1;
  const finding = tamperedFinding([{ name: 'turned', score }], evidence.finding?.viewpoint);
  // A chosen reference is never replaced silently.
  if (camera.settings.before === 'reference' && camera.reference !== null) {
    return { ...examination, evidence: { ...evidence, finding, otherView: { ...otherView, confirmed: false } } };
  }
  const replaced = carryOut([newViewOrder(otherView)], state, camera, at).state;
  const { frame: _none, at: _unknown, pixels, ...begun } = await chooseBaseline({ ...frame, state: replaced }, deps);
  return {
    ...examination,
    pixels,
    evidence: { ...evidence, baseline: { ...begun, before: null }, finding, otherView },
  };
}

const compare = (
  before: StoredFrame,
  { camera: { id, settings }, frame, signal }: CameraFrameContext,
  threshold: number | null,
  { pipeline }: FrameDependencies,
  known: { readonly pixels: DecodedFrame | null; readonly secondsApart: number | null } | null = null,
): Promise<PairOutput> =>
  pipeline.compare({
    before: before.bytes,
    after: frame.bytes,
    beforeKey: before.ref.sha256,
    afterKey: frame.ref.sha256,
    afterDecoded: known?.pixels ?? null,
    secondsApart: known?.secondsApart ?? null,
    model: settings.model,
    camera: id,
    threshold,
    truth: settings.truth ?? null,
    statements: true,
    signal,
  });
