/**
 * Beings: a person or an animal that each frame shows once. It moved, at whatever size and posture, even where the
 * caption graph writes of one that came and one that left (training/journal/levels.md).
 */
import type { Side } from '../base/images.js';
import { softmax } from '../base/logistic.js';
import { unnamedStatement } from '../language/plain.js';
import { writeWords } from '../language/write.js';
import type { CaptionOutput, PairNames } from '../model/graph-io.js';
import type { Names } from '../model/naming.js';
import type { MapRegion } from '../model/regions.js';
import { cosine } from './clause-probability.js';
import type { Being, LocationCrop, LocationStatement } from './location-statement.js';
import { meanAttention, uniformWords } from './scored-words.js';
import { classesOf } from './separate-things.js';

/** Vehicles are none: they drive through the view, so that one more is mostly another one. */
const CLASSES = ['person', 'animal'] as const;
/** From this probability on, a crop shows a being (set, not fitted, as in separate-things.ts). */
const LEAST = 0.5;
/**
 * From this cosine of the colours on, two pictures may show one being; set on cameras of tier A
 * (training/journal/levels.md).
 */
const ALIKE = 0.5;

/** @param shown names of all crops, in their order */
export const beingsOf = (
  crops: readonly Pick<LocationCrop, 'regions'>[],
  shown: readonly PairNames[],
  names: Names,
): Being[] => CLASSES.flatMap((word) => beingOf(word, crops, shown, names) ?? []);

/** The crops that show one of a class in a frame. */
interface Showing {
  readonly surely: readonly number[];
  /** whatever is there, it is one rather than anything else */
  readonly likely: readonly number[];
}

/** The only one of its class in each frame, if the colours of both are alike. */
function beingOf(
  word: Being['word'],
  crops: readonly Pick<LocationCrop, 'regions'>[],
  shown: readonly PairNames[],
  names: Names,
): Being | undefined {
  const showing = (side: Side): Showing => {
    const seen = [...crops.keys()]
      .filter((i) => crops[i]?.regions.some((region) => region.side === side))
      .map((i) => ({ i, ...classesOf((shown[i] as PairNames)[side], names) }))
      .filter(({ shares }) => (shares.get(word) ?? 0) >= LEAST);
    const sure = seen.filter(({ nothing, shares }) => (1 - nothing) * (shares.get(word) ?? 0) >= LEAST);
    return { surely: sure.map(({ i }) => i), likely: seen.map(({ i }) => i) };
  };
  const [from, to] = [showing('before'), showing('after')];
  const [before, after] = [onlyOne(from, to), onlyOne(to, from)];
  if (before === undefined || after === undefined) return undefined;
  const [left, came] = [(shown[before] as PairNames).before, (shown[after] as PairNames).after];
  return cosine(softmax(left.colours), softmax(came.colours)) >= ALIKE ? { word, before, after } : undefined;
}

/** A person who lies or bends looks like nothing to the namer, and may be the one that the other frame surely shows. */
function onlyOne({ surely, likely }: Showing, other: Showing): number | undefined {
  const [one, ...more] = surely.length === 0 && other.surely.length === 1 ? likely : surely;
  return more.length === 0 ? one : undefined;
}

/**
 * Puts the move of a being in place of what the caption graph wrote about its crops; a move of these crops keeps the
 * graph's words. A crop that is the end of another move stays that.
 * @param statements one per crop, at the stronger crop of a move; is changed
 * @param outputOf the run of the caption graph on a crop alone
 */
export function stateMove<C extends LocationCrop>(
  { word, before, after }: Being,
  statements: (LocationStatement | undefined)[],
  crops: readonly C[],
  outputOf: (crop: number) => CaptionOutput,
): void {
  const at = before === after ? [after] : [before, after];
  const first = Math.min(...at);
  const stated = statements[first];
  if (stated?.statement.kind === 'move' && at.every((i) => stated.at.includes(i))) {
    statements[first] = { ...stated, recognised: word };
    return;
  }
  if (statements.some((one) => (one?.at.length ?? 0) > 1 && at.some((i) => one?.at.includes(i)))) return;
  for (const i of at) statements[i] = undefined;
  const regions = [regionOf(crops[before] as C, 'before'), regionOf(crops[after] as C, 'after')];
  statements[first] = { ...plainMove(outputOf(after), crops[after] as C, at, regions), recognised: word };
}

const regionOf = ({ regions }: LocationCrop, side: Side): MapRegion =>
  regions.find((region) => region.side === side) as MapRegion;

function plainMove(
  { attention, kindLogits }: CaptionOutput,
  { crop }: LocationCrop,
  at: readonly number[],
  regions: readonly MapRegion[],
): LocationStatement {
  const statement = unnamedStatement('move', (regions.at(-1) as MapRegion).box);
  const score = Math.min(...regions.map((region) => region.score));
  const words = uniformWords(writeWords(statement), score, meanAttention(attention, [crop]));
  return { at, facts: [], statement, regions, decoded: [], kindLogits, words, probability: score };
}
