/** Description of a changed pair: its region crops, the statements of the caption graph, and their names. */
import { type Box, type Side, union } from '../base/images.js';
import { allSettledOrThrow } from '../frames/pair.js';
import type { InferencePool } from '../inference/pool.js';
import type { CaptionOutput, PairMemory, PairNames, RegionCropFeatures } from '../model/graph-io.js';
import type { Bundle } from '../model/manifest.js';
import type { Names } from '../model/naming.js';
import { cropOfRegion, type MapRegion, partOfOtherFrame } from '../model/regions.js';
import { beingsOf } from './beings.js';
import { type CaptionRun, inBothDirections } from './both-directions.js';
import type { EncodedCrop, Encoder } from './encoder.js';
import { nameAll } from './facts.js';
import type { Description, Exchange } from './location-statement.js';
import type { AlignedPair } from './pair.js';
import { nobody, type PeopleIn, peopleOfRegions } from './people.js';
import { showsPeopleApart } from './people-apart.js';
import { areOtherVehicles, isSeparateThing, knownNames, showsTwoThings, unseenRegion } from './separate-things.js';
import { type StatementEvidence, statementEvidence } from './statement-evidence.js';
import { describeLocations, MAX_FACTS, MAX_STATEMENTS, type RunCaptions } from './statements.js';

/** The parts of a pipeline that a description needs. */
export interface CaptionParts {
  readonly pool: InferencePool;
  readonly encoder: Encoder;
}

export interface Wanted {
  readonly bundle: Bundle;
  /** a statement per location, for as many as a camera's changes need */
  readonly statements: boolean;
  /** share of the things said that must be true, 0..1 */
  readonly truth: number;
  /** between the frames; null: it is not known */
  readonly secondsApart: number | null;
}

interface NamedCrop {
  readonly crop: EncodedCrop;
  readonly names: PairNames;
}

export interface DescribedPair {
  readonly description: Description;
  /** of the locations, the strongest first */
  readonly crops: readonly EncodedCrop[];
  readonly peopleIn: PeopleIn;
  /** absent of a bundle that names nothing */
  readonly evidence?: () => readonly StatementEvidence[];
}

/** The crops of the locations, with their names; no names of a bundle that names nothing. */
interface NamedCrops {
  /** before two things at one location became two */
  readonly located: readonly EncodedCrop[];
  readonly crops: readonly EncodedCrop[];
  readonly names: readonly PairNames[] | undefined;
  readonly exchanges: readonly Exchange<EncodedCrop>[];
}

/**
 * Encodes the region crops, and runs the caption graph on them.
 * @param regions the strongest first
 */
export async function describePair(
  parts: CaptionParts,
  { bundle, statements, truth }: Wanted,
  pair: AlignedPair,
  regions: readonly MapRegion[],
): Promise<DescribedPair> {
  const { pool } = parts;
  const { manifest } = bundle;
  const glanced = manifest.glance?.regions ?? 0;
  const most = Math.max(glanced, statements ? MAX_STATEMENTS : MAX_FACTS);
  const { before, after } = pair.features;
  const exchange =
    manifest.names &&
    (pair.difference.exchanged ?? pool.run('difference', manifest.name, { before: after, after: before }));
  const [{ located, crops, names, exchanges }, reversed] = await allSettledOrThrow(
    nameCrops(parts, bundle, pair, regions, most),
    Promise.resolve(exchange),
  );
  const strongest = located.slice(0, glanced);
  const run: RunCaptions<EncodedCrop> = (sets, clauses) =>
    runCaptions(pool, manifest, pair.difference, reversed, sets, clauses);
  if (names === undefined) {
    return { description: await describeLocations(crops, strongest, run, manifest), crops, peopleIn: nobody };
  }
  const words = manifest.names as Names;
  const known = { ...knownNames(names, words), beings: beingsOf(crops, names, words), exchanges };
  const [description, peopleIn] = await allSettledOrThrow(
    describeLocations(crops, strongest, run, manifest, known),
    peopleOfRegions(pool, bundle, pair.frames, crops, names),
  );
  const { calibration, kinds } = manifest;
  const arePeopleApart = (region: MapRegion) => showsPeopleApart(pair.frames, region);
  const wording = { names: words, calibration: calibration.facts, kinds, truth, peopleIn, arePeopleApart };
  const named = nameAll(description, names, wording);
  return { description: named, crops, peopleIn, evidence: () => statementEvidence(description, named, names, kinds) };
}

/**
 * @param reversed of the exchanged pair; undefined: one direction of time is enough
 * @param sets of crops, one row each
 * @param clauses per set, most clauses that its row needs; a graph that cannot end earlier writes all
 */
