/** Agreement of two frames' features: the measure by which they are taken for frames of one scene. */
import type { Features } from './graph-io.js';

/**
 * Median over the cells of the cosine between the coarse features of both frames. It is about 0.9 if little changed,
 * above 0.4 if a car fills half of the frame, and near 0.1 for two scenes or a covered lens. `agreement` of
 * training/bundle/calibrate.py computes the same numbers.
 * @param cells h * w of the coarse grid; the features are [Cc, h, w]
 * @returns -1..1
 */
export function agreement(before: Features, after: Features, cells: number): number {
  const channels = before.coarse.length / cells;
  const cosines = new Float32Array(cells);
  for (let cell = 0; cell < cells; cell++) {
    let dot = 0;
    let b2 = 0;
    let a2 = 0;
    for (let channel = 0; channel < channels; channel++) {
      const b = before.coarse[channel * cells + cell] as number;
      const a = after.coarse[channel * cells + cell] as number;
      dot += b * a;
      b2 += b * b;
      a2 += a * a;
    }
    cosines[cell] = dot / Math.max(Math.sqrt(b2 * a2), 1e-6);
  }
  cosines.sort();
  const middle = cells / 2;
  return Number.isInteger(middle)
    ? ((cosines[middle - 1] as number) + (cosines[middle] as number)) / 2
    : (cosines[Math.floor(middle)] as number);
}
