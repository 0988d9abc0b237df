/** Encoder: features of full frames, with a cache, and of region crops. */
import { createHash } from 'node:crypto';
import { FULL_FRAME, type Side } from '../base/images.js';
import type { DecodedFrame } from '../frames/decode.js';
import { mapSides } from '../frames/pair.js';
import { type FeatureCache, featureKey } from '../inference/feature-cache.js';
import type { InferencePool } from '../inference/pool.js';
import type { FeaturePair, Features, RegionCropFeatures } from '../model/graph-io.js';
import type { Bundle } from '../model/manifest.js';
import { chooseRegionCrops, type MapRegion, type RegionCrop, toPixels } from '../model/regions.js';

type FramePair = Readonly<Record<Side, DecodedFrame>>;

/** A region crop with its features. */
export type EncodedCrop = RegionCropFeatures & RegionCrop;

export class Encoder {
  readonly #pool: InferencePool;
  readonly #cache: FeatureCache;

  constructor(pool: InferencePool, cache: FeatureCache) {
    this.#pool = pool;
    this.#cache = cache;
  }

  /**
   * @param source encoded bytes of both frames, and their sha256 in hexadecimal if the caller has it: they are the
   *   cache's keys
   * @returns features of both full frames, at the input size of the bundle
   */
  encodePair(
    bundle: Bundle,
    frames: FramePair,
    source: Readonly<Record<Side, Uint8Array>> & Readonly<Partial<Record<`${Side}Key`, string>>>,
  ): Promise<FeaturePair> {
    return mapSides(async (side) => {
      // The lost rows of a cut frame have the pixels of the other one, which its key does not name.
      if (frames[side].lost !== null) return this.encodeFullFrame(bundle, frames[side]);
      const key = featureKey(source[`${side}Key`] ?? sha256(source[side]), frames[side], bundle.sha256);
      const cached = this.#cache.get(key);
      if (cached !== undefined) return cached;
      const features = await this.encodeFullFrame(bundle, frames[side]);
      this.#cache.set(key, features);
      return features;
    });
  }

  async encodeFullFrame({ manifest }: Bundle, frame: DecodedFrame): Promise<Features> {
    const { width, height } = manifest.input;
    const input = { frame, boxes: [toPixels(FULL_FRAME, frame)], width, height };
    const [features] = (await this.#pool.run('encode', manifest.name, input)) as [Features];
    return features;
  }

  /**
   * @param most number of locations
   * @returns features of the strongest locations in both frames, at the frames' own resolution; none if the bundle has
   *   no crops
   */
  async encodeCrops(
    bundle: Bundle,
    frames: FramePair,
    regions: readonly MapRegion[],
    most: number,
  ): Promise<EncodedCrop[]> {
    const { name, glance: rule } = bundle.manifest;
    if (rule === null) return [];
    const { size } = rule;
    const crops = chooseRegionCrops(regions, frames.before, { ...rule, regions: most });
    if (crops.length === 0) return [];
    const features = await mapSides((side) => {
      const boxes = crops.map(({ crop }) => toPixels(crop, frames[side]));
      return this.#pool.run('encode', name, { frame: frames[side], boxes, width: size, height: size });
    });
    return crops.map((crop, i) => ({
      ...crop,
      before: features.before[i] as Features,
      after: features.after[i] as Features,
    }));
  }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
