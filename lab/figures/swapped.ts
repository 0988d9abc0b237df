/**
 * Answers to a pair and to the same pair with its frames swapped: what appeared in one direction disappeared in the
 * other, and the things have the same names in both.
 */
import { type Mention, readCaption } from '../../src/language/people/captions.js';
import { nounFit } from '../../src/language/people/nouns.js';
import { reversedKind } from '../../src/schemas/kinds.js';
import type { Pair } from './pairs.js';
import type { Prediction } from './predictions.js';
import { type Proportion, proportionOf } from './statistics.js';

/** Over the changed pairs; all but `answered` over those that both directions answer with a change. */
export interface SwappedFigures {
  /** both directions are answered with a change */
  readonly answered: Proportion;
  /** appear and disappear exchange; move, replace and multi stay */
  readonly kindReversed: Proportion;
  /** the sets of nouns are equal; plurals and synonyms count as the noun */
  readonly sameNouns: Proportion;
  /** every noun has the same, a wider or a narrower one in the other sentence */
  readonly alikeNouns: Proportion;
}

type Answer = Pick<Prediction, 'verdict' | 'kind' | 'caption'>;

/**
 * @param answers one per pair
 * @param swapped answers to the pairs with swapped frames, in the same order
 */
export function swappedFigures(
  pairs: readonly Pair[],
  answers: readonly Answer[],
  swapped: readonly Answer[],
): SwappedFigures {
  const changed = pairs.flatMap((pair, i): [Answer, Answer][] => {
    const [forth, back] = [answers[i], swapped[i]];
    return pair.changed === true && forth !== undefined && back !== undefined ? [[forth, back]] : [];
  });
  const isAnswered = ([forth, back]: readonly [Answer, Answer]) =>
    forth.verdict === 'change' && back.verdict === 'change';
  const answered = changed.filter(isAnswered);
  const nouns = answered.map(([forth, back]): [string[], string[]] => [nounsOf(forth), nounsOf(back)]);
  return {
    answered: proportionOf(changed.map(isAnswered)),
    kindReversed: proportionOf(answered.map(([forth, back]) => reversedKind(forth.kind) === back.kind)),
    sameNouns: proportionOf(nouns.map(([a, b]) => isCovered(a, b, isSame) && isCovered(b, a, isSame))),
    alikeNouns: proportionOf(nouns.map(([a, b]) => isCovered(a, b, isAlike) && isCovered(b, a, isAlike))),
  };
}

const nounsOf = ({ caption }: Answer): string[] => readCaption(caption).mentions.map(({ noun }: Mention) => noun);

const isCovered = (
  nouns: readonly string[],
  others: readonly string[],
  fits: (noun: string, other: string) => boolean,
): boolean => nouns.every((noun) => others.some((other) => fits(noun, other)));

const isSame = (noun: string, other: string): boolean => nounFit(noun, other) === 'same';

const isAlike = (noun: string, other: string): boolean =>
  [nounFit(noun, other), nounFit(other, noun)].some((fit) => fit === 'same' || fit === 'wider');
