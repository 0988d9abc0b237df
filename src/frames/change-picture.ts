/** Picture of a change or visit: the frame that shows it, with outlines of changes, as a JPEG of bounded size. */
import { type BlobStore, heatmapKey } from '../base/blobs.js';
import { ScenedeltaError } from '../base/errors.js';
import type { Heatmap, RgbImage, Side } from '../base/images.js';
import { decodeHeatmapData } from '../heatmaps/data.js';
import { renderOutline } from '../heatmaps/outline.js';
import type { ShownFrame } from '../schemas/change.js';
import type { Comparison } from '../schemas/comparison.js';
import { type DecodeLimits, decodeToFit } from './decode.js';
import { createFrameKeeper } from './keep.js';
import { type ComparedFrames, type Masks, servedFrame } from './served-frame.js';
import sharp from './sharp.js';

/** Longer side in px and JPEG quality, from the best to the smallest. */
const SIZES = [
  [1280, 80],
  [960, 70],
  [640, 60],
  [320, 50],
] as const;

interface Stored extends ComparedFrames {
  readonly comparison: Comparison;
}

export interface PictureDependencies {
  readonly results: { get(id: string): Promise<Stored | undefined> };
  readonly blobs: Pick<BlobStore, 'get' | 'put'>;
  readonly cameras: Masks;
  readonly decodeLimits: DecodeLimits;
}

export type PictureOf = ReturnType<typeof createPictures>;

export function createPictures(deps: PictureDependencies) {
  const keeper = createFrameKeeper(deps.blobs, deps.decodeLimits);
  /**
   * @param limit most bytes
   * @returns undefined if the frame is no longer kept, or no size fits
   * @throws ScenedeltaError if the stores cannot be reached
   */
  return async ({ comparison, side, outlined }: ShownFrame, limit: number): Promise<Buffer | undefined> => {
    const stored = await deps.results.get(comparison);
    if (stored === undefined) return undefined;
    const frame = await servedFrame(stored, side, deps, keeper);
    const bytes = await frame?.bytes();
    if (bytes === undefined) return undefined;
    const map = outlined ? await mapOf(stored, side, deps.blobs) : undefined;
    try {
      for (const [longest, quality] of SIZES) {
        const picture = await decodeToFit(bytes, longest, { ...deps.decodeLimits, field: 'frame' });
        const jpeg = await encoded(map === undefined ? picture : renderOutline(map, picture), quality);
        if (jpeg.byteLength <= limit) return jpeg;
      }
    } catch (thrown) {
      // A frame that cannot be decoded (any more) is no reason to keep the event back.
      if (!(thrown instanceof ScenedeltaError)) throw thrown;
    }
    return undefined;
  };
}

/** @returns undefined without maps: tampering is recognised without the model, and maps expire */
async function mapOf({ comparison }: Stored, side: Side, blobs: Pick<BlobStore, 'get'>): Promise<Heatmap | undefined> {
  if (comparison.model == null) return undefined;
  // The maps of a quiet frame are those of the frame that it equals.
  const bytes = await blobs.get(heatmapKey(comparison.camera_frame?.nothing_new_since?.comparison ?? comparison.id));
  return bytes === undefined ? undefined : decodeHeatmapData(bytes)[side];
}

const encoded = ({ data, width, height }: RgbImage, quality: number): Promise<Buffer> =>
  sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality })
    .toBuffer();
