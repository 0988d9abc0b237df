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

/** Black pixels are excluded, because privacy masks are black. */
export function measureLight({ data, width, height }: RgbImage): LightMeasure {
  const luma: number[] = [];
  const colour: number[] = [];
  const redness: number[] = [];
  const blueness: number[] = [];
  for (let y = 0; y < height; y += STRIDE) {
    for (let x = 0; x < width; x += STRIDE) {
      const at = (y * width + x) * 3;
      const r = data[at] as number;
      const g = data[at + 1] as number;
      const b = data[at + 2] as number;
      if (r + g + b === 0) continue;
      luma.push(0.299 * r + 0.587 * g + 0.114 * b);
      colour.push(Math.max(r, g, b) - Math.min(r, g, b));
      redness.push(r - g);
      blueness.push(b - g);
    }
  }
  // The median, because a few coloured pixels do not tint a frame.
  const [red, blue] = [median(redness), median(blueness)];
  const deviations = redness.map((value, i) =>
    Math.min(Math.max(Math.abs(value - red), Math.abs((blueness[i] as number) - blue)), VARIETY_LIMIT),
  );
  return { luma: mean(luma), colour: mean(colour), variety: mean(deviations) };
}

/** 0 of no values */
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** 0 of no values */
const median = (values: readonly number[]): number =>
  Int16Array.from(values).sort()[Math.floor(values.length / 2)] ?? 0;

/** @param previous light of the frame before; null for the first frame */
export function lightOf({ luma, colour, variety }: LightMeasure, previous: Light | null): Light {
  const border = previous === 'infrared' ? 1 : 0;
  if (colour < INFRARED_COLOUR[border] && variety < INFRARED_VARIETY[border]) return 'infrared';
  return luma < DUSK_LUMA[previous === 'dusk' ? 1 : 0] ? 'dusk' : 'day';
}