async function runCaptions(
  pool: InferencePool,
  { name, kinds, graphs }: Bundle['manifest'],
  given: PairMemory,
  reversed: PairMemory | undefined,
  sets: readonly (readonly EncodedCrop[])[],
  clauses: readonly number[],
): Promise<CaptionRun[]> {
  const inputs = (of: PairMemory, crops: readonly (readonly RegionCropFeatures[])[]) =>
    crops.map((row) => ({ memory: of.memory, kindLogits: of.kindLogits, crops: row }));
  if (reversed === undefined) return pool.run('caption', name, inputs(given, sets));
  const crops = [...new Set(sets.flat())];
  const exchange = (crop: EncodedCrop) => ({ ...crop, before: crop.after, after: crop.before });
  const outputs =
    graphs.statements === undefined || crops.length === 0
      ? await pool.run('caption', name, [
          ...inputs(given, sets),
          ...inputs(
            reversed,
            sets.map((row) => row.map(exchange)),
          ),
        ])
      : await pool.run('statements', name, {
          given: { memory: given.memory, kindLogits: given.kindLogits },
          exchanged: { memory: reversed.memory, kindLogits: reversed.kindLogits },
          crops,
          sets: sets.map((row) => row.map((crop) => crops.indexOf(crop))),
          clauses,
        });
  return sets.map((_, i) =>
    inBothDirections(outputs[i] as CaptionOutput, outputs[sets.length + i] as CaptionOutput, kinds),
  );
}

/** The crops of at most `most` locations; two things at one location are two (separate-things.ts). */
async function nameCrops(
  { pool, encoder }: CaptionParts,
  bundle: Bundle,
  { frames }: AlignedPair,
  regions: readonly MapRegion[],
  most: number,
): Promise<NamedCrops> {
  const { manifest } = bundle;
  const { glance, names: words } = manifest;
  const crops = await encoder.encodeCrops(bundle, frames, regions, most);
  if (words === undefined || glance === null || crops.length === 0) {
    return { located: crops, crops, names: undefined, exchanges: [] };
  }
  const names = await pool.run('name', manifest.name, crops);
  const candidates = crops.map((crop, i) => ({ crop, names: names[i] as PairNames }));
  const examined = candidates.map((one): readonly MapRegion[] => {
    if (showsTwoThings(one.crop, one.names, words)) return one.crop.regions;
    const part = unseenRegion(one.crop, one.names, words) ?? partOfOtherFrame(one.crop, regions, crops);
    return part === undefined ? [] : [part];
  });
  const alone = examined.flat();
  if (alone.length === 0) return { located: crops, crops, names, exchanges: [] };
  const more = await encoder.encodeThese(
    bundle,
    frames,
    alone.map((region) => cropOfRegion(region, frames.before, glance)),
  );
  const moreNames = await pool.run('name', manifest.name, more);
  const of = (region: MapRegion): NamedCrop => {
    const at = alone.indexOf(region);
    return { crop: more[at] as EncodedCrop, names: moreNames[at] as PairNames };
  };
  const kept = candidates.flatMap((one, i): NamedCrop[] => {
    const [part, ...others] = examined[i] as readonly MapRegion[];
    if (part === undefined) return [one];
    if (others.length > 0) return [part, ...others].map(of);
    if (!isSeparateThing(part, of(part).names, one.names, words)) return [one];
    const rest = one.crop.regions.filter((region) => region !== part);
    return [{ ...one, crop: { ...one.crop, regions: rest, object: unionOf(rest) } }, of(part)];
  });
  const separated = kept.map(({ crop }) => crop);
  const exchanges = exchangesOf(candidates, separated, words);
  return { located: crops, crops: separated, names: kept.map((one) => one.names), exchanges };
}

/** Locations of one vehicle before and another one after, if each of them has a crop of its own. */
function exchangesOf(
  located: readonly NamedCrop[],
  separated: readonly EncodedCrop[],
  words: Names,
): Exchange<EncodedCrop>[] {
  return located.flatMap(({ crop: around, names: { before, after } }) => {
    const cropOf = (side: Side) =>
      separated.findIndex(
        ({ regions: [region, ...others] }) =>
          region?.side === side && others.length === 0 && around.regions.includes(region),
      );
    const exchange = { around, before: cropOf('before'), after: cropOf('after') };
    const isExchange = around.regions.length === 2 && exchange.before >= 0 && exchange.after >= 0;
    return isExchange && areOtherVehicles(before, after, words) ? [exchange] : [];
  });
}

const unionOf = (regions: readonly MapRegion[]): Box => regions.map(({ box }) => box).reduce(union);
