/**
 * Statements: per location of a change the clause that the caption graph writes if it sees the region crops of this
 * location only. The sentence of an answer is composed of them (sentence.ts, training/journal/levels.md).
 */
import type { Side } from '../base/images.js';
import { type ChangeStatement, isChangeStatement, reversedStatement, unnamedStatement } from '../language/plain.js';
import { type Clause, readClauses } from '../language/read-clauses.js';
import { writeWords } from '../language/write.js';
import { shareOf } from '../model/calibration.js';
import type { CaptionOutput } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import { type Sentence, toClause, toSentence, withWords } from '../model/tokenizer.js';
import { reversedKind, SIDES_OF_KIND, type StatementKind } from '../schemas/comparison.js';
import { stateMove } from './beings.js';
import type { CaptionRun } from './both-directions.js';
import type { Description, EndsOfMove, KnownNames, LocationCrop, LocationStatement } from './location-statement.js';
import { decodedWords, meanAttention, uniformWords } from './scored-words.js';

/**
 * The caption graph: sets of crops, a row each, and the number of clauses after which a row may end, with the "and"
 * before the next one -> an output per set.
 */
export type RunCaptions<C> = (
  sets: readonly (readonly C[])[],
  clauses: readonly number[],
) => Promise<readonly CaptionRun[]>;
/** More clauses than a row has words. */
const ALL_CLAUSES = 100;

/** Bound of the cost: a row of a run of the caption graph takes 4 ms (`npm run bench -- model`). */
export const MAX_STATEMENTS = 6;
/** Number of locations that have facts, if no statements were asked for. */
export const MAX_FACTS = 5;

type Vocabulary = Pick<BundleManifest, 'vocabulary' | 'special' | 'kinds'>;

/**
 * Runs the caption graph once, as one batch: on the strongest crops together, on each crop alone, on any two ends of a
 * thing that may have moved far, and on the crop around two vehicles of one location. The only location needs no
 * further row. The words about all crops are needed if no crop has a statement, and further clauses about a crop if the
 * first one does not fit: rarely, in runs of their own.
 * @param crops the strongest first
 * @param strongest crops that one row takes together, the strongest first
 * @param names of the crops; undefined of a bundle that names nothing
 */
export async function describeLocations<C extends LocationCrop>(
  crops: readonly C[],
  strongest: readonly C[],
  run: RunCaptions<C>,
  manifest: Vocabulary,
  names?: KnownNames<C>,
): Promise<Description> {
  const candidates = endsOfMoves(crops.slice(0, strongest.length)).map((set) => {
    const [before, after] = set.map((crop) => crops.indexOf(crop)) as [number, number];
    return { set, before, after };
  });
  const moves = candidates.filter(({ before, after }) => names?.mayBeOne(before, after) ?? true);
  const alone = crops.length === 1 ? [] : crops.map((crop) => [crop]);
  const exchanges = names?.exchanges ?? [];
  const sets = [strongest, ...alone, ...moves.map(({ set }) => set), ...exchanges.map(({ around }) => [around])];
  const clauses = sets.map((_, i) => (i === 0 && alone.length > 0 ? 0 : 1));
  const outputs = await withFittingClauses(sets, await run(sets, clauses), run, manifest);
  const joint = outputs[0] as CaptionRun;
  const boxes = strongest.map(({ crop }) => crop);
  const outputOfCrop = (i: number) => (crops.length === 1 ? joint : (outputs[i + 1] as CaptionRun));
  const singles = crops.map(
    (crop, i) => statementOf(outputOfCrop(i), [crop], [i], manifest) ?? plainStatement(outputOfCrop(i), crop, i, names),
  );
  const outputOf = new Map(moves.map((move, i) => [move, outputs[1 + alone.length + i] as CaptionRun]));
  const moved = [...outputOf]
    .map(([{ set, before, after }, output]) => statementOf(output, set, [before, after], manifest))
    .filter((statement) => statement !== undefined)
    .sort((a, b) => toClause(b.words).score - toClause(a.words).score);
  const ends = candidates.map((one): EndsOfMove => {
    const { before, after } = one;
    return { before, after, kindLogits: outputOf.get(one)?.kindLogits ?? null };
  });
  const replacements = exchanges.flatMap(({ around, before, after }, i) => {
    const output = outputs[1 + alone.length + moves.length + i] as CaptionRun;
    const statement = statementOf(output, [around], [before, after], manifest);
    return statement?.statement.kind === 'replace' ? [statement] : [];
  });
  const used = new Set<number>();
  for (const joined of [...moved, ...replacements]) {
    if (joined.at.some((i) => used.has(i))) continue;
    for (const i of joined.at) {
      used.add(i);
      singles[i] = undefined;
    }
    singles[Math.min(...joined.at)] = joined;
  }
  for (const being of names?.beings ?? []) stateMove(being, singles, crops, outputOfCrop);
  const statements = singles.filter((statement) => statement !== undefined);
  const isNeeded = statements.length === 0 && joint.length === 0;
  const [written = joint] = isNeeded ? await run([strongest], [ALL_CLAUSES]) : [];
  return { joint: written, crops: boxes, statements, ends };
}

