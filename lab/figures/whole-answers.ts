/** Whole answers, as an operator reads them: is all of it true, is the main thing in it, does it name anything? */
import type { CaptionFacts, Direction, Mention } from '../../src/language/people/captions.js';
import type { TrueObject } from './pairs.js';

/** A thing whose box is at least this share of the largest one is a main thing too. */
const MAIN = 1 / 2;
/** A clause about things beside the named ones. */
const OTHERS = /\b(?:others have|another has) (appeared|left|gone|moved)\b/;
const KIND_OF_OTHERS: Readonly<Record<string, string>> = {
  appeared: 'appear',
  left: 'disappear',
  gone: 'disappear',
  moved: 'move',
};
const KIND_OF: Readonly<Record<Direction, string>> = {
  appear: 'appear',
  disappear: 'disappear',
  move: 'move',
  alter: 'replace',
};

/**
 * @param kind of the answer; null: it has none
 * @returns whether the kind is that of the statements; null without a kind or a statement
 */
export function agreesWithKind(caption: string, kind: string | null, { mentions, replaces }: CaptionFacts) {
  if (kind === null || mentions.length === 0) return null;
  if (replaces) return kind === 'replace' || kind === 'multi';
  const others = KIND_OF_OTHERS[OTHERS.exec(caption)?.[1] ?? ''];
  const stated = new Set([
    ...mentions.map(({ direction }) => KIND_OF[direction]),
    ...(others === undefined ? [] : [others]),
  ]);
  if (stated.size > 1) return kind === 'multi';
  return stated.has(kind);
}

/**
 * @param objects the true things
 * @param named per thing
 */
export function namesMainThing(objects: readonly TrueObject[], named: readonly boolean[]): boolean {
  const areas = objects.map(({ boxes }) => largestArea([...boxes.before, ...boxes.after]));
  const least = MAIN * Math.max(0, ...areas);
  return named.some((isNamed, i) => isNamed && (areas[i] as number) >= least);
}

const largestArea = (boxes: TrueObject['boxes']['before']): number =>
  Math.max(0, ...boxes.map(({ width, height }) => width * height));

/** No thing of the sentence has a name: "something has moved", "an object has appeared". */
export const namesNothing = (mentions: readonly Mention[]): boolean => mentions.every(({ noun }) => noun === 'object');
