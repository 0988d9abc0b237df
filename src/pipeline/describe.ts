/** Description of a changed pair: its region crops, the statements of the caption graph, and their names. */
import type { InferencePool } from '../inference/pool.js';
import type { Bundle } from '../model/manifest.js';
import type { Names } from '../model/naming.js';
import type { MapRegion } from '../model/regions.js';
import type { EncodedCrop, Encoder } from './encoder.js';
import { nameAll } from './facts.js';
import type { PipelineOptions } from './options.js';
import type { AlignedPair } from './pair.js';
import { type Description, describeLocations, MAX_FACTS, MAX_STATEMENTS } from './statements.js';

/** The parts of a pipeline that a description needs. */
export interface CaptionParts {
  readonly pool: InferencePool;
  readonly encoder: Encoder;
  readonly onDescribed: PipelineOptions['onDescribed'];
}

/** How a pair is to be described. */
interface Wanted {
  readonly bundle: Bundle;
  /** a statement per location, for as many as a camera's changes need */
  readonly statements: boolean;
  /** share of the things said that must be true, 0..1 */
  readonly truth: number;
}

/**
 * Encodes the region crops, and runs the caption graph on them.
 * @param regions the strongest first
 * @returns the description, and the crops of its locations, the strongest first
 */
export async function describePair(
  { pool, encoder, onDescribed }: CaptionParts,
  { bundle, statements, truth }: Wanted,
  { frames, difference: { memory, kindLogits } }: AlignedPair,
  regions: readonly MapRegion[],
): Promise<{ readonly description: Description; readonly crops: readonly EncodedCrop[] }> {
  const { manifest } = bundle;
  const together = manifest.glance?.regions ?? 0;
  const most = Math.max(together, statements ? MAX_STATEMENTS : MAX_FACTS);
  const crops = await encoder.encodeCrops(bundle, frames, regions, most);
  const run = (sets: readonly (readonly EncodedCrop[])[]) =>
    pool.run(
      'caption',
      manifest.name,
      sets.map((own) => ({ memory, kindLogits, crops: own })),
    );
  const { calibration, kinds } = manifest;
  const wording = { names: manifest.names as Names, calibration: calibration.facts, kinds, truth };
  const shown = manifest.names && pool.run('name', manifest.name, crops);
  const [description, names] = await Promise.all([describeLocations(crops, together, run, manifest), shown]);
  if (names === undefined) return { description, crops };
  onDescribed?.(description, names);
  return { description: nameAll(description, names, wording), crops };
}
