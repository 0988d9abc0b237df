/**
 * Picture of a change or visit: the frame that shows it, with the outline of the change, beside a crop of the thing,
 * as a JPEG of bounded size.
 */
import { type BlobStore, heatmapKey } from '../base/blobs.js';
import { ScenedeltaError } from '../base/errors.js';
import { type Box, type Heatmap, type RgbImage, type Side, union } from '../base/images.js';
import { decodeHeatmapData } from '../heatmaps/data.js';
import { renderOutline } from '../heatmaps/outline.js';
import { sideBySide } from '../heatmaps/render.js';
import type { Comparison } from '../schemas/comparison.js';
import type { ShownFrame } from '../schemas/shown-change.js';
import { decodeToFit } from './decode.js';
import type { DecodeLimits } from './header.js';
import { createFrameKeeper } from './keep.js';
import { maskedMap } from './privacy-mask.js';
import { type ComparedFrames, type Masks, servedFrame } from './served-frame.js';
import sharp from './sharp.js';
import { partAround } from './thumbnail.js';

/** Longer side of the frame in px and JPEG quality, from the best to the smallest. */
const SIZES = [
  [1280, 80],
  [960, 70],
  [640, 60],
  [320, 50],
] as const;

/** Cells of a map beyond a box in which its outline may lie. */
const MARGIN = 1;
/** Height of a crop, as a share of the frame, from which the frame itself shows the thing as well. */
const LARGEST_CROP = 0.7;

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
  return async ({ comparison, side, outlined, boxes }: ShownFrame, limit: number): Promise<Buffer | undefined> => {
    const stored = await deps.results.get(comparison);
    if (stored === undefined) return undefined;
    const frame = await servedFrame(stored, side, deps, keeper);
    const bytes = await frame?.bytes();
    if (bytes === undefined) return undefined;
    const all = outlined ? await mapOf(stored, side, deps) : undefined;
    const map = all && boxes ? within(all, boxes) : all;
    try {
      for (const [longest, quality] of SIZES) {
        const picture = await decodeToFit(bytes, longest, { ...deps.decodeLimits, field: 'frame' });
        const drawn = map === undefined ? picture : renderOutline(map, picture);
        const jpeg = await encoded(boxes ? await withCrop(drawn, boxes.reduce(union)) : drawn, quality);
        if (jpeg.byteLength <= limit) return jpeg;
      }
    } catch (thrown) {
      // A frame that cannot be decoded (any more) is no reason to keep the event back.
      if (!(thrown instanceof ScenedeltaError)) throw thrown;
    }
    return undefined;
  };
}

/** @returns the map where it lies in one of the boxes; elsewhere it is 0 */
function within({ width, height, data }: Heatmap, boxes: readonly Box[]): Heatmap {
  const [across, down] = [MARGIN / width, MARGIN / height];
  const isInside = (x: number, y: number) =>
    boxes.some(
      (box) =>
        x >= box.x - across && x <= box.x + box.width + across && y >= box.y - down && y <= box.y + box.height + down,
    );
  const kept = data.map((value, i) =>
    isInside(((i % width) + 0.5) / width, (Math.floor(i / width) + 0.5) / height) ? value : 0,
  );
  return { width, height, data: kept };
}

/** @returns the picture beside a crop of the thing, which is as high; alone if the thing is large in it already */
async function withCrop(picture: RgbImage, box: Box): Promise<RgbImage> {
  const { width, height } = picture;
  const part = partAround(box, picture);
  if (part.height > LARGEST_CROP) return picture;
  const side = (share: number, size: number) => Math.max(1, Math.round(share * size));
  const crop = { width: side(part.width, width), height: side(part.height, height) };
  const left = Math.min(Math.floor(part.x * width), width - crop.width);
  const top = Math.min(Math.floor(part.y * height), height - crop.height);
  const across = side(height / crop.height, crop.width);
  const enlarged = await sharp(picture.data, { raw: { width, height, channels: 3 } })
    .extract({ left, top, ...crop })
    .resize(across, height, { fit: 'fill' })
    .raw()
    .toBuffer();
  return sideBySide(picture, { data: enlarged, width: across, height });
}

/** @returns undefined without maps: tampering is recognised without the model, and maps expire */
async function mapOf(
  { comparison }: Stored,
  side: Side,
  { blobs, cameras }: Pick<PictureDependencies, 'blobs' | 'cameras'>,
): Promise<Heatmap | undefined> {
  if (comparison.model == null) return undefined;
  // The maps of a quiet frame are those of the frame that it equals.
  const bytes = await blobs.get(heatmapKey(comparison.camera_frame?.nothing_new_since?.comparison ?? comparison.id));
  if (bytes === undefined) return undefined;
  return maskedMap(decodeHeatmapData(bytes)[side], await cameras.maskOf(comparison.camera));
}

const encoded = ({ data, width, height }: RgbImage, quality: number): Promise<Buffer> =>
  sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality })
    .toBuffer();
