/**
 * The constant baselines: sentences that need no frame. One is chosen by its words on all pairs; if many pairs are
 * unchanged, that is "nothing has changed", of which no fact is right. A second one is chosen by its facts on the
 * changed pairs. It stands for a captioner that knows only that something changed, and is no upper bound: no single
 * sentence is the best in every fact. Both are chosen on the set that they are scored on.
 */
import { facts, trueKinds } from './facts.js';
import type { Pair } from './pairs.js';
import { CiderScorer } from './words/cider.js';
import { tokenize } from './words/tokenize.js';

/** The reference with the best mean CIDEr-D as the caption of every pair. */
export const bestByWords = (pairs: readonly Pair[]): string =>
  byCider(
    pairs,
    pairs.flatMap((pair) => pair.references),
  )[0] ?? '';

/** The number of sentences, the best by CIDEr-D on the changed pairs, whose facts are scored. */
const SCORED = 300;

/**
 * The one of the references and predicted captions of the changed pairs with the greatest sum of the rates of
 * noun, colour and place there (of equals the better by CIDEr-D), with the kind that is right most often.
 * @param sentences the predicted captions, one per pair
 * @returns null if no pair changed
 */
export function bestByFacts(
  pairs: readonly Pair[],
  sentences: readonly string[],
): { readonly caption: string; readonly kind: string } | null {
  const changed = pairs.filter((pair) => pair.changed === true);
  const predicted = sentences.filter((_, i) => pairs[i]?.changed === true);
  const candidates = byCider(changed, [...changed.flatMap((pair) => pair.references), ...predicted]);
  let best: string | null = null;
  let most = -1;
  for (const caption of candidates.slice(0, SCORED)) {
    const { noun, colour, place } = facts(
      changed,
      changed.map(() => ({ caption, kind: null })),
    );
    const right = (noun.rate ?? 0) + (colour.rate ?? 0) + (place.rate ?? 0);
    if (right > most) [best, most] = [caption, right];
  }
  return best === null ? null : { caption: best, kind: commonest(changed.flatMap(trueKinds)) };
}

/** Each sentence once, the best mean CIDEr-D over the pairs first. */
function byCider(pairs: readonly Pair[], sentences: readonly string[]): string[] {
  const scorer = new CiderScorer(pairs.map((pair) => pair.references.map(tokenize)));
  const distinct = new Map(sentences.map((sentence) => [tokenize(sentence).join(' '), sentence]));
  return [...distinct]
    .map(([words, sentence]) => ({
      sentence,
      score: pairs.reduce((sum, _, i) => sum + scorer.score(words.split(' '), i), 0),
    }))
    .sort((a, b) => b.score - a.score)
    .map(({ sentence }) => sentence);
}

function commonest(kinds: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 'none';
}
