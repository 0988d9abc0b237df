/**
 * The two captioners. Each makes, of an aligned pair and its changed regions, a sentence with the evidence for it. The
 * manifest says which one per bundle needs: with region crops (`glance`) it describes every changed location by itself;
 * without them it has one sentence about the full frame, and none of the parts that describe locations.
 */
import { mostProbableKind } from '../model/calibration.js';
import type { CaptionOutput } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import type { Check } from '../schemas/check.js';
import { composeChecked } from './checked-sentence.js';
import { type CaptionParts, type DescribedPair, describePair, type Wanted } from './describe.js';
import { farApart } from './far-apart.js';
import type { LocationFact, LocationStatement } from './location-statement.js';
import type { NamedCrop } from './named-crops.js';
import type { AlignedPair } from './pair.js';
import { tightThings } from './seen-things.js';
import { type ChangeSentence, composeSentence } from './sentence.js';

/** `crops` and `evidence` are those of the locations; a captioner of full frames has none. */
interface CaptionedChange extends Pick<DescribedPair, 'crops' | 'tightIn' | 'evidence' | 'notes'> {
  readonly captioned: ChangeSentence;
  /** absent of a bundle without a truth check */
  readonly check?: Check;
  /** how many of the crops the sentence was written from */
  readonly seenTogether: number;
  /** undefined of a captioner of full frames */
  readonly statements: readonly LocationStatement[] | undefined;
  /** undefined of a bundle that names nothing */
  readonly facts: readonly LocationFact[] | undefined;
}

/**
 * @param regions of the answer, the strongest first
 * @param crops of the regions with their names, if they are known already
 */
type CaptionPair = (
  parts: CaptionParts,
  wanted: Wanted,
  pair: AlignedPair,
  regions: readonly MapRegion[],
  crops?: readonly NamedCrop[],
) => Promise<CaptionedChange>;

export const captionerOf = ({ glance }: BundleManifest): CaptionPair =>
  glance === null ? captionFullFrame : captionLocations;

async function captionLocations(
  parts: CaptionParts,
  wanted: Wanted,
  pair: AlignedPair,
  regions: readonly MapRegion[],
  named?: readonly NamedCrop[],
): Promise<CaptionedChange> {
  const { manifest } = wanted.bundle;
  const { difference } = pair;
  const { description: described, ...shown } = await describePair(parts, wanted, pair, regions, named);
  const { crops, tightIn, evidence, notes } = shown;
  const description = { ...described, statements: farApart(described.statements, wanted.secondsApart) };
  const likely = mostProbableKind(description.joint?.kindLogits ?? difference.kindLogits, manifest.kinds);
  const composed = await composeChecked(description, likely, { crops, regions }, manifest, (shown, sentences) =>
    parts.pool.run('check', manifest.name, { ...difference, crops: shown, sentences }),
  );
  return {
    ...composed,
    crops,
    tightIn,
    notes,
    seenTogether: description.crops.length,
    statements: description.crops.length > 0 ? description.statements : undefined,
    facts: manifest.names === undefined ? undefined : description.statements.flatMap(({ facts }) => facts),
    ...(evidence === undefined ? {} : { evidence }),
  };
}

async function captionFullFrame(
  { pool }: CaptionParts,
  { bundle }: Wanted,
  { difference, frames }: AlignedPair,
  regions: readonly MapRegion[],
): Promise<CaptionedChange> {
  const { manifest } = bundle;
  const { memory, kindLogits } = difference;
  const [output] = await pool.run('caption', manifest.name, [{ memory, kindLogits, crops: [] }]);
  const joint = output as CaptionOutput;
  const likely = mostProbableKind(joint.kindLogits ?? kindLogits, manifest.kinds);
  const description = { joint, crops: [], statements: [] };
  return {
    captioned: composeSentence(description, likely, regions, manifest),
    crops: [],
    tightIn: (region) => tightThings(frames, region, []),
    notes: [],
    seenTogether: 0,
    statements: undefined,
    facts: undefined,
  };
}
