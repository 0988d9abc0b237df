/** The region crops of a pair, each with what the namer sees in both of its pictures. */
import type { Side } from '../base/images.js';
import type { DecodedFrame } from '../frames/decode.js';
import type { InferencePool } from '../inference/pool.js';
import type { Features, PairNames } from '../model/graph-io.js';
import type { Bundle } from '../model/manifest.js';
import type { Names } from '../model/naming.js';
import type { MapRegion } from '../model/regions.js';
import { namesInSetting, outdoors } from '../model/setting.js';
import type { EncodedCrop, Encoder } from './encoder.js';

export interface NamedCrop extends EncodedCrop {
  readonly names: PairNames;
}

/**
 * @param regions the strongest first
 * @param most number of locations
 * @returns the strongest locations; none of a bundle without crops
 */
export async function nameCrops(
  { pool, encoder }: { readonly pool: Pick<InferencePool, 'run'>; readonly encoder: Pick<Encoder, 'encodeCrops'> },
  bundle: Bundle,
  frames: Readonly<Record<Side, DecodedFrame>>,
  regions: readonly MapRegion[],
  most: number,
): Promise<NamedCrop[]> {
  const crops = await encoder.encodeCrops(bundle, frames, regions, most);
  const names = crops.length === 0 ? [] : await pool.run('name', bundle.manifest.name, crops);
  return crops.map((crop, i) => ({ ...crop, names: names[i] as PairNames }));
}

/** @returns the crops that show one of the regions, with these regions alone */
export const cropsOf = (crops: readonly NamedCrop[], regions: readonly MapRegion[]): NamedCrop[] =>
  crops.flatMap((crop) => {
    const shown = regions.filter(({ side, box }) => crop.regions.some((one) => one.side === side && one.box === box));
    return shown.length === 0 ? [] : [{ ...crop, regions: shown }];
  });

/** @param frame features of a frame of the pair. @returns the crops with names as probable as its setting makes them */
export function inSetting(crops: readonly NamedCrop[], frame: Features, words: Names): readonly NamedCrop[] {
  if (words.setting === undefined) return crops;
  const outside = outdoors(frame, words.setting);
  return crops.map((crop) => {
    const { before, after } = crop.names;
    const names = { before: namesInSetting(before, outside, words), after: namesInSetting(after, outside, words) };
    return { ...crop, names };
  });
}
