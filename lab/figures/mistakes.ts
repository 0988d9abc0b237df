/**
 * Kinds of mistake of one answer, for the counts and pictures of docs/model-card.md. README.md defines them. The
 * truth is the labels of the pair; a label that is absent makes no mistake.
 */
import { type CaptionFacts, readCaption } from '../../src/language/people/captions.js';
import { assess, capacityOfObject, isNumberTrue, names, type Statement } from './facts.js';
import type { Pair } from './pairs.js';

export const MISTAKES = [
  'tamper',
  'missed',
  'false-alarm',
  'wrong-kind',
  'wrong-noun',
  'no-noun',
  'wrong-colour',
  'wrong-place',
  'wrong-count',
  'false-clause',
  'left-out',
] as const;
export type Mistake = (typeof MISTAKES)[number];

/** @returns the mistakes in the order of MISTAKES; none if the pair has no label of a change */
export function mistakesOf(pair: Pair, verdict: string, statement: Statement): Mistake[] {
  if (pair.changed === null) return [];
  if (verdict === 'tamper') return pair.verdict === 'tamper' ? [] : ['tamper'];
  if ((verdict === 'change') !== pair.changed) return [pair.changed ? 'missed' : 'false-alarm'];
  if (!pair.changed) return [];
  const read = readCaption(statement.caption);
  const judged = assess(pair, statement, read);
  const first = read.mentions[0];
  const withheld = first === undefined || first.noun === 'object';
  const found: Record<Mistake, boolean> = {
    tamper: false,
    missed: false,
    'false-alarm': false,
    'wrong-kind': judged.kind === false,
    'wrong-noun': judged.noun === false && !withheld,
    'no-noun': judged.noun === false && withheld,
    'wrong-colour': judged.colourStated && judged.noun === true && judged.colour === false,
    'wrong-place': judged.placeStated && judged.noun === true && judged.place === false,
    'wrong-count': judged.noun === true && isCountWrong(pair, read),
    'false-clause': judged.clauses.slice(1).some((right) => !right),
    'left-out': judged.noun === true && judged.named.some((named) => !named),
  };
  return MISTAKES.filter((mistake) => found[mistake]);
}

/**
 * A single mention stands for things of which each is several, or a plural that comes first for one thing alone.
 * Numbers above one are not compared.
 */
function isCountWrong({ objects }: Pair, { mentions }: CaptionFacts): boolean {
  const [first] = mentions;
  if (first === undefined) return false;
  const meant = objects.filter((object) => names(first, object));
  if (meant.length === 0) return false;
  const numbers = meant.map(capacityOfObject);
  if (first.plural) return !isNumberTrue(first, meant);
  const alone = mentions.filter((mention) => meant.some((object) => names(mention, object))).length === 1;
  return alone && numbers.every((number) => number > 1);
}
