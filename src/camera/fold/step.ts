/**
 * One step of a sequence: from the state before a frame to the state after it. The evidence of a frame that equals the
 * last examined one except for noise follows from that (quiet-frame.ts); any other frame is examined (examine.ts).
 */
import { ScenedeltaError } from '../../base/errors.js';
import type { Preview } from '../../base/images.js';
import type { StoredFrame } from '../../frames/keep.js';
import type { HeatmapData } from '../../heatmaps/data.js';
import type { PairOutput } from '../../pipeline/pair.js';
import { emptyLike } from '../../pipeline/word-heatmaps.js';
import type { ChangeUpdate } from '../../schemas/change.js';
import type { TimingsMs } from '../../schemas/comparison.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import type { VectorOfChange } from '../../schemas/search-vector.js';
import { storeBlend } from '../baseline/background-baseline.js';
import { withBlend } from '../baseline/next.js';
import { rulesOf } from '../changes/rules.js';
import { comparePreviews, type PreviewComparison } from '../quiet/compare.js';
import { learnNoise } from '../quiet/noise.js';
import { gridOf } from '../quiet/preview.js';
import { countedCells } from '../settings/counted-cells.js';
import type { CameraState } from '../state/state.js';
import type { FrameEvidence, PreviewEvidence } from './evidence.js';
import { type Examination, examine, type FrameDependencies } from './examine.js';
import { type FoldContext, type FoldedFrame, foldFrame } from './fold.js';
import type { PreviewStore } from './previews.js';
import { foldQuiet } from './quiet-frame.js';

export interface StepInput extends Omit<FoldContext, 'points' | 'bundleThreshold' | 'rules'> {
  /** whether the frame may cause alerts; that of a recording may not */
  readonly alerting: boolean;
  readonly state: CameraState;
  /** PreviewEvidence.content */
  readonly content: string;
  /** the frame at reduced size; called at most once */
  readonly preview: () => Promise<Preview>;
  /** the frame itself; called only if it has to be examined, and then once */
  readonly frame: () => Promise<StoredFrame>;
  readonly signal: AbortSignal;
}

export interface StepDependencies extends FrameDependencies {
  readonly previews: PreviewStore;
}

export interface StepResult extends FoldedFrame {
  readonly evidence: FrameEvidence;
  readonly heatmaps: HeatmapData | null;
  readonly timings: Partial<TimingsMs>;
  /** null: there was nothing to compare with */
  readonly before: StoredFrameRef | null;
  /** the reference of the frame; null: it was quiet, so that `frame` was not called */
  readonly after: StoredFrameRef | null;
  /** of the rule of quiet frames, which holds up to 1; null: the previews were not compared */
  readonly score: number | null;
  /** computes the search vectors of the changes that the comparison opened or made more severe; null: there is none */
  readonly vectors: (() => Promise<VectorOfChange[]>) | null;
}

/**
 * @returns an answer with `nothing_new_since` for a quiet frame, and the state for the next step
 * @throws ScenedeltaError as the pipeline and the stores do
 */
export async function stepSequence(input: StepInput, deps: StepDependencies): Promise<StepResult> {
  const { camera, state } = input;
  const startedAt = performance.now();
  const look = camera.settings.examine_every_s > 0 ? await lookAt(input, deps) : null;
  const seen = seenBy(look, input);
  const points = deps.pipeline.operatingPoints(camera.settings.model);
  const rules = rulesOf(camera.id, camera.settings, input.alerting);
  const context: FoldContext = { ...input, points, rules, bundleThreshold: null };
  const quiet = look?.comparison?.quiet === true ? foldQuiet(state, seen, look.preview.source, context) : null;
  const passed = { quiet: performance.now() - startedAt - (look?.decodeMs ?? 0), decode: look?.decodeMs ?? 0 };

  const examined = quiet === null ? await examine({ ...input, frame: await input.frame() }, seen, context, deps) : null;
  const evidence = quiet?.evidence ?? (examined as Examination).evidence;
  const folded = quiet?.folded ?? foldFrame(state, evidence, context);
  if (evidence.frame !== null && look !== null) deps.previews.keep(evidence.frame, look.preview);
  const compared = examined?.compared ?? null;
  const timings = compared?.timings ?? {};
  const { decode = 0 } = timings;
  return {
    ...folded,
    state: examined === null ? folded.state : await blended(folded, examined, input, deps),
    evidence,
    heatmaps: matchWords(compared?.heatmaps ?? null, folded),
    timings: look === null ? timings : { ...timings, ...passed, decode: decode + passed.decode },
    before: evidence.baseline.before?.frame ?? null,
    after: evidence.frame,
    score: scoreOf(look),
    vectors: vectorsOf(compared, folded.changes),
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

function seenBy(look: Look | null, { state, content }: StepInput): PreviewEvidence {
  const tiles = look?.comparison?.tiles ?? null;
  const noise = tiles === null ? state.noise : learnNoise(state.noise ?? null, tiles);
  const identical = look?.comparison?.identical === true;
  return { content, identical, ...(noise === undefined ? {} : { noise }) };
}

function scoreOf(look: Look | null): number | null {
  const score = look?.comparison?.score ?? Number.POSITIVE_INFINITY;
  return Number.isFinite(score) ? score : null;
}

/** The state with the pixels of the blended background stored. */
async function blended(
  { state, blend }: FoldedFrame,
  { before, pixels }: Examination,
  { camera }: StepInput,
  deps: StepDependencies,
): Promise<CameraState> {
  if (blend === null || before === null || pixels === null) return state;
  return withBlend(state, blend, await storeBlend(blend, before, pixels, camera, deps));
}

const WITH_VECTOR: ReadonlySet<ChangeUpdate['event']> = new Set(['change.opened', 'change.escalated']);

/** Each change has a vector of its own place, because two things that change at once may have nothing in common. */
function vectorsOf(compared: PairOutput | null, updates: readonly ChangeUpdate[]): StepResult['vectors'] {
  const changes = updates.filter(({ event }) => WITH_VECTOR.has(event)).map(({ change }) => change);
  const bundle = compared?.finding.model?.sha256;
  const embed = compared?.embed;
  if (changes.length === 0 || bundle === undefined || embed === undefined) return null;
  return () =>
    Promise.all(
      changes.map(async ({ id, regions }) => ({ change: id, vector: { bundle, values: await embed(regions) } })),
    );
}

/** One heatmap per word; a word of another sentence than the comparison's has an empty one. */
export function matchWords(
  heatmaps: HeatmapData | null,
  { words: positions, finding }: Pick<FoldedFrame, 'words' | 'finding'>,
): HeatmapData | null {
  if (heatmaps === null) return null;
  const { before, after } = heatmaps.words;
  if (positions?.length === after.length) return heatmaps;
  const empty = emptyLike(heatmaps.after);
  const ofWords = (maps: typeof after) =>
    finding.words.map((_word, i) => (positions === null ? empty : (maps[positions[i] as number] ?? empty)));
  const matched = ofWords(after);
  return { ...heatmaps, words: { before: before === after ? matched : ofWords(before), after: matched } };
}
