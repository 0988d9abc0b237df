/** Whether two frames show one place at all, by what the backbone sees of them. */
import type { Features } from './captioner.js';

/**
 * Median over the cells of the cosine between both frames' coarse features in that cell: about 0.9 where little changed, above
 * 0.4 where a car fills half of the frame, near 0.1 where two places or a covered lens are compared. The same numbers as
 * training/bundle/calibrate.py's `agreement`.
 * @param cells h * w of the coarse features
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
