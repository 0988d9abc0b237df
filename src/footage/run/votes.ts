/**
 * Sentences of a change, weighed over all frames that saw it: each examined frame votes with the statements of the
 * model about the change's location. A live camera has to word its alert at the confirmation; a recording need not.
 */
import { overlap } from '../../base/images.js';
import { regionsOfKind } from '../../camera/changes/captions.js';
import { toChangeRegion } from '../../camera/changes/observation.js';
import type { Track } from '../../camera/changes/state.js';
import type { ChangeRegion, FoundChange } from '../../schemas/change.js';
import type { Finding } from '../../schemas/comparison.js';

interface Vote {
  readonly kind: string;
  readonly text: string;
  /** sum of the confidences of the comparisons that stated it */
  readonly weight: number;
  /** the most confident one of them */
  readonly best: {
    readonly comparison: string;
    readonly confidence: number;
    /** of the statement, on the sides that show its kind */
    readonly regions: readonly ChangeRegion[];
  };
}

/** By the id of the track, which is the id of its change. */
export type Votes = Readonly<Record<string, readonly Vote[]>>;

/** A statement is about a track if this share of the smaller box lies in the other one. */
const MIN_SHARED = 0.5;

type Regions = readonly { readonly side: string; readonly box: Finding['regions'][number]['box'] }[];

/**
 * @param finding of the frame; null: it was not examined
 * @returns the votes of the tracks that go on, with those of one more comparison
 */
export function castVotes(votes: Votes, tracks: readonly Track[], finding: Finding | null, comparison: string): Votes {
  const next: Record<string, readonly Vote[]> = {};
  for (const { id, stage, regions } of tracks) {
    if (stage === 'ended') continue;
    const stated = finding === null ? [] : statementsAbout(regions, finding);
    const confidence = finding?.confidence ?? 0;
    next[id] = stated.reduce(
      (all, { kind, text, regions: about }) => add(all, kind, text, { comparison, confidence, regions: about }),
      votes[id] ?? [],
    );
  }
  return next;
}

function statementsAbout(regions: Regions, { statements = [], regions: all }: Finding) {
  return statements.flatMap(({ kind, text, regions: ids }) => {
    const about = all.filter(({ id }) => ids.includes(id));
    const isAbout = about.some((a) => regions.some((b) => a.side === b.side && overlap(a.box, b.box) >= MIN_SHARED));
    return isAbout ? [{ kind, text, regions: regionsOfKind(kind, about.map(toChangeRegion)) }] : [];
  });
}

function add(votes: readonly Vote[], kind: string, text: string, sighting: Vote['best']): readonly Vote[] {
  const earlier = votes.find((vote) => vote.kind === kind && vote.text === text);
  const weight = (earlier?.weight ?? 0) + sighting.confidence;
  const best = earlier !== undefined && earlier.best.confidence >= sighting.confidence ? earlier.best : sighting;
  const others = votes.filter((vote) => vote !== earlier);
  return [...others, { kind, text, weight, best }];
}

/**
 * @returns the change as the most confident comparison with the sentence of most weight shows it, of sentences of its
 *   kind; the change itself if there is none, and if it is an object left or removed, whose sentence states more
 */
export function withBestSentence(change: FoundChange, votes: readonly Vote[] = []): FoundChange {
  const ofKind = votes.filter(({ kind }) => kind === change.kind);
  const [first, ...others] = ofKind;
  if (first === undefined || change.object !== undefined) return change;
  const chosen = others.reduce((best, vote) => (vote.weight > best.weight ? vote : best), first);
  const { comparison, confidence, regions } = chosen.best;
  const comparisons = { ...change.comparisons, best: comparison };
  return { ...change, caption: chosen.text, confidence, regions: [...regions], comparisons };
}
