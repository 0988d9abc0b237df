/**
 * Light of a frame. The background model has one background per light, because a scene looks different in each. Pure.
 */
import type { RgbImage } from '../images.js';

/** day: coloured and bright; dusk: coloured and dark; infrared: without colours, lit by the camera's own lamp. */
export const LIGHTS = ['day', 'dusk', 'infrared'] as const;
export type Light = (typeof LIGHTS)[number];

interface LightMeasure {
  /** mean of the Rec. 601 luma, 0..255 */
  readonly luma: number;
  /** mean difference between the largest and the smallest channel, 0..255 */
  readonly colour: number;
}

/** Hysteresis [enter, leave]: a light begins below the first value and ends at the second. Set by hand, not fitted. */
const INFRARED_COLOUR = [3, 6] as const;
const DUSK_LUMA = [45, 60] as const;
/** Every fourth pixel of every fourth row: thousands of samples are enough for a mean. */
const STRIDE = 4;

/** Black pixels are excluded, because privacy masks are black. */
export function measureLight({ data, width, height }: RgbImage): LightMeasure {
  let luma = 0;
  let colour = 0;
  let counted = 0;
  for (let y = 0; y < height; y += STRIDE) {
    for (let x = 0; x < width; x += STRIDE) {
      const at = (y * width + x) * 3;
      const r = data[at] as number;
      const g = data[at + 1] as number;
      const b = data[at + 2] as number;
      if (r + g + b === 0) continue;
      luma += 0.299 * r + 0.587 * g + 0.114 * b;
      colour += Math.max(r, g, b) - Math.min(r, g, b);
      counted++;
    }
  }
  return counted === 0 ? { luma: 0, colour: 0 } : { luma: luma / counted, colour: colour / counted };
}

/** @param previous light of the frame before; null for the first frame */
export function lightOf({ luma, colour }: LightMeasure, previous: Light | null): Light {
  if (colour < INFRARED_COLOUR[previous === 'infrared' ? 1 : 0]) return 'infrared';
  return luma < DUSK_LUMA[previous === 'dusk' ? 1 : 0] ? 'dusk' : 'day';
}
