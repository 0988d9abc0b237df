/**
 * Sentence and kind of a change. The sentence is composed of the statements of its locations; without any, it is what
 * the caption graph writes about all of them, without the clauses that contradict the kind, or a plain sentence.
 */
import { boxDistance } from '../images.js';
import type { Prediction } from '../model/calibration.js';
import { filterClausesByKind } from '../model/clauses.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { BundleManifest } from '../model/manifest.js';
import { levelAt, SOMETHING } from '../model/naming.js';
import type { MapRegion } from '../model/regions.js';
import { joinSentences, type Sentence, toClause, toSentence, uniformScores, withWords } from '../model/tokenizer.js';
import { deniesChange, plainSentence } from '../model/wording.js';
import { groupAlike, type ToldClause, tellGroup, withComma } from './merge-clauses.js';
import type { Description, LocationStatement, WordAttention } from './statements.js';
import type { ClauseText } from './truth-check.js';

export interface ChangeSentence {
  readonly sentence: Sentence;
  readonly kind: Prediction['kind'];
  /** per word; null for a word that the caption graph did not write */
  readonly attention: readonly (WordAttention | null)[];
  /** the clauses, each with the regions that it is about; without "and two more places have changed" */
  readonly clauses: readonly ClauseText[];
}

/** More clauses than an operator reads at once are left to the regions and statements. */
const MOST_CLAUSES = 3;
/** The same of a bundle that does not know how probable a clause is, and its least score of a second one. */
const MOST_UNCALIBRATED = 2;
const LEAST_SECOND_SCORE = 0.6;

type Manifest = Pick<BundleManifest, 'vocabulary' | 'special' | 'names'> & {
  readonly calibration: Pick<BundleManifest['calibration'], 'facts'>;
};

/**
 * @param kind of the change as a whole; the kind of the chosen clauses replaces it if it contradicts them
 * @param regions the strongest first
 * @param truth share of the things said that must be true, 0..1
 * @throws RangeError if an id of the output is not a word of the vocabulary
 */
export function composeSentence(
  description: Description,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
  manifest: Manifest,
  truth: number,
): ChangeSentence {
  const { told, more } = toldClauses(description.statements, manifest, truth);
  if (told.length === 0) return sentenceOfWhole(description, kind, regions, manifest);
  const clauses = [...told.map(({ clause }) => clause), ...(more === null ? [] : [more])];
  // "..., one in red and one in black, and a bag has appeared": the list of colours ends before the next clause.
  const sentences = clauses.map((clause, i) =>
    toClause(withComma(clause.words, i < clauses.length - 1 && clause.text.includes(','))),
  );
  return {
    sentence: joinSentences(sentences),
    kind: agreeing(kind, told),
    attention: sentences.flatMap(({ words }, i): ChangeSentence['attention'] => {
      const own = told[i]?.attention ?? words.map(() => null);
      return i === 0 ? own : [null, ...own];
    }),
    clauses: told.map(({ clause, regions: own }) => ({ text: clause.text, regions: own })),
  };
}

/**
 * The strongest location has a clause however uncertain; another one only if it is a change with a probability of at
 * least `truth` and the thing has a name. Locations that remain are counted ("and two more places have changed") if
 * that is certain, or if the change map alone is certain: a place may have changed for sure while it is open how.
 */
function toldClauses(
  statements: readonly LocationStatement[],
  { names, calibration }: Manifest,
  truth: number,
): { readonly told: readonly ToldClause[]; readonly more: Sentence | null } {
  const { facts } = calibration;
  if (facts === undefined) return { told: uncalibrated(statements), more: null };
  const whole = statements.filter((one, i) => !statements.slice(0, i).some((stronger) => isPart(one, stronger)));
  const level = levelOf(facts, truth);
  const certain = whole.filter(({ probability }, i) => i === 0 || probability >= truth);
  const named = certain.filter((one, i) => i === 0 || one.facts.every(({ noun }) => noun.value !== SOMETHING));
  const told = groupAlike(named, MOST_CLAUSES).slice(0, MOST_CLAUSES);
  const counted = whole.filter((one) => certain.includes(one) || placeProbability(one) >= level);
  const untold = counted.filter((statement) => !told.some((group) => group.includes(statement)));
  return { told: told.map((group) => tellGroup(group, names)), more: morePlaces(untold) };
}

