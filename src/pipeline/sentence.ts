/**
 * Sentence and kind of a change. The sentence states the events that are probable enough. For a bundle without a judge
 * it is the caption graph's sentence about all locations, without the clauses that contradict the kind, or a plain one.
 */
import { newsRank, othersStatement, withUsefulPlaces } from '../language/order.js';
import { deniesChange, plainStatement } from '../language/plain.js';
import { SOMETHING } from '../language/thing.js';
import { joinClauses, textOf, withoutPlace, writeWords } from '../language/write.js';
import type { Prediction } from '../model/calibration.js';
import type { JudgeManifest } from '../model/judge-schema.js';
import type { BundleManifest } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import { type Sentence, toClause, uniformScores } from '../model/tokenizer.js';
import type { Content, Statement } from '../schemas/statement.js';
import { type Description, isJudged, type JudgedStatement } from './location-statement.js';
import { type GroupStatement, groupAlike, joinGroup } from './merge-clauses.js';
import {
  type DecodedClause,
  decodedClauses,
  type ScoredWord,
  uniformWords,
  type WordAttention,
} from './scored-words.js';

/** A clause of the sentence, and the regions that it is about. */
export interface ClauseText {
  readonly text: string;
  readonly regions: readonly MapRegion[];
}

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

type Manifest = Pick<BundleManifest, 'vocabulary' | 'special' | 'judge'>;

/**
 * @param kind of the change as a whole, by the kind head; the statements of the sentence decide against it
 * @param regions the strongest first
 * @throws RangeError if an id of the output is not a word of the vocabulary
 */
export function composeSentence(
  description: Description,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
  manifest: Manifest,
): ChangeSentence {
  const { judge } = manifest;
  const sorted = description.statements.filter(isJudged).sort((a, b) => b.probability - a.probability);
  const [surest] = sorted;
  if (judge === undefined || surest === undefined) return sentenceOfDecoder(description, kind, regions, manifest);
  if (surest.probability < judge.levels.known) return changeOfUnknownKind(surest, kind, regions);
  const { groups, others, more } = chosen(sorted, judge.levels);
  const statements = [...groups.map(({ statement }) => statement), ...(others === null ? [] : [others])];
  const useful = withUsefulPlaces(statements);
  const stated = groups.map(({ statement, words }, i) =>
    useful[i]?.place === statement.place ? words : withoutPlace(words),
  );
  const clauses = [...stated, ...(others === null ? [] : [uniformWords(writeWords(others), judge.levels.others)])];
  const words = joined(clauses);
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
  /** about further things of the class that the stated ones have, if all of them changed in one way */
  readonly others: Statement | null;
  /** number of probable events that are not stated one by one */
  readonly more: number;
}

/**
 * The most probable event is stated however uncertain; a further one only if it is probable enough. A thing without a
 * name is stated only if no other thing has a name.
 * @param sorted the most probable first
 */
function chosen(sorted: readonly JudgedStatement[], levels: JudgeManifest['levels']): Chosen {
  const sure = sorted.filter(({ probability }, i) => i === 0 || probability >= levels.stated);
  const named = sure.filter(({ fact }) => fact.noun.value !== SOMETHING);
  const groups = groupAlike(named.length === 0 ? sure.slice(0, 1) : named, MOST_CLAUSES).slice(0, MOST_CLAUSES);
  const further = sorted.filter((one) => one.probability >= levels.others && !groups.flat().includes(one));
  return {
    groups: groups.map(joinGroup).sort((a, b) => newsRank(a.statement) - newsRank(b.statement)),
    others: othersOf(further, groups.flat()),
    more: further.length,
  };
}

/** "Others" beside things of two names would leave open of which, and beside a truck they are trucks. */
function othersOf(further: readonly JudgedStatement[], stated: readonly JudgedStatement[]): Statement | null {
  const [noun, ...nouns] = new Set(stated.map(({ fact }) => fact.noun.value));
  if (noun === undefined || nouns.length > 0) return null;
  const alike = further.filter(({ fact }) => fact.noun.value === noun);
  const [kind, ...kinds] = new Set(alike.map(({ statement }) => statement.kind));
  if (kind === undefined || kinds.length > 0) return null;
  const count = alike.reduce((sum, { fact }) => sum + fact.count.value, 0);
  return othersStatement(kind, { noun }, count);
}

/** The kind of what the sentence states: that of its statements, or `multi` if they have several. */
function kindOf(statements: readonly Statement[]): string {
  const [first, ...others] = new Set(statements.map(({ kind }) => kind));
  return others.length > 0 ? 'multi' : (first as string);
}

/**
 * The decoder's sentence about all locations, or a plain one if it denies the change: its words have the score of the
 * kind. Without a region nothing shows the kind.
 */
function sentenceOfDecoder(
  { joint, crops }: Description,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
  manifest: Pick<BundleManifest, 'vocabulary' | 'special'>,
): ChangeSentence {
  const clauses = joint === null ? [] : clausesOfKind(decodedClauses(joint, crops, manifest), kind.name);
  const words = joined(clauses.map((clause) => clause.words));
  const sentence = toClause(words);
  if (words.length === 0 || deniesChange(sentence.text)) {
    return plainChange(kind, regions.length === 0 ? UNKNOWN : kind.name, regions);
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

/** The words of clauses as those of one sentence. */
const joined = (clauses: readonly (readonly ScoredWord[])[]): ScoredWord[] =>
  joinClauses(clauses, (text, next): ScoredWord => {
    return { text, score: toClause(next).score, attention: null, role: 'link', thing: null };
  });

/**
 * The clauses that state `kind`, each once. All kinds stay if `kind` allows several actions (multi) or no clause has
 * it, and all clauses if one is of another grammar.
 */
function clausesOfKind(clauses: readonly DecodedClause[], kind: string): readonly DecodedClause[] {
  if (clauses.some(({ statement }) => statement === null)) return clauses;
  const filters = clauses.some(({ statement }) => statement?.kind === kind);
  const texts = clauses.map(({ words }) => textOf(words));
  return clauses.filter(
    ({ statement }, i) => texts.indexOf(texts[i] as string) === i && (!filters || statement?.kind === kind),
  );
}

/** No name of a kind: a sentence of it states none. */
const UNKNOWN = 'unknown';

/**
 * @param stated the kind that the sentence states
 * @param regions the strongest first
 * @param thing at the strongest region, of which no kind is stated; absent: it has no known name
 */
function plainChange(
  kind: Prediction['kind'],
  stated: string,
  regions: readonly MapRegion[],
  thing?: Statement['things'][number],
): ChangeSentence {
  const plain = plainStatement(stated, regions[0]?.box);
  const statement = thing === undefined ? plain : { ...plain, verb: 'altered', things: [thing] };
  const [useful = statement] = withUsefulPlaces([statement]);
  const sentence = uniformScores(textOf(writeWords(useful)), kind.score);
  return {
    ...{ sentence, kind, attention: [], content: { statements: [statement], more: 0 } },
    clauses: [{ text: sentence.text, regions: regions.slice(0, 1) }],
  };
}

/** The thing is known, and not its change: the noun stays. */
function changeOfUnknownKind(
  { fact: { noun }, statement, regions: shown }: JudgedStatement,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
): ChangeSentence {
  if (noun.value === SOMETHING) return plainChange(kind, UNKNOWN, regions);
  const count = statement.things[0]?.count ?? null;
  return plainChange(kind, UNKNOWN, shown, { noun: noun.value, colour: null, count, definite: true });
}
