/**
 * Statements: per location of a change the clause that the caption graph writes if it sees the region crops of this
 * location only. The sentence of an answer is composed of them (sentence.ts, ADR 16).
 */
import type { Box, Side } from '../images.js';
import { clausesOf } from '../model/clauses.js';
import type { CaptionOutput } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import type { Likely, LikelyClass } from '../model/naming.js';
import type { MapRegion, RegionCrop } from '../model/regions.js';
import { type Sentence, toSentence, withWords } from '../model/tokenizer.js';
import { SIDES_OF_KIND, type StatementKind } from '../schemas/comparison.js';

/** Bound of the cost: a row of a run of the caption graph takes 4 ms (`npm run bench:model`). */
export const MAX_STATEMENTS = 6;
/** Number of locations that have facts, if no statements were asked for. */
export const MAX_FACTS = 5;

/** The attention of a word, and the boxes of the crops that the run of its clause saw. */
export interface WordAttention {
  readonly weights: Float32Array;
  readonly crops: readonly Box[];
  /** of the other locations that the word is about */
  readonly others?: readonly WordAttention[];
}

/** A thing at a location. */
export interface LocationFact {
  /** with the probability that the location changed in this way */
  readonly kind: { readonly value: StatementKind; readonly probability: number };
  readonly noun: Likely;
  /** of probability 0.05 or more, the most probable first */
  readonly nouns: readonly Likely[];
  /** the most probable; null: the bundle has no nouns of a class */
  readonly class: LikelyClass | null;
  /** null: no colour is probable enough */
  readonly colour: Likely | null;
  /** as `nouns` */
  readonly colours: readonly Likely[];
  /** 4: four or more */
  readonly count: { readonly value: number; readonly probability: number };
  /** where the thing is or was; null: of a move, or none is probable enough */
  readonly place: Likely | null;
  /** of a move: the way that the thing went; null: none is probable enough */
  readonly way: Likely | null;
  readonly regions: readonly MapRegion[];
}

/** A clause about one location. */
export interface LocationStatement {
  /** positions of its crops among all: one, or those of both ends of a move */
  readonly at: readonly number[];
  /** none of a bundle that names nothing */
  readonly facts: readonly LocationFact[];
  readonly kind: StatementKind;
  /** those that show the thing, on the sides that the kind needs */
  readonly regions: readonly MapRegion[];
  readonly clause: Sentence;
  /** per word of the clause; null for a word that the caption graph did not write */
  readonly attention: readonly (WordAttention | null)[];
  /** of the run on this location alone; null of a caption graph that judges no kind */
  readonly kindLogits: Float32Array | null;
  /** probability that the location changed as the clause states, 0..1 (clause-probability.ts) */
  readonly probability: number;
}

/** The outputs of the caption graph for a change. */
export interface Description {
  /** seeing the strongest locations together */
  readonly whole: CaptionOutput;
  /** boxes of the crops of `whole` */
  readonly crops: readonly Box[];
  /** at most one per location, the strongest first */
  readonly statements: readonly LocationStatement[];
  /** the crops that may be the two ends of a move, and the kind logits of the run on both */
  readonly ends: readonly EndsOfMove[];
}

export interface EndsOfMove {
  /** positions of the crops among all */
  readonly before: number;
  readonly after: number;
  readonly kindLogits: Float32Array | null;
}

type LocationCrop = Pick<RegionCrop, 'crop' | 'regions'>;
type Vocabulary = Pick<BundleManifest, 'vocabulary' | 'special'>;

/**
 * Runs the caption graph once, as one batch: on the strongest crops together, on each crop alone, and on any two ends
 * of a thing that may have moved far. The only location needs no further row.
 * @param crops the strongest first
 * @param together number of crops that one row takes
 * @param run the caption graph, one row per set of crops
 */
export async function describeLocations<C extends LocationCrop>(
  crops: readonly C[],
  together: number,
  run: (sets: readonly (readonly C[])[]) => Promise<readonly CaptionOutput[]>,
  manifest: Vocabulary,
): Promise<Description> {
  const strongest = crops.slice(0, together);
  const moves = endsOfMoves(strongest);
  const alone = crops.length === 1 ? [] : crops.map((crop) => [crop]);
  const outputs = await run([strongest, ...alone, ...moves]);
  const whole = outputs[0] as CaptionOutput;
  const boxes = strongest.map(({ crop }) => crop);
  const singles = crops.map((crop, i) => {
    const output = crops.length === 1 ? whole : (outputs[i + 1] as CaptionOutput);
    return statementOf(output, [crop], [i], manifest);
  });
  const moved = moves
    .map((ends, i) => {
      const output = outputs[1 + alone.length + i] as CaptionOutput;
      return statementOf(
        output,
        ends,
        ends.map((crop) => crops.indexOf(crop)),
        manifest,
      );
    })
    .filter((statement) => statement !== undefined)
    .sort((a, b) => b.clause.score - a.clause.score);
  const ends = moves.map(([before, after], i): EndsOfMove => {
    const { kindLogits } = outputs[1 + alone.length + i] as CaptionOutput;
    return { before: crops.indexOf(before), after: crops.indexOf(after), kindLogits };
  });
  const used = new Set<number>();
  for (const move of moved) {
    if (move.at.some((i) => used.has(i))) continue;
    for (const i of move.at) {
      used.add(i);
      singles[i] = undefined;
    }
    singles[Math.min(...move.at)] = move;
  }
  return { whole, crops: boxes, statements: singles.filter((statement) => statement !== undefined), ends };
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

/**
 * @param output of the caption graph for the crops of one location
 * @returns the first clause that fits the regions; undefined if there is none, or if its verb is not known
 */
function statementOf(
  output: CaptionOutput,
  crops: readonly LocationCrop[],
  at: readonly number[],
  manifest: Vocabulary,
): LocationStatement | undefined {
  const sentence = toSentence(output.ids, output.logProbabilities, output.length, manifest);
  const regions = crops.flatMap((crop) => crop.regions);
  const clauses = clausesOf(sentence.words.map(({ text }) => text));
  // Two crops are the two ends of one move; of two clauses about them, one would be about one end.
  const fits = (kind: StatementKind): boolean =>
    (crops.length === 1 || (kind === 'move' && clauses.length === 1)) &&
    SIDES_OF_KIND[kind].every((side) => regions.some((region) => region.side === side));
  for (const { words, kind } of clauses) {
    if (kind === undefined || !fits(kind)) continue;
    const sides: readonly Side[] = SIDES_OF_KIND[kind];
    const boxes = crops.map(({ crop }) => crop);
    const clause = withWords(sentence, words);
    return {
      at,
      facts: [],
      kind,
      regions: regions.filter(({ side }) => sides.includes(side)),
      clause,
      attention: words.map((word) => ({ weights: output.attention[word] as Float32Array, crops: boxes })),
      kindLogits: output.kindLogits,
      probability: clause.score,
    };
  }
  return undefined;
}
