/**
 * Sentence and kind of a change. The sentence states the events that are probable enough. For a bundle without a judge it
 * is the caption graph's sentence about all locations, without the clauses that contradict the kind, or a plain one.
 */
import { deniesChange, othersStatement, plainStatement } from '../language/plain.js';
import { type Clause, positionsOf, readClauses } from '../language/read-clauses.js';
import { SOMETHING } from '../language/thing.js';
import { separated, textOf, write, writeWords } from '../language/write.js';
import type { Prediction } from '../model/calibration.js';
import type { JudgeManifest } from '../model/judge-schema.js';
import type { BundleManifest } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import { joinSentences, type Sentence, toClause, toSentence, uniformScores, withWords } from '../model/tokenizer.js';
import type { Content, Statement } from '../schemas/statement.js';
import type { Description, LocationStatement } from './location-statement.js';
import { type GroupStatement, groupAlike, joinGroup } from './merge-clauses.js';
import { uniformWords, type WordAttention } from './scored-words.js';
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
  const { statements } = description;
  const { judge } = manifest;
  const [surest] = [...statements].sort((a, b) => b.probability - a.probability);
  if (judge === undefined || surest === undefined) return sentenceOfDecoder(description, kind, regions, manifest);
  if (surest.probability < judge.levels.known) return changeOfUnknownKind(surest, kind, regions);
  const { groups, others, more, kind: name } = chosen(statements, judge.levels);
  const clauses = [
    ...groups.map(({ words }) => words),
    ...(others === null ? [] : [uniformWords(writeWords(others), judge.levels.others)]),
  ];
  // "..., one in red and one in black, and a bag has appeared": the list of colours ends before the next clause.
  const lists = separated(clauses);
  return {
    sentence: joinSentences(lists.map(toClause)),
    kind: { ...kind, name },
    content: {
      statements: [...groups.map(({ statement }) => statement), ...(others === null ? [] : [others])],
      more,
    },
    attention: lists.flatMap((words, i) => [...(i === 0 ? [] : [null]), ...words.map(({ attention }) => attention)]),
    clauses: groups.map(({ words, regions: shown }) => ({ text: textOf(words), regions: shown })),
  };
}

interface Chosen {
  readonly groups: readonly GroupStatement[];
  /** "others have moved": further things of the class of a stated one */
  readonly others: Statement | null;
  /** number of probable events that are not stated one by one */
  readonly more: number;
  /** of all that is stated; `multi` of several kinds */
  readonly kind: string;
}

/**
 * The most probable event is stated however uncertain; a further one only if it is probable enough. Moves
 * come last. Further things are counted in no number, because they are unsure.
 */
function chosen(statements: readonly LocationStatement[], levels: JudgeManifest['levels']): Chosen {
  const sorted = [...statements].sort((a, b) => b.probability - a.probability);
  const sure = sorted.filter(({ probability }, i) => i === 0 || probability >= levels.stated);
  const named = sure.filter(({ facts }) => facts.every(({ noun }) => noun.value !== SOMETHING));
  const ranked = (named.length === 0 ? sure.slice(0, 1) : named).sort((a, b) => rankOf(a) - rankOf(b));
  const groups = groupAlike(ranked, MOST_CLAUSES).slice(0, MOST_CLAUSES);
  const classes = new Set(groups.flat().map(classOfStatement));
  const further = sorted.filter((one) => one.probability >= levels.others && !groups.flat().includes(one));
  const rest = further.filter((one) => classes.has(classOfStatement(one)));
  const [kind, ...mixed] = new Set(rest.map(({ statement }) => statement.kind));
  const others = kind === undefined || mixed.length > 0 ? null : othersStatement(kind);
  const joined = groups.map(joinGroup);
  const kinds = new Set([...joined.map(({ statement }) => statement.kind), ...(others && kind ? [kind] : [])]);
  return { groups: joined, others, more: further.length, kind: kinds.size > 1 ? 'multi' : ([...kinds][0] as string) };
}

const rankOf = ({ statement }: LocationStatement): number => (statement.kind === 'move' ? 1 : 0);

const classOfStatement = ({ facts }: LocationStatement): string | undefined => facts[0]?.class?.value;

/**
 * The decoder's sentence about all locations, or a plain one if it denies the change: its words have the score of the
 * kind.
 */
function sentenceOfDecoder(
  { joint, crops }: Description,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
  manifest: Manifest,
): ChangeSentence {
  if (joint === null)
    return { ...plainChange(regions.length === 0 ? { ...kind, name: 'unknown' } : kind, regions), kind };
  const decoded = toSentence(joint.ids, joint.logProbabilities, joint.length, manifest);
  const clauses = clausesOfKind(readClauses(decoded.words.map(({ text }) => text)), decoded, kind.name);
  const kept = positionsOf(clauses);
  const sentence = withWords(decoded, kept);
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
    attention: kept.map((word) => ({ weights: joint.attention[word] as Float32Array, crops })),
  };
}

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
function plainChange(
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
  thing?: Statement['things'][number],
): ChangeSentence {
  const plain = plainStatement(kind.name, regions[0]?.box);
  const statement = thing === undefined ? plain : { ...plain, verb: 'altered', things: [thing] };
  const sentence = uniformScores(write(statement), kind.score);
  return {
    ...{ sentence, kind, attention: [], content: { statements: [statement], more: 0 } },
    clauses: [{ text: sentence.text, regions: regions.slice(0, 1) }],
  };
}

/** The thing is known, and not its change: the noun stays. */
function changeOfUnknownKind(
  { facts, statement, regions: shown }: LocationStatement,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
): ChangeSentence {
  const unknown = { ...kind, name: 'unknown' };
  const [fact] = facts;
  if (fact === undefined || fact.noun.value === SOMETHING) return { ...plainChange(unknown, regions), kind };
  const count = statement.things[0]?.count ?? null;
  const thing = { noun: fact.noun.value, colour: null, count, definite: true };
  return { ...plainChange(unknown, shown, thing), kind };
}
