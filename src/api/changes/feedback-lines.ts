/** Feedback on changes as lines of the manifest that `scenedelta evaluate` reads. */
import { SIDES, type Side } from '../../base/images.js';
import type { Change, ChangeRegion } from '../../schemas/change.js';
import type { Feedback } from '../../schemas/feedback.js';
import { framePath } from '../../secrets/links.js';
import { seesCamera, type Visibility } from '../../stores/redis/visibility.js';
import type { ApiDependencies } from '../dependencies.js';

const PAGE_SIZE = 100;

/** Reference caption of a pair that was reported in error. */
const NO_CHANGE = 'there is no change';

interface FeedbackLine {
  readonly id: string;
  /** path relative to the folder of the manifest, where the exporting command writes the frame */
  readonly before: string;
  readonly after: string;
  readonly references: readonly string[];
  readonly verdict: 'change' | 'none' | 'tamper';
  readonly kind?: string;
  readonly scene: string;
  /** caption by the service; readers of the manifest ignore unknown fields */
  readonly caption: string;
  /** about this change alone, while `verdict`, `kind` and `references` are about the pair */
  readonly judgement: Feedback['judgement'];
  /** the operator's sentence about this change */
  readonly sentence?: string;
  /** of this change in the pair */
  readonly regions: readonly Pick<ChangeRegion, 'side' | 'box'>[];
  /** id of the key that gave the judgement */
  readonly by?: string;
  /** paths of the API that serve the frames */
  readonly frames: Readonly<Record<Side, string>>;
}

/** The truth about a pair of frames, by those of its changes that were judged right. */
interface PairTruth {
  readonly references: readonly string[];
  readonly kinds: readonly Change['kind'][];
}

/** Names of zones are no words of the model, which the manifest is about. */
const captionOf = ({ model_caption, caption }: Change): string => model_caption ?? caption;

/**
 * @param changes with feedback
 * @returns the truth about each pair of which a change was judged right, by the id of its comparison
 */
function pairTruths(changes: Iterable<Change>, known: ReadonlyMap<string, PairTruth>): Map<string, PairTruth> {
  const truths = new Map(known);
  for (const change of changes) {
    if (change.feedback?.judgement !== 'correct') continue;
    const { best } = change.comparisons;
    const { references, kinds } = truths.get(best) ?? { references: [], kinds: [] };
    const reference = change.feedback.caption ?? captionOf(change);
    truths.set(best, { references: [...new Set([...references, reference])], kinds: [...kinds, change.kind] });
  }
  return truths;
}

/**
 * @param change with feedback
 * @param truth of its pair: a false alarm may lie beside a real change
 * @param extensions of the frames' files, e.g. { before: 'jpeg', after: 'png' }
 * @throws Error if it has no feedback
 */
function feedbackLine(
  change: Change,
  truth: PairTruth | undefined,
  extensions: Readonly<Record<Side, string>>,
): FeedbackLine {
  const { id, camera, feedback, regions } = change;
  if (feedback === null) throw new Error(`change ${id} has no feedback`);
  const comparison = change.comparisons.best;
  const paths = (of: (side: Side) => string) =>
    Object.fromEntries(SIDES.map((side) => [side, of(side)])) as Record<Side, string>;
  const { judgement, caption: sentence, by } = feedback;
  const common = {
    id,
    ...paths((side) => `frames/${comparison}-${side}.${extensions[side]}`),
    scene: camera,
    caption: captionOf(change),
    frames: paths((side) => framePath(comparison, side)),
    judgement,
    ...(sentence === undefined ? {} : { sentence }),
    regions: regions.map(({ side, box }) => ({ side, box })),
    ...(by === undefined ? {} : { by }),
  };
  if (truth === undefined) return { ...common, references: [sentence ?? NO_CHANGE], verdict: 'none' };
  const [kind] = truth.kinds;
  const single = kind !== undefined && truth.kinds.every((one) => one === kind);
  const verdict = truth.kinds.includes('tamper') ? 'tamper' : 'change';
  return { ...common, references: truth.references, verdict, ...(single ? { kind } : {}) };
}

/** 'image/jpeg' -> 'jpeg' */
const extensionOf = (contentType: string): string => /^image\/([a-z0-9]+)$/.exec(contentType)?.[1] ?? 'bin';

/** Yields the manifest line by line. */
export async function* feedbackLines(
  { changes, results }: Pick<ApiDependencies, 'changes' | 'results'>,
  visibility: Visibility,
): AsyncGenerator<string> {
  let truths: ReadonlyMap<string, PairTruth> = new Map();
  for await (const page of feedbackPages(changes)) truths = pairTruths(page, truths);
  for await (const page of feedbackPages(changes)) {
    for (const change of page) {
      if (!seesCamera(visibility, change.camera)) continue;
      const { before, after: then } = (await results.get(change.comparisons.best))?.frames ?? {};
      if (before == null || then == null) continue;
      const extensions = { before: extensionOf(before.contentType), after: extensionOf(then.contentType) };
      yield `${JSON.stringify(feedbackLine(change, truths.get(change.comparisons.best), extensions))}\n`;
    }
  }
}

async function* feedbackPages(changes: ApiDependencies['changes']): AsyncGenerator<Change[]> {
  for (let after = 0; ; after += PAGE_SIZE) {
    const { items, last } = await changes.withFeedback(after, PAGE_SIZE);
    yield items;
    if (last) return;
  }
}
