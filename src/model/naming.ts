/**
 * Names of what a region crop shows: the most specific noun and colour whose calibrated probability reaches a level.
 * The crop of one frame decides, whether the thing came or went, and the decoder's own words weigh in if the manifest
 * says how.
 */
import { softmax } from '../base/logistic.js';
import type { CropNames } from './graph-io.js';
import type { BundleManifest } from './manifest.js';

export type Names = NonNullable<BundleManifest['names']>;

/** A word, and the probability that it is true, 0..1. */
export interface Likely {
  readonly value: string;
  readonly probability: number;
}

/** The widest noun. */
const SOMETHING = 'something';
type Probabilities = ReadonlyMap<string, number>;

export interface ThingNames {
  readonly nouns: Probabilities;
  readonly colours: Probabilities;
  /** probability that the crop shows no thing, 0..1 */
  readonly nothing: number;
}

/** Words of the decoder for the thing: a second witness. The noun is in the singular. */
export interface Decoded {
  readonly noun: string;
  readonly colour: string | null;
}

/**
 * @param shown the crops that show the thing, at least one
 * @param decoded one per clause about the thing; none = the crops alone
 */
export function thingNames(shown: readonly CropNames[], names: Names, decoded: readonly Decoded[] = []): ThingNames {
  const mean = (key: keyof CropNames): number[] => {
    const rows = shown.map((one) => softmax(one[key]));
    return (rows[0] ?? []).map((_, i) => rows.reduce((sum, row) => sum + (row[i] as number), 0) / rows.length);
  };
  const [nothing = 0, ...things] = mean('nouns');
  const nouns = toProbabilities(names.nouns.slice(1), things);
  const colours = toProbabilities(names.colours, mean('colours'));
  const { decoder } = names;
  if (decoder === undefined || decoded.length === 0) return { nothing, nouns, colours };
  const supports = decoded.map(({ noun }) => supportOf(noun, names));
  const meanOf = (of: (i: number) => number) => decoded.reduce((sum, _, i) => sum + of(i), 0) / decoded.length;
  return {
    nothing,
    nouns: reweigh(
      nouns,
      decoder.flatten,
      (noun) =>
        (1 + decoder.noun * meanOf((i) => supports[i]?.nearest.get(noun) ?? 0)) *
        (1 + decoder.class * meanOf((i) => (supports[i]?.alike.has(noun) ? 1 : 0))),
    ),
    colours: reweigh(
      colours,
      decoder.colour_flatten,
      (colour) => 1 + decoder.colour * meanOf((i) => (decoded[i]?.colour === colour ? 1 : 0)),
    ),
  };
}

/**
 * @param truth share of the stated nouns that must be true, 0..1
 * @returns the most specific noun that is probable enough, or "something"
 */
export function likelyNoun(thing: ThingNames, { wider, levels }: Names, truth: number): Likely {
  const levelOf = (word: string): number => {
    const above = widerWords(word, wider)
      .slice(1)
      .find((one) => levels?.below?.[one] !== undefined);
    return levelAt(truth, above === undefined ? levels?.nouns : levels?.below?.[above]);
  };
  return mostSpecific(thing.nouns, wider, levelOf) ?? { value: SOMETHING, probability: 1 };
}

/** Least probability of a noun or colour that is listed beside the stated one. */
const LEAST_LISTED = 0.05;

/** @returns the nouns, or the colours, of at least LEAST_LISTED, the most probable first */
export const listed = (probabilities: ThingNames['nouns']): Likely[] =>
  [...probabilities]
    .map(([value, probability]) => ({ value, probability }))
    .filter(({ probability }) => probability >= LEAST_LISTED)
    .sort((a, b) => b.probability - a.probability);

/** The widest nouns below "something". */
const CLASSES = ['person', 'vehicle', 'animal', 'object'] as const;

/** The class of a thing, and its probability, 0..1 */
export interface LikelyClass extends Likely {
  readonly value: (typeof CLASSES)[number];
}

/** @returns the probability of each class, the sum of its nouns'; a noun without a wider one is its own class */
function classShares({ nouns }: ThingNames, { wider }: Names): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  for (const [noun, probability] of nouns) {
    const word = widestWord(noun, wider);
    shares.set(word, (shares.get(word) ?? 0) + probability);
  }
  return shares;
}