/** Runs the rows about one crop again that ended before a clause that fits the crop. */
async function withFittingClauses<C extends LocationCrop>(
  sets: readonly (readonly C[])[],
  outputs: readonly CaptionRun[],
  run: RunCaptions<C>,
  manifest: Vocabulary,
): Promise<readonly CaptionRun[]> {
  const unfit = sets.filter((crops, i) => {
    const { reversed, ...given } = outputs[i] as CaptionRun;
    const lacksClause = (output: CaptionOutput | undefined, isReversed: boolean) =>
      output !== undefined &&
      hasEnded(output, manifest) &&
      fittingClause(output, isReversed, crops, manifest) === undefined;
    return crops.length === 1 && (lacksClause(given, false) || lacksClause(reversed, true));
  });
  if (unfit.length === 0) return outputs;
  const again = await run(
    unfit,
    unfit.map(() => ALL_CLAUSES),
  );
  return outputs.map((output, i) => again[unfit.indexOf(sets[i] as readonly C[])] ?? output);
}

/** Whether a row ended before a further clause. */
const hasEnded = ({ ids, length }: CaptionOutput, { vocabulary }: Vocabulary): boolean =>
  length > 0 && vocabulary[Number(ids[length - 1])] === 'and';

/**
 * A statement in plain words, about a location of one frame that shows a thing, but that the caption graph has no
 * fitting clause for: it writes about the person beside a bag. The words for the thing come from the namer.
 */
function plainStatement(
  output: CaptionOutput,
  { crop, regions }: LocationCrop,
  at: number,
  names: KnownNames | undefined,
): LocationStatement | undefined {
  const [region, ...others] = regions;
  const isThing = region !== undefined && others.length === 0 && names?.isThing(at)[region.side] === true;
  if (!isThing) return undefined;
  const statement = unnamedStatement(region.side === 'after' ? 'appear' : 'disappear', region.box);
  return {
    ...{ at: [at], facts: [], statement, regions, decoded: [], kindLogits: output.kindLogits },
    words: uniformWords(writeWords(statement), region.score, meanAttention(output.attention, [crop])),
    probability: region.score,
  };
}

/**
 * A thing that moved far has two region crops, one per frame. The statement about both decides whether it is one thing,
 * and each thing is at one end of one move only.
 * @returns every crop that only "before" shows with every crop that only "after" shows
 */
function endsOfMoves<C extends LocationCrop>(crops: readonly C[]): [before: C, after: C][] {
  const shownOnlyIn = (side: Side) => crops.filter(({ regions }) => regions.every((one) => one.side === side));
  const after = shownOnlyIn('after');
  return shownOnlyIn('before').flatMap((before) => after.map((end): [C, C] => [before, end]));
}

/** The first clause of a sentence that fits the regions of a location. */
interface FittingClause {
  readonly clause: Clause;
  /** as the words state it */
  readonly statement: ChangeStatement;
  /** of the pair; the statement is about the exchanged pair if `reversed` */
  readonly kind: StatementKind;
  readonly sentence: Sentence;
  readonly output: CaptionOutput;
  readonly reversed: boolean;
}

