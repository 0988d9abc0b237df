/**
 * The sentences that need no picture. One is chosen by its words on all pairs; where many are unchanged that is "nothing has
 * changed", which has no fact right. So a second one is chosen by its facts on the changed pairs: it stands for a captioner that knows
 * no more than that something changed, and is no bound, since no one sentence is the best at every fact. Both are chosen on the very set they are scored on.
 */
import { facts, trueKinds } from './facts.js';
import type { Pair } from './pairs.js';
import { CiderScorer } from './words/cider.js';
import { tokenize } from './words/tokenize.js';

/** The reference with the best mean CIDEr-D when said of every pair. */
export const bestByWords = (pairs: readonly Pair[]): string =>
  byCider(
    pairs,
    pairs.flatMap((pair) => pair.references),
  )[0] ?? '';

/** So many sentences, the best by CIDEr-D on the changed pairs, are judged by their facts: each takes all of these pairs. */
const JUDGED = 300;

export interface Constant {
  readonly caption: string;
  readonly kind: string;
}

/**
 * Of the references of the changed pairs and what a captioner said of them, the sentence whose noun, colour and place are right
 * most often there (the sum of the three rates; of equals the better by CIDEr-D), with the kind that is right most often.
 * @param sentences what the captioner said, one a pair
 * @returns null where nothing changed
 */
export function bestByFacts(pairs: readonly Pair[], sentences: readonly string[]): Constant | null {
  const changed = pairs.filter((pair) => pair.changed === true);
  const said = sentences.filter((_, i) => pairs[i]?.changed === true);
  const candidates = byCider(changed, [...changed.flatMap((pair) => pair.references), ...said]);
  let best: string | null = null;
  let most = -1;
  for (const caption of candidates.slice(0, JUDGED)) {
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
