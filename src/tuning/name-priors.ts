/**
 * Weights of nouns and colours by feedback: the frequency with which operators use a class, over the frequency that the
 * bundle expects, as in the prior shift of Saerens et al. (2002), smoothed and bounded.
 */
import { type Mention, readCaption } from '../language/people/captions.js';
import { canonicalColour } from '../language/people/colours.js';
import { nounFit } from '../language/people/nouns.js';
import type { Likely, Names } from '../model/naming.js';

export interface NamePriors {
  /** factor of the probability of a class; absent = 1 */
  readonly nouns: Readonly<Record<string, number>>;
  readonly colours: Readonly<Record<string, number>>;
}

/** The names that the service gave, and the true sentence. */
export interface NamedChange {
  /** of the thing that the sentence names first, the most probable first */
  readonly nouns: readonly Likely[];
  readonly colours: readonly Likely[];
  /** the operator's sentence, or the service's own if it was judged right */
  readonly sentence: string;
  /** key or camera that the judgement came from */
  readonly source: string;
}

export interface PriorFit {
  /** null: too few labels, too many that the pictures contradict, or no weight that differs from 1 */
  readonly priors: NamePriors | null;
  /** sentences whose noun is known to the bundle and not contradicted by the picture */
  readonly labels: number;
  /** sentences whose noun the picture excludes */
  readonly contradicted: number;
  /** classes whose weight would be further from 1 if one source might move it more than SOURCE_BOUND */
  readonly bounded: readonly string[];
}

/** Number of imagined labels that are as the bundle expects. */
const SMOOTHING = 20;
const BOUNDS = [1 / 4, 4] as const;
/** The factor by which the feedback of one source may move a weight: a person, or a client, can be wrong in a row. */
const SOURCE_BOUND = 2;
/** A class that the bundle gives less than this is excluded by the picture. */
const LEAST_PROBABILITY = 0.05;
const MOST_CONTRADICTED = 0.5;
export const LEAST_LABELS = 20;

export function fitPriors(changes: readonly NamedChange[], { nouns, colours }: Names): PriorFit {
  const first = changes.flatMap((change) => {
    const [mention] = readCaption(change.sentence).mentions;
    return mention === undefined ? [] : [{ ...change, mention }];
  });
  const named = first.flatMap(({ mention, nouns: seen, source }) =>
    labelOf(seen, source, (noun) => fits(mention, noun)),
  );
  const contradicted = first.length - named.length;
  if (named.length < LEAST_LABELS || contradicted > MOST_CONTRADICTED * first.length) {
    return { priors: null, labels: named.length, contradicted, bounded: [] };
  }
  const painted = first.flatMap(({ mention, colours: seen, source }) =>
    labelOf(seen, source, (colour) => mention.colours.includes(canonicalColour(colour) ?? colour)),
  );
  const ofNouns = weightsOf(named, nouns.slice(1));
  const ofColours = weightsOf(painted.length < LEAST_LABELS ? [] : painted, colours);
  const priors = { nouns: ofNouns.weights, colours: ofColours.weights };
  const any = Object.keys(priors.nouns).length + Object.keys(priors.colours).length > 0;
  const bounded = [...ofNouns.bounded, ...ofColours.bounded];
  return { priors: any ? priors : null, labels: named.length, contradicted, bounded };
}

interface Label {
  readonly source: string;
  readonly expected: readonly Likely[];
  /** share of each class in the truth, sum 1 */
  readonly truth: ReadonlyMap<string, number>;
}

/** A wide noun such as "vehicle" is true of all its classes, in the shares that the bundle expects. */
function labelOf(seen: readonly Likely[], source: string, isTrue: (value: string) => boolean): Label[] {
  const fitting = seen.filter(({ value }) => isTrue(value));
  const total = fitting.reduce((sum, { probability }) => sum + probability, 0);
  if (total < LEAST_PROBABILITY) return [];
  const shares = fitting.map(({ value, probability }): [string, number] => [value, probability / total]);
  return [{ source, expected: seen, truth: new Map(shares) }];
}

/** The stated noun is the class, or a wider noun that is also true of it. */
const fits = (mention: Mention, noun: string): boolean => ['same', 'wider'].includes(nounFit(mention.noun, noun));

/** Sums over labels about one class: how many there are, how often it is expected, and how often it is true. */
interface Sums {
  readonly labels: number;
  readonly expected: number;
  readonly stated: number;
}
const NO_SUMS: Sums = { labels: 0, expected: 0, stated: 0 };

/** The weights that differ from 1 by more than a twentieth, and those of them that SOURCE_BOUND limits. */
function weightsOf(labels: readonly Label[], classes: readonly string[]) {
  const weights: Record<string, number> = {};
  const bounded: string[] = [];
  for (const name of classes) {
    const bySource = sumsBySource(labels, name);
    const all = [...bySource.values()].reduce(plus, NO_SUMS);
    const free = ratioOf(all);
    // The weight without a source, from which that source may move it.
    const others = [...bySource.values()].map((bySourceSums) => ratioOf(minus(all, bySourceSums)));
    const allowed = [Math.max(...others) / SOURCE_BOUND, SOURCE_BOUND * Math.min(...others)] as const;
    const weight = clamp(clamp(free, allowed), BOUNDS);
    if (Math.abs(weight - 1) <= 0.05) continue;
    weights[name] = Number(weight.toFixed(3));
    if (weight !== clamp(free, BOUNDS)) bounded.push(name);
  }
  return { weights, bounded };
}

const clamp = (value: number, [least, most]: readonly [number, number]): number =>
  Math.min(Math.max(value, least), most);

function sumsBySource(labels: readonly Label[], name: string): Map<string, Sums> {
  const sums = new Map<string, Sums>();
  for (const { source, expected, truth } of labels) {
    const probability = expected.find(({ value }) => value === name)?.probability ?? 0;
    const given = { labels: 1, expected: probability, stated: truth.get(name) ?? 0 };
    sums.set(source, plus(sums.get(source) ?? NO_SUMS, given));
  }
  return sums;
}

function plus(a: Sums, b: Sums): Sums {
  return { labels: a.labels + b.labels, expected: a.expected + b.expected, stated: a.stated + b.stated };
}
function minus(a: Sums, b: Sums): Sums {
  return { labels: a.labels - b.labels, expected: a.expected - b.expected, stated: a.stated - b.stated };
}

/** Smoothed by imagined labels that are as the bundle expects; 1 without labels. */
function ratioOf({ labels, expected, stated }: Sums): number {
  if (labels === 0) return 1;
  const imagined = (SMOOTHING * Math.max(expected, 1)) / labels;
  return (stated + imagined) / (expected + imagined);
}
