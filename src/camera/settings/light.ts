/**
 * Light of a frame. The background model has one background per light, because a scene looks different in each. Pure.
 */
import type { RgbImage } from '../../base/images.js';

/** day: coloured and bright; dusk: coloured and dark; infrared: grey or of one tint, lit by the camera's own lamp. */
export const LIGHTS = ['day', 'dusk', 'infrared'] as const;
export type Light = (typeof LIGHTS)[number];

interface LightMeasure {
  /** mean of the Rec. 601 luma, 0..255 */
  readonly luma: number;
  /** mean difference between the largest and the smallest channel, 0..255 */
  readonly colour: number;
  /** mean deviation of a pixel's colour from the tint of the whole frame, 0..VARIETY_LIMIT */
  readonly variety: number;
}

/** Hysteresis [enter, leave]: a light begins below the first value and ends at the second. Set by hand, not fitted. */
const INFRARED_COLOUR = [3, 6] as const;
/**
 * A frame by infrared is grey, or has one tint, so that its variety is 0 up to rounding. Grey scenes in daylight have
 * some: the greyest one of the development pairs, a concrete car park, has 1.6 to 2.8 (seen before the values were
 * set).
 */
const INFRARED_VARIETY = [0.5, 0.75] as const;
/** Limits the weight of a coloured clock or logo over an infrared frame, which covers about 1 % of it. */
const VARIETY_LIMIT = 16;
const DUSK_LUMA = [45, 60] as const;
/** Every fourth pixel of every fourth row: thousands of samples are enough for a mean. */
const STRIDE = 4;

/** Black pixels are excluded, because privacy masks are black. The loops run per pixel: no lists. */
export function measureLight({ data, width, height }: RgbImage): LightMeasure {
  const most = Math.ceil(width / STRIDE) * Math.ceil(height / STRIDE);
  const [redness, blueness] = [new Int16Array(most), new Int16Array(most)];
  let [luma, colour, count] = [0, 0, 0];
  for (let y = 0; y < height; y += STRIDE) {
    for (let at = y * width * 3, end = at + width * 3; at < end; at += STRIDE * 3) {
      const r = data[at] as number;
      const g = data[at + 1] as number;
      const b = data[at + 2] as number;
      if (r + g + b === 0) continue;
      luma += 0.299 * r + 0.587 * g + 0.114 * b;
      colour += Math.max(r, g, b) - Math.min(r, g, b);
      redness[count] = r - g;
      blueness[count++] = b - g;
    }
  }
  // The median, because a few coloured pixels do not tint a frame.
  const [red, blue] = [medianOf(redness, count), medianOf(blueness, count)];
  let variety = 0;
  for (let i = 0; i < count; i++) {
    const deviation = Math.max(Math.abs((redness[i] as number) - red), Math.abs((blueness[i] as number) - blue));
    variety += Math.min(deviation, VARIETY_LIMIT);
  }
  const share = Math.max(1, count);
  return { luma: luma / share, colour: colour / share, variety: variety / share };
}

const LEVELS = 255;

/** @param values -LEVELS..LEVELS, of which the first `count` are read @returns 0 of no values */
function medianOf(values: Int16Array, count: number): number {
  const counts = new Uint32Array(2 * LEVELS + 1);
  for (let i = 0; i < count; i++) {
    const at = (values[i] as number) + LEVELS;
    counts[at] = (counts[at] as number) + 1;
  }
  let below = 0;
  const middle = counts.findIndex((of) => {
    below += of;
    return below > count >> 1;
  });
  return middle < 0 ? 0 : middle - LEVELS;
}

/** @param previous light of the frame before; null for the first frame */
export function lightOf({ luma, colour, variety }: LightMeasure, previous: Light | null): Light {
  const border = previous === 'infrared' ? 1 : 0;
  if (colour < INFRARED_COLOUR[border] && variety < INFRARED_VARIETY[border]) return 'infrared';
  return luma < DUSK_LUMA[previous === 'dusk' ? 1 : 0] ? 'dusk' : 'day';
}
