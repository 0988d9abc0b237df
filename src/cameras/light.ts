/** In what light a frame was taken: each has a background of its own, because nothing looks the same in another. Pure. */
import type { RgbImage } from '../images.js';

/** day: colours, bright; dusk: colours, dark; infrared: without colours, as cameras see by their own lamp. */
export const LIGHTS = ['day', 'dusk', 'infrared'] as const;
export type Light = (typeof LIGHTS)[number];

export interface LightMeasure {
  /** mean of the Rec. 601 luma, 0..255 */
  readonly luma: number;
  /** mean distance between the largest and the smallest channel, 0..255 */
  readonly colour: number;
}

/** A frame is called so below the first value, and no longer so above the second: between them it stays what it was. */
const INFRARED_COLOUR = [3, 6] as const;
const DUSK_LUMA = [45, 60] as const;
/** Every so many pixels in both directions: means of thousands of pixels are enough. */
const STRIDE = 4;

/** Black pixels are left out: a privacy mask says nothing of the light. */
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

/** @param previous the light of the frame before: what lies on a border does not flicker. */
export function lightOf({ luma, colour }: LightMeasure, previous: Light | null): Light {
  if (colour < INFRARED_COLOUR[previous === 'infrared' ? 1 : 0]) return 'infrared';
  return luma < DUSK_LUMA[previous === 'dusk' ? 1 : 0] ? 'dusk' : 'day';
}
