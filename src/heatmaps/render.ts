/** Renderer of heatmaps at the size of a frame: values in, pixels out. */
import type { Heatmap, RgbImage } from '../base/images.js';
import { forEachRow } from './splines.js';

/** Opacity at value 1; the frame under it stays recognisable. */
const MAX_OPACITY = 0.7;

/**
 * @returns the colours of the map as RGBA, [height, width, 4], opaque in proportion to the value, so that zeros change
 *   nothing: a layer that an image library enlarges and composites over a frame, so that the calling thread does not
 *   visit every pixel
 */
export function renderLayer(map: Heatmap, width: number, height: number): Uint8Array {
  const data = new Uint8Array(width * height * 4);
  forEachRow(map, width, height, (y, values) => {
    for (let x = 0, at = y * width * 4; x < width; x++, at += 4) {
      const value = values[x] as number;
      const colour = ((value * 255 + 0.5) | 0) * 3;
      data[at] = COLOURS[colour] as number;
      data[at + 1] = COLOURS[colour + 1] as number;
      data[at + 2] = COLOURS[colour + 2] as number;
      data[at + 3] = MAX_OPACITY * value * 255 + 0.5;
    }
  });
  return data;
}

/** @returns the map alone, `width` x `height` pixels: black is 0, white is 1 */
export function renderGray(map: Heatmap, width: number, height: number): RgbImage {
  const data = new Uint8Array(width * height * 3);
  forEachRow(map, width, height, (y, values) => {
    let at = y * width * 3;
    for (const value of values) {
      const level = value * 255 + 0.5;
      data[at++] = level;
      data[at++] = level;
      data[at++] = level;
    }
  });
  return { width, height, data };
}

/** @returns both images side by side, aligned at the top, with `gap` black pixels between them */
export function sideBySide(left: RgbImage, right: RgbImage, gap = 4): RgbImage {
  const width = left.width + gap + right.width;
  const height = Math.max(left.height, right.height);
  const data = new Uint8Array(width * height * 3);
  const paste = (image: RgbImage, offset: number) => {
    for (let y = 0; y < image.height; y++) {
      const row = image.data.subarray(y * image.width * 3, (y + 1) * image.width * 3);
      data.set(row, (y * width + offset) * 3);
    }
  };
  paste(left, 0);
  paste(right, left.width + gap);
  return { width, height, data };
}

/**
 * 256 sRGB colours for values 0..1, [256, 3]: violet, red, orange, pale yellow. They are interpolated in OKLCh
 * (Ottosson 2020), where equal steps look equal; lightness only rises, so the scale can be read in greyscale and by
 * colour-blind people.
 */
const COLOURS = perceptualRamp([
  { at: 0, lightness: 0.3, chroma: 0.12, hue: 300 },
  { at: 0.35, lightness: 0.48, chroma: 0.2, hue: 355 },
  { at: 0.7, lightness: 0.7, chroma: 0.17, hue: 410 },
  { at: 1, lightness: 0.95, chroma: 0.11, hue: 465 },
]);

interface Anchor {
  readonly at: number;
  readonly lightness: number;
  readonly chroma: number;
  /** degrees; above 360 after the red, so that the interpolation passes it */
  readonly hue: number;
}

function perceptualRamp(anchors: readonly Anchor[]): Uint8Array {
  const colours = new Uint8Array(256 * 3);
  for (let level = 0; level < 256; level++) {
    const value = level / 255;
    const end = Math.max(
      1,
      anchors.findIndex((anchor) => anchor.at >= value),
    );
    const [from, to] = [anchors[end - 1] as Anchor, anchors[end] as Anchor];
    const t = (value - from.at) / (to.at - from.at);
    const mix = (a: number, b: number) => a + t * (b - a);
    colours.set(
      oklchToSrgb(mix(from.lightness, to.lightness), mix(from.chroma, to.chroma), mix(from.hue, to.hue)),
      level * 3,
    );
  }
  return colours;
}

/** https://bottosson.github.io/posts/oklab/ ; colours outside sRGB are clipped. */
function oklchToSrgb(lightness: number, chroma: number, hue: number): number[] {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return linear.map((value) => {
    const clipped = Math.min(Math.max(value, 0), 1);
    const encoded = clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055;
    return Math.round(encoded * 255);
  });
}