/** @returns the probability that a picture shows no thing, and those of the classes and the colours of a thing */
export function classesOf(shown: CropNames, names: Names) {
  const thing = thingNames([shown], names);
  return { nothing: thing.nothing, shares: classShares(thing, names), colours: thing.colours };
}

/** @returns the class whose nouns are together the most probable; null if no noun has one */
export function likelyClass(thing: ThingNames, names: Names): LikelyClass | null {
  const shares = classShares(thing, names);
  const sums = CLASSES.map((value) => ({ value, probability: shares.get(value) ?? 0 }));
  const best = sums.reduce((a, b) => (b.probability > a.probability ? b : a));
  return best.probability > 0 ? { ...best, probability: Math.min(1, best.probability) } : null;
}

/** @returns null if no colour is probable enough */
export const likelyColour = (
  thing: ThingNames,
  { wider_colours: wider = {}, levels }: Names,
  truth: number,
): Likely | null => mostSpecific(thing.colours, wider, () => levelAt(truth, levels?.colours));

/**
 * The probability that a word must reach so that the share `truth` of all stated words is true: most of them are more
 * probable than the least probable one.
 * @param table pairs of share and probability, ascending; absent = the probability is the share
 */
function levelAt(truth: number, table: readonly (readonly [number, number])[] = []): number {
  const above = table.findIndex(([share]) => share >= truth);
  const [right, level] = table[above] ?? [truth, truth];
  const [left, lower] = table[above - 1] ?? [right, level];
  return right === left ? level : lower + ((truth - left) / (right - left)) * (level - lower);
}

/**
 * Support by a noun of the decoder: the classes that it is or is wider than, else those of its next wider noun, in
 * equal shares of 1; and all classes of its hypernym.
 */
function supportOf(noun: string, { nouns, wider }: Names) {
  const things = nouns.slice(1);
  const paths = new Map(things.map((word) => [word, widerWords(word, wider)]));
  const below = (word: string) => things.filter((thing) => paths.get(thing)?.includes(word));
  const steps = widerWords(noun, wider).filter((word) => word !== SOMETHING);
  const nearest = steps.map(below).find((found) => found.length > 0) ?? [];
  const hypernym = steps.at(-1);
  return {
    nearest: new Map(nearest.map((word) => [word, 1 / nearest.length])),
    alike: new Set(hypernym === undefined ? [] : below(hypernym)),
  };
}

const toProbabilities = (words: readonly string[], values: readonly number[]): Probabilities =>
  normalised(new Map(words.map((word, i) => [word, values[i] as number])));

const reweigh = (probabilities: Probabilities, flatten: number, weight: (word: string) => number): Probabilities =>
  normalised(new Map([...probabilities].map(([word, p]) => [word, p ** flatten * weight(word)])));

function normalised(values: Probabilities): Probabilities {
  const total = Math.max(
    Number.EPSILON,
    [...values.values()].reduce((sum, value) => sum + value, 0),
  );
  return new Map([...values].map(([word, value]) => [word, value / total]));
}

/** The word and its wider words, the nearest first. */
function widerWords(word: string, wider: Readonly<Record<string, string>>): string[] {
  const words = [word];
  for (let next = wider[word]; next !== undefined && !words.includes(next); next = wider[next]) words.push(next);
  return words;
}

/** The last of the wider words below "something": the class of a noun. */
export const widestWord = (word: string, wider: Readonly<Record<string, string>>): string =>
  widerWords(word, wider)
    .filter((one) => one !== SOMETHING)
    .at(-1) ?? word;

/**
 * The word of the fewest classes whose probability reaches its level; among equals the most probable. The probability
 * of a word is the sum of its own and of all words below it.
 */
function mostSpecific(
  probabilities: Probabilities,
  wider: Readonly<Record<string, string>>,
  levelOf: (word: string) => number,
): Likely | null {
  const sums = new Map<string, { probability: number; classes: number }>();
  for (const [word, probability] of probabilities) {
    for (const above of widerWords(word, wider)) {
      const sum = sums.get(above) ?? { probability: 0, classes: 0 };
      sums.set(above, { probability: sum.probability + probability, classes: sum.classes + 1 });
    }
  }
  const [best] = [...sums]
    .filter(([word, { probability }]) => probability >= levelOf(word))
    .sort(([, a], [, b]) => a.classes - b.classes || b.probability - a.probability);
  return best === undefined ? null : { value: best[0], probability: Math.min(1, best[1].probability) };
}
