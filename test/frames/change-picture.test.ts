/** The picture of a change: the outline of its own place alone, beside a crop of it. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { frameKey, heatmapKey } from '../../src/base/blobs.js';
import type { Box, Heatmap } from '../../src/base/images.js';
import type { PrivacyMask } from '../../src/base/privacy-mask.js';
import { createPictures } from '../../src/frames/change-picture.js';
import { encodeHeatmapData } from '../../src/heatmaps/data.js';
import type { ShownFrame } from '../../src/schemas/shown-change.js';

const FRAME = { width: 640, height: 360 };
const THING: Box = { x: 0.1, y: 0.5, width: 0.1, height: 0.25 };
const OTHER: Box = { x: 0.7, y: 0.2, width: 0.1, height: 0.25 };
const shown: ShownFrame = { comparison: 'cmp_1', side: 'after', outlined: true };
const blobs = new Map<string, Uint8Array>();
/** The mask that the camera got after the frame was stored. */
let mask: PrivacyMask | null = null;

/** A map of both places. */
function mapOfBoth(): Heatmap {
  const [width, height] = [40, 40];
  const data = Float32Array.from({ length: width * height }, (_, i) => {
    const [x, y] = [((i % width) + 0.5) / width, (Math.floor(i / width) + 0.5) / height];
    const isIn = (box: Box) => x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
    return isIn(THING) || isIn(OTHER) ? 1 : 0;
  });
  return { width, height, data };
}
const pictures = createPictures({
  results: {
    get: async () =>
      ({
        comparison: { id: 'cmp_1', camera: 'gate', model: { name: 'm' } },
        frames: { before: null, after: { sha256: 'a', contentType: 'image/png', mask: null } },
      }) as never,
  },
  blobs: { get: async (name) => blobs.get(name), put: async () => {} },
  cameras: { maskOf: async () => mask },
  decodeLimits: { pixelLimit: 10_000_000 },
});
async function pixels(given: Partial<ShownFrame>) {
  const jpeg = await pictures({ ...shown, ...given }, 1_000_000);
  if (jpeg === undefined) throw new Error('a picture is made');
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true });
  /** Number of pixels of the outline's colour, a light cyan, in a part of the picture. */
  const outlined = ({ x, y, width, height }: Box) => {
    let count = 0;
    for (let row = Math.floor((y - 0.05) * FRAME.height); row < (y + height + 0.05) * FRAME.height; row++) {
      for (let column = Math.floor((x - 0.05) * FRAME.width); column < (x + width + 0.05) * FRAME.width; column++) {
        const [red = 0, , blue = 0] = data.subarray((row * info.width + column) * 3);
        if (blue - red > 40) count++;
      }
    }
    return count;
  };
  return { info, outlined };
}

beforeAll(async () => {
  const grey = sharp({ create: { ...FRAME, channels: 3, background: { r: 90, g: 90, b: 90 } } });
  blobs.set(frameKey('a'), await grey.png().toBuffer());
  const map = mapOfBoth();
  blobs.set(heatmapKey('cmp_1'), encodeHeatmapData({ before: map, after: map, words: { before: [], after: [] } }));
});

describe('The picture of a change', () => {
  it('outlines its own place alone, and shows it once more as a crop of the same height', async () => {
    const { info, outlined } = await pixels({ boxes: [THING] });
    expect(outlined(THING)).toBeGreaterThan(100);
    expect(outlined(OTHER)).toBe(0);
    // The crop is four wide and three high.
    expect([info.height, info.width]).toEqual([FRAME.height, FRAME.width + 4 + (FRAME.height * 4) / 3]);
  });

  it('is the frame with all outlines if the places are not known', async () => {
    const { info, outlined } = await pixels({});
    expect([outlined(THING) > 100, outlined(OTHER) > 100]).toEqual([true, true]);
    expect([info.width, info.height]).toEqual([FRAME.width, FRAME.height]);
  });

  it('draws no outline of what a later privacy zone hides', async () => {
    const { x, y, width, height } = THING;
    const corners: [number, number][] = [
      [x, y],
      [x + width, y],
      [x + width, y + height],
      [x, y + height],
    ];
    mask = { id: 'later', polygons: [corners] };
    const { outlined } = await pixels({}).finally(() => {
      mask = null;
    });
    expect([outlined(THING), outlined(OTHER) > 100]).toEqual([0, true]);
  });

  it('has no crop of a thing that fills the frame', async () => {
    const { info } = await pixels({ boxes: [{ x: 0.1, y: 0.1, width: 0.8, height: 0.8 }] });
    expect([info.width, info.height]).toEqual([FRAME.width, FRAME.height]);
  });
});
