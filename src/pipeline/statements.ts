/**
 * Statements: per location of a change the clause that the caption graph writes if it sees the region crops of this
 * location only. On the two sets of development pairs 260 of 293 such clauses are true of the labelled thing at their
 * location. Of the clauses of the whole caption, assigned to locations by the attention of their words, 177 are, and 96
 * locations get none; of the whole captions 217 are true.
 */
import type { Side } from '../images.js';
import { clausesOf } from '../model/clauses.js';
import type { CaptionOutput } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import type { MapRegion, RegionCrop } from '../model/regions.js';
import { toSentence, withWords } from '../model/tokenizer.js';
import { SIDES_OF_KIND, type StatementKind } from '../schemas/comparison.js';

/** Bound of the cost: a statement takes about a sixth of the time of a comparison. */
export const MAX_STATEMENTS = 6;

/** A statement whose regions have no ids yet. */
export interface LocationStatement {
  readonly text: string;
  readonly kind: StatementKind;
  readonly regions: readonly MapRegion[];
  readonly score: number;
}

type LocationCrop = Pick<RegionCrop, 'regions'>;

/**
 * @param crops the strongest first
 * @param whole kind of the change, and output of the caption graph for the strongest crops; if there is one location
 *   only, it needs no further run
 * @param run the caption graph for some of the crops
 * @returns at most one statement per location
 */
export async function stateLocations<C extends LocationCrop>(
  crops: readonly C[],
  { kind, output }: { readonly kind: string; readonly output: CaptionOutput },
  run: (crops: readonly C[]) => Promise<CaptionOutput>,
  manifest: Pick<BundleManifest, 'vocabulary' | 'special'>,
): Promise<LocationStatement[]> {
  const locations = groupCrops(crops, kind);
  const statements = await Promise.all(
    locations.map(async (own) => statementOf(locations.length === 1 ? output : await run(own), own, manifest)),
  );
  return statements.filter((statement) => statement !== undefined);
}

/**
 * The region crops of each location. A thing that moved far has two, one per frame: in a change of the kind `move` the
 * strongest crop that only "before" shows, and the strongest that only "after" shows.
 * @param crops the strongest first
 */
function groupCrops<C extends LocationCrop>(crops: readonly C[], kind: string): C[][] {
  const shownOnlyIn = (side: Side) => crops.find(({ regions }) => regions.every((one) => one.side === side));
  const ends = [shownOnlyIn('before'), shownOnlyIn('after')].filter((crop) => crop !== undefined);
  if (kind !== 'move' || ends.length < 2) return crops.map((crop) => [crop]);
  return [ends, ...crops.filter((crop) => !ends.includes(crop)).map((crop) => [crop])];
}

/**
 * @param output of the caption graph for the crops of one location
 * @returns the first clause that fits the regions; undefined if there is none, or if its verb is not known
 */
function statementOf(
  output: CaptionOutput,
  crops: readonly LocationCrop[],
  manifest: Pick<BundleManifest, 'vocabulary' | 'special'>,
): LocationStatement | undefined {
  const sentence = toSentence(output.ids, output.logProbabilities, output.length, manifest);
  const regions = crops.flatMap((crop) => crop.regions);
  // Two crops are the two ends of one move.
  const fits = (kind: StatementKind): boolean =>
    (crops.length === 1 || kind === 'move') &&
    SIDES_OF_KIND[kind].every((side) => regions.some((region) => region.side === side));
  for (const { words, kind } of clausesOf(sentence.words.map(({ text }) => text))) {
    if (kind === undefined || !fits(kind)) continue;
    const { text, score } = withWords(sentence, words);
    const sides: readonly Side[] = SIDES_OF_KIND[kind];
    return { text, score, kind, regions: regions.filter(({ side }) => sides.includes(side)) };
  }
  return undefined;
}
