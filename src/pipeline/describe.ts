/**
 * Captioner of a changed pair: its region crops, the statements about them, and the sentence. Of a bundle with a judge
 * the statements are those of judged events; of another one they are the caption graph's own words, and the sentence is
 * its sentence about the full frame and the strongest crops, if the bundle has any (`glance`).
 */
import type { Box } from '../base/images.js';
import { allSettledOrThrow } from '../frames/pair.js';
import type { InferencePool } from '../inference/pool.js';
import { mostProbableKind } from '../model/calibration.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { CaptionOutput, PairMemory, RegionCropFeatures } from '../model/graph-io.js';
import type { Bundle } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import type { Check } from '../schemas/check.js';
import type { EncodedCrop, Encoder } from './encoder.js';
import { chosenEvents, possibleEvents } from './events.js';
import { statementsOf } from './facts.js';
import { farApart } from './far-apart.js';
import { type JudgeEvidence, judgeEvidence } from './judge-evidence.js';
import { linksOf } from './links.js';
import type { Description } from './location-statement.js';
import { inSetting, type NamedCrop, nameCrops } from './named-crops.js';
import type { AlignedPair } from './pair.js';
import { detectPeople, MOST_EXAMINED } from './people.js';
import type { ChangeSentence } from './sentence.js';
import { thingsOf } from './things.js';
import { composeChecked } from './truth-check.js';
import { decodedStatements, witnessOf } from './witness.js';

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

/** Number of locations that have facts, if no statements were asked for. */
const MAX_FACTS = 5;

/** @param statements whether a statement per location is wanted. @returns number of locations that are described */
export const mostLocations = ({ manifest: { glance } }: Bundle, statements = false): number =>
  Math.max(glance?.regions ?? 0, statements ? MOST_EXAMINED : MAX_FACTS);

interface DescribedPair {
  readonly description: Description;
  /** of the locations, the strongest first; none of a bundle without region crops */
  readonly crops: readonly EncodedCrop[];
  /** per region, those whom the detector sees there */
  readonly people: ReadonlyMap<MapRegion, readonly Box[]>;
  /** absent of a bundle that names nothing */
  readonly evidence?: () => JudgeEvidence;
  /** what could not be examined, for the answer's notes */
  readonly notes: readonly string[];
}

interface CaptionedChange extends DescribedPair {
  readonly captioned: ChangeSentence;
  /** absent of a bundle without a truth check */
  readonly check?: Check;
}

/**
 * @param regions of the answer, the strongest first
 * @param named crops of the regions with their names, if they are known already
 */
export async function captionPair(
  parts: CaptionParts,
  wanted: Wanted,
  pair: AlignedPair,
  regions: readonly MapRegion[],
  named?: readonly NamedCrop[],
): Promise<CaptionedChange> {
  const { manifest } = wanted.bundle;
  const described = await describePair(parts, wanted, pair, regions, named);
  const { crops } = described;
  const statements = farApart(described.description.statements, wanted.secondsApart);
  const description = { ...described.description, statements };
  const kind = mostProbableKind(description.joint?.kindLogits ?? pair.difference.kindLogits, manifest.kinds);
  const composed = await composeChecked(description, kind, { crops, regions }, manifest, (shown, sentences) =>
    parts.pool.run('check', manifest.name, { ...pair.difference, crops: shown, sentences }),
  );
  return { ...described, ...composed, description };
}

/** Encodes the region crops, asks the witnesses about them, and judges what happened. Parameters as `captionPair`. */
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
  if (words === undefined || judge === undefined) {
    const crops = await encoder.encodeCrops(bundle, pair.frames, regions, most);
    return { description: await decodedDescription(pool, bundle, pair, crops), crops, people: new Map(), notes: [] };
  }
  const { before, after } = pair.features;
  const exchange = pair.difference.exchanged ?? pool.run('difference', manifest.name, { before: after, after: before });
  const [seen, exchanged] = await allSettledOrThrow(
    Promise.resolve(named ?? nameCrops(parts, bundle, pair.frames, regions, most)),
    Promise.resolve(exchange),
  );
  const crops = inSetting(seen, before, words);
  const located = crops.flatMap((crop) => crop.regions);
  const [witnesses, detected] = await allSettledOrThrow(
    askCaptioner(pool, bundle, pair.difference, exchanged, crops),
    detectPeople(pool, bundle, pair.frames, located),
  );
  const things = thingsOf(pair.frames, crops, witnesses, detected, words, judge);
  const links = linksOf(things.all, pair.frames.after.width / pair.frames.after.height, judge);
  const possible = possibleEvents(things.all, links, judge);
  const wording = { names: words, calibration: calibration.facts as FactCalibration, truth, levels: judge.levels };
  return {
    description: { joint: null, crops: [], statements: statementsOf(chosenEvents(possible, judge), wording) },
    crops,
    people: things.people,
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
  const outputs =
    graphs.statements === undefined
      ? await pool.run('caption', name, [
          ...crops.map((crop) => rowOf(given, [crop])),
          ...crops.map((crop) => rowOf(exchanged, [exchange(crop)])),
        ])
      : await pool.run('statements', name, {
          given: { memory: given.memory, kindLogits: given.kindLogits },
          exchanged: { memory: exchanged.memory, kindLogits: exchanged.kindLogits },
          crops,
          sets: crops.map((_, i) => [i]),
          clauses: crops.map(() => 1),
        });
  return crops.map((crop, i) =>
    witnessOf(outputs[i] as CaptionOutput, outputs[crops.length + i] as CaptionOutput, crop, manifest),
  );
}

const rowOf = ({ memory, kindLogits }: PairMemory, crops: readonly RegionCropFeatures[]) => ({
  ...{ memory, kindLogits, crops },
});

/** The words of the caption graph, for a bundle that names nothing. */
async function decodedDescription(
  pool: InferencePool,
  { manifest }: Bundle,
  { difference }: AlignedPair,
  crops: readonly EncodedCrop[],
): Promise<Description> {
  const strongest = crops.slice(0, manifest.glance?.regions);
  const alone = crops.length > 1 ? crops.map((crop) => [crop]) : [];
  const rows = [strongest, ...alone].map((shown) => rowOf(difference, shown));
  const outputs = await pool.run('caption', manifest.name, rows);
  const joint = outputs[0] as CaptionOutput;
  const statements = decodedStatements(crops, crops.length > 1 ? outputs.slice(1) : outputs, manifest);
  return { joint, crops: strongest.map(({ crop }) => crop), statements };
}
