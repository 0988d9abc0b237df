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
}

export interface PriorFit {
  /** null: too few labels, too many that the pictures contradict, or no weight that differs from 1 */
  readonly priors: NamePriors | null;
  /** sentences whose noun is known to the bundle and not contradicted by the picture */
  readonly labels: number;
  /** sentences whose noun the picture excludes */
  readonly contradicted: number;
}

/** Number of imagined labels that are as the bundle expects. */
const SMOOTHING = 20;
const BOUNDS = [1 / 4, 4] as const;
/** A class that the bundle gives less than this is excluded by the picture. */
const LEAST_PROBABILITY = 0.05;
const MOST_CONTRADICTED = 0.5;
export const LEAST_LABELS = 20;

export function fitPriors(changes: readonly NamedChange[], { nouns, colours }: Names): PriorFit {
  const first = changes.flatMap((change) => {
    const [mention] = readCaption(change.sentence).mentions;
    return mention === undefined ? [] : [{ ...change, mention }];
  });
  const named = first.flatMap(({ mention, nouns: seen }) => labelOf(seen, (noun) => fits(mention, noun)));
  const contradicted = first.length - named.length;
  if (named.length < LEAST_LABELS || contradicted > MOST_CONTRADICTED * first.length) {
    return { priors: null, labels: named.length, contradicted };
  }
  const painted = first.flatMap(({ mention, colours: seen }) =>
    labelOf(seen, (colour) => mention.colours.includes(canonicalColour(colour) ?? colour)),
  );
  const priors = {
    nouns: weightsOf(named, nouns.slice(1)),
    colours: painted.length < LEAST_LABELS ? {} : weightsOf(painted, colours),
  };
  const any = Object.keys(priors.nouns).length + Object.keys(priors.colours).length > 0;
  return { priors: any ? priors : null, labels: named.length, contradicted };
}

interface Label {
  readonly expected: readonly Likely[];
  /** share of each class in the truth, sum 1 */
  readonly truth: ReadonlyMap<string, number>;
}

/** A wide noun such as "vehicle" is true of all its classes, in the shares that the bundle expects. */
function labelOf(seen: readonly Likely[], isTrue: (value: string) => boolean): Label[] {
  const fitting = seen.filter(({ value }) => isTrue(value));
  const total = fitting.reduce((sum, { probability }) => sum + probability, 0);
  if (total < LEAST_PROBABILITY) return [];
  const shares = fitting.map(({ value, probability }): [string, number] => [value, probability / total]);
  return [{ expected: seen, truth: new Map(shares) }];
}

/** The stated noun is the class, or a wider noun that is also true of it. */
const fits = (mention: Mention, noun: string): boolean => ['same', 'wider'].includes(nounFit(mention.noun, noun));

/** The weights that differ from 1 by more than a twentieth. */
function weightsOf(labels: readonly Label[], classes: readonly string[]): Record<string, number> {
  const sum = (value: (label: Label) => number) => labels.reduce((total, label) => total + value(label), 0);
  const weights = classes.map((name): [string, number] => {
    const expected = sum((label) => label.expected.find(({ value }) => value === name)?.probability ?? 0);
    const stated = sum((label) => label.truth.get(name) ?? 0);
    const imagined = (SMOOTHING * Math.max(expected, 1)) / labels.length;
    const ratio = (stated + imagined) / (expected + imagined);
    return [name, Number(Math.min(Math.max(ratio, BOUNDS[0]), BOUNDS[1]).toFixed(3))];
  });
  return Object.fromEntries(weights.filter(([, weight]) => Math.abs(weight - 1) > 0.05));
}