/**
 * @param output of the caption graph for the crops of one location
 * @returns the first clause that fits the regions, of the more probable kind if the directions differ; undefined if
 *   there is none, or if only one direction has it and its kind is improbable
 */
function statementOf(
  output: CaptionRun,
  crops: readonly LocationCrop[],
  at: readonly number[],
  manifest: Vocabulary,
): LocationStatement | undefined {
  const regions = crops.flatMap((crop) => crop.regions);
  const clauses = [fittingClause(output, false, crops, manifest)];
  if (output.reversed !== undefined) clauses.push(fittingClause(output.reversed, true, crops, manifest));
  const fitting = clauses.filter((clause) => clause !== undefined);
  const probable = ({ kind }: FittingClause): number =>
    output.kindLogits === null ? 0 : shareOf(kind, output.kindLogits, manifest.kinds);
  const [first, second] = fitting;
  const chosen = first && second && probable(second) > probable(first) && second.kind !== first.kind ? second : first;
  if (chosen === undefined) return undefined;
  if (fitting.length < clauses.length && probable(chosen) < LEAST_OF_ONE_DIRECTION) return undefined;
  const sides: readonly Side[] = SIDES_OF_KIND[chosen.kind];
  const shown = regions.filter(({ side }) => sides.includes(side));
  const { statement, words } = wordsOfPair(chosen, shown, crops);
  const { score } = toClause(words);
  return {
    ...{ at, facts: [], statement, regions: shown, words, kindLogits: output.kindLogits, probability: score },
    decoded: fitting.map(({ statement: stated, reversed }) => ({ statement: stated, reversed })),
  };
}

/** Share of its kind from which on a clause counts that only one direction has. */
const LEAST_OF_ONE_DIRECTION = 0.5;

/** The first clause of a run that fits the regions, by the kind that it states of the pair. */
function fittingClause(
  output: CaptionOutput,
  reversed: boolean,
  crops: readonly LocationCrop[],
  manifest: Vocabulary,
): FittingClause | undefined {
  const sentence = toSentence(output.ids, output.logProbabilities, output.length, manifest);
  const regions = crops.flatMap((crop) => crop.regions);
  const clauses = readClauses(sentence.words.map(({ text }) => text));
  // Two crops are the two ends of one move; of two clauses about them, one would be about one end.
  const isOnly = clauses.length === 1 && !hasEnded(output, manifest);
  const fits = (kind: StatementKind): boolean =>
    (crops.length === 1 || (kind === 'move' && isOnly)) &&
    SIDES_OF_KIND[kind].every((side) => regions.some((region) => region.side === side));
  for (const clause of clauses) {
    const { statement } = clause;
    if (statement === null || !isChangeStatement(statement)) continue;
    const kind = reversed ? reversedKind(statement.kind) : statement.kind;
    if (fits(kind)) return { clause, statement, kind, sentence, output, reversed };
  }
  return undefined;
}

/** The clause as decoded for (before, after). One that was decoded for the exchanged pair is reversed. */
function wordsOfPair(
  { clause, statement, sentence, output, reversed }: FittingClause,
  regions: readonly MapRegion[],
  crops: readonly LocationCrop[],
): Pick<LocationStatement, 'statement' | 'words'> {
  const rows = clause.words.map((word) => output.attention[word] as Float32Array);
  const boxes = crops.map(({ crop }) => crop);
  const decoded = decodedWords(withWords(sentence, clause.words), clause.roles, rows, boxes);
  if (!reversed) return { statement, words: decoded };
  const turned = reversedStatement(statement, (regions.at(-1) as MapRegion).box);
  const { score } = toClause(decoded);
  const words = uniformWords(writeWords(turned), score, meanAttention(rows, boxes));
  const isMove = words.length === decoded.length && turned.kind === 'move';
  return {
    statement: turned,
    words: isMove ? words.map((word, i) => ({ ...word, attention: decoded[i]?.attention ?? null })) : words,
  };
}