/** Score of the change map at the weakest region of the location. */
const placeProbability = ({ regions }: LocationStatement): number => Math.min(...regions.map(({ score }) => score));

/** @returns the least score of a counted place; above 1 if the bundle does not know it */
const levelOf = ({ counted }: FactCalibration, truth: number): number =>
  counted === undefined ? Number.POSITIVE_INFINITY : levelAt(truth, counted);

/**
 * Whether a location is a part of a stronger one, its shadow or its reflection: smaller by half, of the same kind, less
 * than a cell of the maps away, and without another name.
 */
function isPart(one: LocationStatement, stronger: LocationStatement): boolean {
  if (one.kind !== stronger.kind) return false;
  const nouns = one.facts.map(({ noun }) => noun.value);
  const known = stronger.facts.map(({ noun }) => noun.value);
  return (
    nouns.every((noun) => noun === SOMETHING || known.includes(noun)) &&
    one.regions.every((region) =>
      stronger.regions.some(
        (other) =>
          other.side === region.side && region.area < other.area / 2 && boxDistance(region.box, other.box) < ADJACENT,
      ),
    )
  );
}

/** Cells of the maps are 1/36 by 1/24 of the frame; a gap of one cell is not adjacent. */
const ADJACENT = 0.02;

/** The strongest location, and a second one whose clause is certain enough; equal clauses are used once. */
function uncalibrated(statements: readonly LocationStatement[]): LocationStatement[] {
  const texts = statements.map(({ clause }) => clause.text);
  return statements
    .filter(({ clause }, i) => texts.indexOf(clause.text) === i && (i === 0 || clause.score >= LEAST_SECOND_SCORE))
    .slice(0, MOST_UNCALIBRATED);
}

const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five'];

function morePlaces(untold: readonly LocationStatement[]): Sentence | null {
  if (untold.length === 0) return null;
  const score = Math.min(...untold.map((one) => Math.max(one.probability, placeProbability(one))));
  const number = NUMBERS[untold.length] ?? 'several';
  return uniformScores(`${number} more ${untold.length === 1 ? 'place has' : 'places have'} changed`, score);
}

/** A change of several kinds may have clauses of one: the others are of locations without a clause. */
function agreeing(kind: Prediction['kind'], chosen: readonly ToldClause[]): Prediction['kind'] {
  const [first, ...others] = new Set(chosen.map((statement) => statement.kind));
  const stated = first === undefined || others.length > 0 ? 'multi' : first;
  return kind.name === 'multi' ? kind : { ...kind, name: stated };
}

/** The sentence about all locations, or a plain one if it denies the change: its words have the score of the kind. */
function sentenceOfWhole(
  { whole, crops }: Description,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
  manifest: Pick<BundleManifest, 'vocabulary' | 'special'>,
): ChangeSentence {
  const decoded = toSentence(whole.ids, whole.logProbabilities, whole.length, manifest);
  const kept = filterClausesByKind(
    decoded.words.map(({ text }) => text),
    kind.name,
  );
  const sentence = withWords(decoded, kept);
  if (sentence.words.length === 0 || deniesChange(sentence.text)) {
    // Without a region nothing shows the kind.
    const stated = regions.length === 0 ? { ...kind, name: 'unknown' } : kind;
    return { ...plainChange(stated, regions), kind };
  }
  const clauses = [{ text: sentence.text, regions }];
  return {
    sentence,
    kind,
    clauses,
    attention: kept.map((word) => ({ weights: whole.attention[word] as Float32Array, crops })),
  };
}

/**
 * @param kind of any other name than those of changes: the sentence states no kind
 * @param regions the strongest first
 */
export function plainChange(kind: Prediction['kind'], regions: readonly MapRegion[]): ChangeSentence {
  const sentence = uniformScores(plainSentence(kind.name, regions[0]?.box), kind.score);
  return { sentence, kind, attention: [], clauses: [{ text: sentence.text, regions: regions.slice(0, 1) }] };
}
