/**
 * Sentence and kind of a change. The sentence is composed of the statements of its locations; without any, it is what
 * the caption graph writes about all of them, without the clauses that contradict the kind, or a plain sentence.
 */
import { boxDistance } from '../base/images.js';
import { newsRank, othersStatement, withUsefulPlaces } from '../language/order.js';
import { deniesChange, plainStatement } from '../language/plain.js';
import { type Clause, readClauses } from '../language/read-clauses.js';
import { SOMETHING } from '../language/thing.js';
import { joinClauses, textOf, writeWords } from '../language/write.js';
import type { Prediction } from '../model/calibration.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { BundleManifest } from '../model/manifest.js';
import { levelAt } from '../model/naming.js';
import type { MapRegion } from '../model/regions.js';
import { type Sentence, toClause, toSentence, uniformScores, withWords } from '../model/tokenizer.js';
import type { Content, Statement } from '../schemas/statement.js';
import type { Description, LocationFact, LocationStatement } from './location-statement.js';
import { type GroupStatement, groupAlike, joinGroup } from './merge-clauses.js';
import { type ScoredWord, uniformWords, type WordAttention } from './scored-words.js';
import type { ClauseText } from './truth-check.js';

export interface ChangeSentence {
  readonly sentence: Sentence;
  readonly kind: Prediction['kind'];
  /** the statements; undefined of a captioner that writes by another grammar */
  readonly content: Content | undefined;
  /** per word; null for a word that the caption graph did not write */
  readonly attention: readonly (WordAttention | null)[];
  /** the clauses, each with the regions that it is about; without "others have moved" */
  readonly clauses: readonly ClauseText[];
}

/** More clauses than an operator reads at once are left to the regions and statements. */
const MOST_CLAUSES = 3;
/** As MOST_CLAUSES, of a bundle without calibrated clauses, and its least score of a second one. */
const MOST_UNCALIBRATED = 2;
const LEAST_SECOND_SCORE = 0.6;

type Manifest = Pick<BundleManifest, 'vocabulary' | 'special' | 'names'> & {
  readonly calibration: Pick<BundleManifest['calibration'], 'facts'>;
};

/**
 * @param kind of the change as a whole, by the kind head; the statements of the sentence decide against it
 * @param regions the strongest first
 * @param truth share of the stated things that must be true, 0..1
 * @throws RangeError if an id of the output is not a word of the vocabulary
 */
export function composeSentence(
  description: Description,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
  manifest: Manifest,
  truth: number,
): ChangeSentence {
  const { groups, others, more, score } = chosenGroups(description.statements, manifest, truth);
  if (groups.length === 0) return sentenceOfDecoder(description, kind, regions, manifest);
  const statements = [...groups.map(({ statement }) => statement), ...(others === null ? [] : [others])];
  const useful = withUsefulPlaces(statements);
  const stated = groups.map(({ statement, words }, i) =>
    useful[i]?.place === statement.place ? words : words.filter(({ role }) => role !== 'place'),
  );
  const clauses = [...stated, ...(others === null ? [] : [uniformWords(writeWords(others), score)])];
  const words = joinClauses(clauses, (text, next): ScoredWord => {
    return { text, score: toClause(next).score, attention: null, role: 'link', thing: null };
  });
  return {
    sentence: toClause(words),
    kind: { ...kind, name: kindOf(statements) },
    content: { statements, more },
    attention: words.map(({ attention }) => attention),
    clauses: groups.map(({ regions: shown }, i) => ({ text: textOf(stated[i] as ScoredWord[]), regions: shown })),
  };
}

interface Chosen {
  /** in the order of `newsRank` */
  readonly groups: readonly GroupStatement[];
  /** about the further places, if what happened there is certain and the same, to things as a stated one */
  readonly others: Statement | null;
  /** number of further places that have changed, and the least probability of one */
  readonly more: number;
  readonly score: number;
}

/**
 * The strongest location has a clause however uncertain; another one only if it is a change with a probability of at
 * least `truth`. A thing without a name has one only if no other thing has a name. Locations that remain are counted in
 * `more` if that is certain, or if the change map alone is certain: it can be certain that a place changed although the
 * kind of change is not.
 */
function chosenGroups(
  statements: readonly LocationStatement[],
  { calibration: { facts } }: Manifest,
  truth: number,
): Chosen {
  if (facts === undefined) return { groups: uncalibrated(statements), others: null, more: 0, score: 1 };
  const apart = statements.filter((one, i) => !statements.slice(0, i).some((stronger) => isPart(one, stronger)));
  const level = levelOf(facts, truth);
  const certain = apart.filter(({ probability }, i) => i === 0 || probability >= truth);
  const named = certain.filter(({ facts: known }) => known.every(({ noun }) => noun.value !== SOMETHING));
  const groups = groupAlike(named.length === 0 ? certain.slice(0, 1) : named, MOST_CLAUSES).slice(0, MOST_CLAUSES);
  const counted = apart.filter((one) => certain.includes(one) || placeProbability(one) >= level);
  const rest = counted.filter((statement) => !groups.some((group) => group.includes(statement)));
  return {
    groups: groups.map(joinGroup).sort((a, b) => newsRank(a.statement) - newsRank(b.statement)),
    others: othersOf(rest, groups.flat(), truth),
    more: rest.length,
    score: Math.min(1, ...rest.map((one) => Math.max(one.probability, placeProbability(one)))),
  };
}

