/** Heatmaps as PNG pictures over their frame. */
import sharp from 'sharp';
import type { Config } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import { renderGray, renderOverlay } from '../heatmap-render.js';
import type { Heatmap, RgbImage } from '../images.js';

export const STYLES = ['overlay', 'gray'] as const;
export type Style = (typeof STYLES)[number];

/** Of the longer side: what a screen shows, and what keeps this thread free for other requests. */
const MAX_SIDE = 1280;
/** Pictures in the making; others wait, so that a page full of heatmaps does not fill the memory. */
const AT_ONCE = 2;

export interface HeatmapPainter {
  /**
   * @param frame encoded bytes; decides the picture's size
   * @returns a PNG of the frame's shape, EXIF orientation applied.
   * @throws ScenedeltaError 'image-unreadable' where the frame cannot be decoded.
   */
  paint(map: Heatmap, frame: Uint8Array, style: Style): Promise<Buffer>;
}

export function createHeatmapPainter(options: Pick<Config, 'pixelLimit'>): HeatmapPainter {
  // The pool's threads are for the file system too: one picture must not take them all, and nothing is drawn twice.
  sharp.concurrency(1);
  sharp.cache(false);
  const turn = limited(AT_ONCE);
  return {
    paint: (map, frame, style) =>
      turn(async () => {
        const picture = await decode(frame, options.pixelLimit);
        const painted =
          style === 'overlay' ? renderOverlay(map, picture) : renderGray(map, picture.width, picture.height);
        return encode(painted, style);
      }),
  };
}

async function decode(frame: Uint8Array, pixelLimit: number): Promise<RgbImage> {
  try {
    const { data, info } = await sharp(frame, { limitInputPixels: pixelLimit, pages: 1 })
      .autoOrient()
      .resize({ width: MAX_SIDE, height: MAX_SIDE, fit: 'inside', withoutEnlargement: true })
      .flatten()
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return { width: info.width, height: info.height, data };
  } catch (err) {
    throw new ScenedeltaError('image-unreadable', `The frame cannot be drawn: ${(err as Error).message}`, {
      cause: err,
    });
  }
}

function encode({ width, height, data }: RgbImage, style: Style): Promise<Buffer> {
  const image = sharp(data, { raw: { width, height, channels: 3 } });
  return (style === 'gray' ? image.toColourspace('b-w') : image).png({ compressionLevel: 4 }).toBuffer();
}

/** Runs at most `atOnce` tasks at a time, the others in the order they came. */
function limited(atOnce: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      // the place is handed on, not given back, where somebody waits for it
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
