/** Description of a changed pair: its region crops, the witnesses about them, and the statements of its events. */

import { allSettledOrThrow } from '../frames/pair.js';
import type { InferencePool } from '../inference/pool.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { CaptionOutput, PairMemory, RegionCropFeatures } from '../model/graph-io.js';
import type { Bundle } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import { decodedStatements } from './decoded-statements.js';
import type { EncodedCrop, Encoder } from './encoder.js';
import { chosenEvents, possibleEvents } from './events.js';
import { statementsOf } from './facts.js';
import { type JudgeEvidence, judgeEvidence } from './judge-evidence.js';
import { linksOf } from './links.js';
import type { Description } from './location-statement.js';
import { type NamedCrop, nameCrops } from './named-crops.js';
import type { AlignedPair } from './pair.js';
import { detectPeople } from './people.js';
import { seenIn, type TightThing, tightThings } from './seen-things.js';
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

/** @param statements whether a statement per location is wanted. @returns number of locations that are described */
export const mostLocations = ({ manifest: { glance } }: Bundle, statements = false): number =>
  Math.max(glance?.regions ?? 0, statements ? MAX_STATEMENTS : MAX_FACTS);

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

/**
 * Encodes the region crops, asks the witnesses about them, and judges what happened.
 * @param regions the strongest first
 * @param named crops of the regions with their names, if they are known already
 */
export async function describePair(
  parts: CaptionParts,
  { bundle, statements, truth }: Wanted,
  pair: AlignedPair,
  regions: readonly MapRegion[],
  named?: readonly NamedCrop[],
): Promise<DescribedPair> {
  const { pool, encoder } = parts;
  const { manifest } = bundle;
  const { names: words, judge, calibration } = manifest;
  const most = mostLocations(bundle, statements);
  const tightIn = (region: MapRegion) => tightThings(pair.frames, region, []);
  if (words === undefined || judge === undefined) {
    const crops = await encoder.encodeCrops(bundle, pair.frames, regions, most);
    return { description: await decodedDescription(pool, bundle, pair, crops), crops, tightIn, notes: [] };
  }
  const { before, after } = pair.features;
  const exchange = pair.difference.exchanged ?? pool.run('difference', manifest.name, { before: after, after: before });
  const [crops, exchanged] = await allSettledOrThrow(
    Promise.resolve(named ?? nameCrops(parts, bundle, pair.frames, regions, most)),
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
  const things = thingsOf(pair.frames, crops, witnesses, detected, words, judge);
  const links = linksOf(things.all, pair.frames.after.width / pair.frames.after.height, judge);
  const possible = possibleEvents(things.all, links, judge);
  const wording = { names: words, calibration: calibration.facts as FactCalibration, truth, levels: judge.levels };
  return {
    description: {
      joint: null,
      crops: crops.slice(0, manifest.glance?.regions).map(({ crop }) => crop),
      statements: statementsOf(chosenEvents(possible, judge), wording),
    },
    crops,
    tightIn: (region) => seenIn(pair.frames, region, things.people.get(region) ?? []),
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