/** @param truth least probability of what happened to each */
function othersOf(rest: readonly LocationStatement[], stated: readonly LocationStatement[], truth: number) {
  const [kind, ...kinds] = new Set(rest.map(({ statement }) => statement.kind));
  const all = rest.flatMap(({ facts }) => facts);
  const [thing, ...further] = stated.flatMap(({ facts }) => facts);
  // "Others" of two sorts of things would leave open of which.
  const isOneSort =
    thing?.class != null && [...further, ...all].every((fact) => fact.class?.value === thing.class?.value);
  const isSure = all.every((fact) => fact.kind.probability >= truth);
  if (kind === undefined || kinds.length > 0 || !isOneSort || !isSure) return null;
  const count = all.reduce((sum, fact) => sum + fact.count.value, 0);
  return othersStatement(kind, { noun: thing.noun.value }, count);
}

/** Score of the change map at the weakest region of the location. */
const placeProbability = ({ regions }: LocationStatement): number => Math.min(...regions.map(({ score }) => score));

/** @returns the least score of a counted place; above 1 if the bundle does not know it */
const levelOf = ({ counted }: FactCalibration, truth: number): number =>
  counted === undefined ? Number.POSITIVE_INFINITY : levelAt(truth, counted);

/**
 * Whether a location is a part of a stronger one, its shadow or its reflection: smaller by half, of the same kind, less
 * than a cell of the maps away, and without another name than the noun or the class of the stronger one.
 */
function isPart(one: LocationStatement, stronger: LocationStatement): boolean {
  if (one.statement.kind !== stronger.statement.kind) return false;
  return (
    one.facts.every((part) => part.noun.value === SOMETHING || stronger.facts.some((thing) => isAlike(part, thing))) &&
    one.regions.every((region) =>
      stronger.regions.some(
        (other) =>
          other.side === region.side && region.area < other.area / 2 && boxDistance(region.box, other.box) < ADJACENT,
      ),
    )
  );
}

/** Whether two things have one noun, or one has the class of the other as its noun: "a car" and "a vehicle". */
const isAlike = (a: LocationFact, b: LocationFact): boolean =>
  a.noun.value === b.noun.value || a.noun.value === b.class?.value || b.noun.value === a.class?.value;

/** Cells of the maps are 1/36 by 1/24 of the frame; a gap of one cell is not adjacent. */
const ADJACENT = 0.02;

/** The strongest location, and a second one whose clause is certain enough; equal clauses are used once. */
function uncalibrated(statements: readonly LocationStatement[]): LocationStatement[] {
  const texts = statements.map(({ words }) => textOf(words));
  return statements
    .filter(
      ({ words }, i) =>
        texts.indexOf(texts[i] as string) === i && (i === 0 || toClause(words).score >= LEAST_SECOND_SCORE),
    )
    .slice(0, MOST_UNCALIBRATED);
}

/** The kind of what the sentence states: that of its statements, or `multi` if they have several. */
function kindOf(statements: readonly Statement[]): string {
  const [first, ...others] = new Set(statements.map(({ kind }) => kind));
  return others.length > 0 ? 'multi' : (first as string);
}

/**
 * The decoder's sentence about all locations, or a plain one if it denies the change: its words have the score of the
 * kind.
 */
function sentenceOfDecoder(
  { joint, crops }: Description,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
  manifest: Pick<BundleManifest, 'vocabulary' | 'special'>,
): ChangeSentence {
  const decoded = toSentence(joint.ids, joint.logProbabilities, joint.length, manifest);
  const clauses = clausesOfKind(readClauses(decoded.words.map(({ text }) => text)), decoded, kind.name);
  const kept = clauses.map(({ words: positions }) =>
    positions.map((at): JoinedWord => {
      const attention = { weights: joint.attention[at] as Float32Array, crops };
      return { ...(decoded.words[at] as Sentence['words'][number]), attention };
    }),
  );
  const words = joinClauses(kept, (text, next): JoinedWord => ({ text, score: toClause(next).score, attention: null }));
  const sentence = toClause(words);
  if (sentence.words.length === 0 || deniesChange(sentence.text)) {
    // Without a region nothing shows the kind.
    const stated = regions.length === 0 ? { ...kind, name: 'unknown' } : kind;
    return { ...plainChange(stated, regions), kind };
  }
  const statements = clauses.flatMap(({ statement }) => statement ?? []);
  return {
    sentence,
    kind,
    content: statements.length < clauses.length ? undefined : { statements, more: 0 },
    clauses: [{ text: sentence.text, regions }],
    attention: words.map(({ attention }) => attention),
  };
}
type JoinedWord = Sentence['words'][number] & Pick<ScoredWord, 'attention'>;

/**
 * The clauses that state `kind`, each once. All kinds stay if `kind` allows several actions (multi) or no clause has
 * it, and all clauses if one is of another grammar.
 */
function clausesOfKind(clauses: readonly Clause[], sentence: Sentence, kind: string): readonly Clause[] {
  if (clauses.some(({ statement }) => statement === null)) return clauses;
  const filters = clauses.some(({ statement }) => statement?.kind === kind);
  const texts = clauses.map(({ words }) => withWords(sentence, words).text);
  return clauses.filter(
    ({ statement }, i) => texts.indexOf(texts[i] as string) === i && (!filters || statement?.kind === kind),
  );
}

/**
 * @param kind of any other name than those of changes: the sentence states no kind
 * @param regions the strongest first
 * @param thing at the strongest region, of which no kind is stated; absent: it has no known name
 */
export function plainChange(
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
  thing?: Statement['things'][number],
): ChangeSentence {
  const plain = plainStatement(kind.name, regions[0]?.box);
  const statement = thing === undefined ? plain : { ...plain, verb: 'altered', things: [thing] };
  const [useful = statement] = withUsefulPlaces([statement]);
  const sentence = uniformScores(textOf(writeWords(useful)), kind.score);
  return {
    ...{ sentence, kind, attention: [], content: { statements: [statement], more: 0 } },
    clauses: [{ text: sentence.text, regions: regions.slice(0, 1) }],
  };
}
