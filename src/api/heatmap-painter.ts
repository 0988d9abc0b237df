/** Renderer of heatmaps as PNG pictures over their frame. */
import pLimit from 'p-limit';
import type { Heatmap, RgbImage } from '../base/images.js';
import { decodeToFit } from '../frames/decode.js';
import type { DecodeLimits } from '../frames/header.js';
import sharp, { type Sharp } from '../frames/sharp.js';
import { renderOutline } from '../heatmaps/outline.js';
import { renderGray, renderLayer } from '../heatmaps/render.js';

export type Style = 'outline' | 'overlay' | 'gray';

/** Longer side of a picture, in pixels: enough for a screen. */
const MAX_SIDE = 1280;
/**
 * Pixels to which the map is enlarged here, by splines that are smooth at that size. The image library enlarges it
 * further, outside of the event loop.
 */
const LAYER_PIXELS = 100_000;
/** Pictures rendered at a time; further ones wait, so that a page full of heatmaps does not fill the memory. */
const CONCURRENCY = 2;

export function createHeatmapPainter(limits: DecodeLimits) {
  const limit = pLimit(CONCURRENCY);
  return {
    /**
     * @param frame encoded bytes; they determine the size of the picture
     * @returns a PNG with the aspect ratio of the frame, EXIF orientation applied
     * @throws ScenedeltaError as decodeToFit, if the frame cannot be decoded
     */
    paint: (map: Heatmap, frame: Uint8Array, style: Style): Promise<Buffer> =>
      limit(async () => {
        const picture = await decodeToFit(frame, MAX_SIDE, { ...limits, field: 'frame' });
        const painted = await PAINTERS[style](map, picture);
        return painted.png({ compressionLevel: 4 }).toBuffer();
      }),
  };
}

const PAINTERS: Readonly<Record<Style, (map: Heatmap, picture: RgbImage) => Sharp | Promise<Sharp>>> = {
  outline: (map, picture) => sharpOf(renderOutline(map, picture)),
  overlay,
  gray,
};

const sharpOf = ({ data, width, height }: RgbImage): Sharp => sharp(data, { raw: { width, height, channels: 3 } });

async function overlay(map: Heatmap, picture: RgbImage): Promise<Sharp> {
  const size = layerSize(map);
  const layer = await sharp(renderLayer(map, size.width, size.height), { raw: { ...size, channels: 4 } })
    .resize({ width: picture.width, height: picture.height, fit: 'fill', kernel: 'cubic' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return sharpOf(picture)
    .composite([{ input: layer.data, raw: { width: layer.info.width, height: layer.info.height, channels: 4 } }])
    .removeAlpha();
}

function gray(map: Heatmap, { width, height }: RgbImage): Sharp {
  const size = layerSize(map);
  return sharp(renderGray(map, size.width, size.height).data, { raw: { ...size, channels: 3 } })
    .resize({ width, height, fit: 'fill', kernel: 'cubic' })
    .toColourspace('b-w');
}

function layerSize({ width, height }: Heatmap): { width: number; height: number } {
  const factor = Math.max(1, Math.round(Math.sqrt(LAYER_PIXELS / (width * height))));
  return { width: width * factor, height: height * factor };
}
