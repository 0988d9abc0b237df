/** Description of a changed pair: its region crops, the witnesses about them, and the statements of its events. */

import { type Box, union } from '../base/images.js';
import { allSettledOrThrow } from '../frames/pair.js';
import type { InferencePool } from '../inference/pool.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { CaptionOutput, PairMemory, PairNames, RegionCropFeatures } from '../model/graph-io.js';
import type { Bundle } from '../model/manifest.js';
import { cropOfRegion, type MapRegion, partOfOtherFrame } from '../model/regions.js';
import { decodedStatements } from './decoded-statements.js';
import type { EncodedCrop, Encoder } from './encoder.js';
import { chosenEvents, possibleEvents } from './events.js';
import { statementsOf } from './facts.js';
import { type JudgeEvidence, judgeEvidence } from './judge-evidence.js';
import { linksOf } from './links.js';
import type { Description } from './location-statement.js';
import type { AlignedPair } from './pair.js';
import { detectPeople } from './people.js';
import { type TightThing, tightThings } from './seen-things.js';
import { isSeparateThing, showsTwoThings, unseenRegion } from './separate-things.js';
import { thingsOf } from './things.js';
import { witnessOf } from './witness.js';

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

/** Bound of the cost: a row of a run of the caption graph takes 4 ms (`npm run bench:model`). */
const MAX_STATEMENTS = 6;
/** Number of locations that have facts, if no statements were asked for. */
const MAX_FACTS = 5;

export interface DescribedPair {
  readonly description: Description;
  /** of the locations, the strongest first */
  readonly crops: readonly EncodedCrop[];
  /** the things of a region as the pixels show them */
  readonly tightIn: (region: MapRegion) => readonly TightThing[];
  /** absent of a bundle that names nothing */
  readonly evidence?: () => JudgeEvidence;
  /** what could not be examined, for the answer's notes */
  readonly notes: readonly string[];
}

/** The crops of the locations, with their names. */
interface NamedCrops {
  /** before two things at one location became two */
  readonly located: readonly EncodedCrop[];
  readonly crops: readonly EncodedCrop[];
  readonly names: readonly PairNames[];
}

/**
 * Encodes the region crops, asks the witnesses about them, and judges what happened.
 * @param regions the strongest first
 */
export async function describePair(
  parts: CaptionParts,
  { bundle, statements, truth }: Wanted,
  pair: AlignedPair,
  regions: readonly MapRegion[],
): Promise<DescribedPair> {
  const { pool, encoder } = parts;
  const { manifest } = bundle;
  const { names: words, judge, calibration } = manifest;
  const most = Math.max(manifest.glance?.regions ?? 0, statements ? MAX_STATEMENTS : MAX_FACTS);
  const tightIn = (region: MapRegion) => tightThings(pair.frames, region, []);
  if (words === undefined || judge === undefined) {
    const crops = await encoder.encodeCrops(bundle, pair.frames, regions, most);
    return { description: await decodedDescription(pool, bundle, pair, crops), crops, tightIn, notes: [] };
  }
  const { before, after } = pair.features;
  const exchange = pair.difference.exchanged ?? pool.run('difference', manifest.name, { before: after, after: before });
  const [{ located, crops, names }, exchanged] = await allSettledOrThrow(
    nameCrops(parts, bundle, pair, regions, most),
    Promise.resolve(exchange),
  );
  const [witnesses, detected] = await allSettledOrThrow(
    askCaptioner(pool, bundle, pair.difference, exchanged, crops),
    detectPeople(
      pool,
      bundle,
      pair.frames,
      crops.flatMap((crop) => crop.regions),
    ),
  );
  const things = thingsOf(pair.frames, crops, names, witnesses, detected, words, judge);
  const links = linksOf(things.all, pair.frames.after.width / pair.frames.after.height, judge);
  const possible = possibleEvents(things.all, links, judge);
  const wording = { names: words, calibration: calibration.facts as FactCalibration, truth, levels: judge.levels };
  return {
    description: {
      joint: null,
      crops: located.slice(0, manifest.glance?.regions).map(({ crop }) => crop),
      statements: statementsOf(chosenEvents(possible, judge), wording),
    },
    crops,
    tightIn: (region) => tightThings(pair.frames, region, things.people.get(region) ?? []),
    evidence: () => judgeEvidence(things, links, possible, words),
    notes:
      detected.failure === null
        ? []
        : [`the detector of people failed (${detected.failure}): the other witnesses describe the change`],
  };
}

/** Words of the caption graph about each crop alone, in both directions of time. */
async function askCaptioner(
  pool: InferencePool,
  { manifest }: Bundle,
  given: PairMemory,
  exchanged: PairMemory,
  crops: readonly EncodedCrop[],
) {
  if (crops.length === 0) return [];
  const { name, graphs } = manifest;
  const exchange = (crop: EncodedCrop) => ({ ...crop, before: crop.after, after: crop.before });
  const row = ({ memory, kindLogits }: PairMemory, crop: RegionCropFeatures) => ({ memory, kindLogits, crops: [crop] });
  const outputs =
    graphs.statements === undefined
      ? await pool.run('caption', name, [
          ...crops.map((crop) => row(given, crop)),
          ...crops.map((crop) => row(exchanged, exchange(crop))),
        ])
      : await pool.run('statements', name, {
          given: { memory: given.memory, kindLogits: given.kindLogits },
          exchanged: { memory: exchanged.memory, kindLogits: exchanged.kindLogits },
          crops,
          sets: crops.map((_, i) => [i]),
          clauses: crops.map(() => 1),
        });
  return crops.map((crop, i) => witnessOf(outputs[i] as CaptionOutput, outputs[crops.length + i], crop, manifest));
}

/** The words of the caption graph, for a bundle that names nothing. */
async function decodedDescription(
  pool: InferencePool,
  { manifest }: Bundle,
  { difference }: AlignedPair,
  crops: readonly EncodedCrop[],
): Promise<Description> {
  const strongest = crops.slice(0, manifest.glance?.regions);
  const alone = crops.length > 1 ? crops.map((crop) => [crop]) : [];
  const { memory, kindLogits } = difference;
  const outputs = await pool.run(
    'caption',
    manifest.name,
    [strongest, ...alone].map((row) => ({ memory, kindLogits, crops: row })),
  );
  const joint = outputs[0] as CaptionOutput;
  const statements = decodedStatements(crops, crops.length > 1 ? outputs.slice(1) : outputs, manifest);
  return { joint, crops: strongest.map(({ crop }) => crop), statements };
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
  if (words === undefined || glance === null || crops.length === 0) return { located: crops, crops, names: [] };
  const names = await pool.run('name', manifest.name, crops);
  const candidates = crops.map((crop, i) => ({ crop, names: names[i] as PairNames }));
  const examined = candidates.map((one): readonly MapRegion[] => {
    if (showsTwoThings(one.crop, one.names, words)) return one.crop.regions;
    const part = unseenRegion(one.crop, one.names, words) ?? partOfOtherFrame(one.crop, regions, crops);
    return part === undefined ? [] : [part];
  });
  const alone = examined.flat();
  if (alone.length === 0) return { located: crops, crops, names };
  const more = await encoder.encodeThese(
    bundle,
    frames,
    alone.map((region) => cropOfRegion(region, frames.before, glance)),
  );
  const moreNames = await pool.run('name', manifest.name, more);
  const of = (region: MapRegion): { crop: EncodedCrop; names: PairNames } => {
    const at = alone.indexOf(region);
    return { crop: more[at] as EncodedCrop, names: moreNames[at] as PairNames };
  };
  const kept = candidates.flatMap((one, i) => {
    const [part, ...others] = examined[i] as readonly MapRegion[];
    if (part === undefined) return [one];
    if (others.length > 0) return [part, ...others].map(of);
    if (!isSeparateThing(part, of(part).names, one.names, words)) return [one];
    const rest = one.crop.regions.filter((region) => region !== part);
    return [{ ...one, crop: { ...one.crop, regions: rest, object: unionOf(rest) } }, of(part)];
  });
  return { located: crops, crops: kept.map(({ crop }) => crop), names: kept.map((one) => one.names) };
}

const unionOf = (regions: readonly MapRegion[]): Box => regions.map(({ box }) => box).reduce(union);
