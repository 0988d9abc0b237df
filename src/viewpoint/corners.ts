/**
 * Corner detector (Shi-Tomasi) and 256-bit binary descriptors (BRIEF), on structure planes of half the working size.
 */
import { normalNumber, uniformNumbers } from '../base/random.js';
import { boxMean, type Plane, plane } from './planes.js';

/** Interleaved x, y in pixels of the plane. */
export interface Corners {
  readonly at: Float64Array;
  readonly count: number;
}

/** Pixels: corners are the best of each cell, so that one busy tree does not take all of them. */
const CELL = 12;
const PER_CELL = 2;
/** Pixels around a corner that descriptors and tracking read. */
const BORDER = 9;
/**
 * Least eigenvalue of the structure tensor, in squared structure units per pixel. Noise that survives the reduction
 * to half the working size stays below it. It only saves work: the corners must still agree on one motion.
 */
const LEAST_CORNERNESS = 0.01;

/** Shi-Tomasi corners (Good Features to Track, CVPR 1994) of a structure plane, at most PER_CELL per cell. */
export function findCorners(structure: Plane): Corners {
  const { width, height } = structure;
  const strength = cornerness(structure);
  const found: number[] = [];
  for (let top = BORDER; top < height - BORDER; top += CELL) {
    for (let left = BORDER; left < width - BORDER; left += CELL) {
      const [right, bottom] = [Math.min(left + CELL, width - BORDER), Math.min(top + CELL, height - BORDER)];
      found.push(...bestOf(strength, left, top, right, bottom));
    }
  }
  return { at: Float64Array.from(found), count: found.length / 2 };
}

/** The strongest peaks of one cell, strongest first. @returns interleaved x, y */
function bestOf(strength: Plane, left: number, top: number, right: number, bottom: number): number[] {
  const best: { x: number; y: number; value: number }[] = [];
  let least = LEAST_CORNERNESS;
  for (let y = top; y < bottom; y++) {
    for (let x = left, i = y * strength.width + left; x < right; x++, i++) {
      const value = strength.data[i] as number;
      if (value <= least || !isPeak(strength, x, y, value)) continue;
      best.push({ x, y, value });
      best.sort((a, b) => b.value - a.value);
      if (best.length > PER_CELL) best.pop();
      if (best.length === PER_CELL) least = best[PER_CELL - 1]?.value ?? least;
    }
  }
  return best.flatMap(({ x, y }) => [x, y]);
}

/** The smaller eigenvalue of the second moments of the gradients, over 5 x 5 pixels. */
function cornerness({ width, height, data }: Plane): Plane {
  const xx = plane({ width, height });
  const xy = plane({ width, height });
  const yy = plane({ width, height });
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1, i = y * width + 1; x < width - 1; x++, i++) {
      const gx = ((data[i + 1] as number) - (data[i - 1] as number)) / 2;
      const gy = ((data[i + width] as number) - (data[i - width] as number)) / 2;
      xx.data[i] = gx * gx;
      xy.data[i] = gx * gy;
      yy.data[i] = gy * gy;
    }
  }
  const [a, b, c] = [boxMean(xx, 2), boxMean(xy, 2), boxMean(yy, 2)];
  for (let i = 0; i < a.data.length; i++) {
    const mean = ((a.data[i] as number) + (c.data[i] as number)) / 2;
    const half = ((a.data[i] as number) - (c.data[i] as number)) / 2;
    const cross = b.data[i] as number;
    xx.data[i] = mean - Math.sqrt(half * half + cross * cross);
  }
  return xx;
}

function isPeak({ width, data }: Plane, x: number, y: number, value: number): boolean {
  for (let v = y - 2; v <= y + 2; v++) {
    for (let u = x - 2; u <= x + 2; u++) {
      const other = data[v * width + u] as number;
      // The first of equal neighbours in reading order is the peak.
      if (other > value || (other === value && (v < y || (v === y && u < x)))) return false;
    }
  }
  return true;
}

const WORDS = 8;
/** Pixels: standard deviation and limit of the Gaussian of the pattern. */
const SPREAD = 4;
const REACH = BORDER - 1;
/** Pairs of points around a corner; the order of their brightness is one bit (BRIEF, ECCV 2010, pattern G II). */
const PATTERN = drawPattern();

function drawPattern(): Int8Array {
  const random = uniformNumbers(0x5eed);
  const offset = () => Math.max(-REACH, Math.min(REACH, Math.round(normalNumber(random) * SPREAD)));
  return Int8Array.from({ length: WORDS * 32 * 4 }, offset);
}

/** @returns [count, 8] words of 32 bits. Not rotated: BRIEF tolerates the few degrees by which a fixed camera rolls. */
export function describe(structure: Plane, corners: Corners): Uint32Array {
  const { width, data } = boxMean(structure, 1);
  const out = new Uint32Array(corners.count * WORDS);
  for (let i = 0; i < corners.count; i++) {
    const centre = (corners.at[2 * i + 1] as number) * width + (corners.at[2 * i] as number);
    for (let word = 0, p = 0; word < WORDS; word++) {
      let bits = 0;
      for (let bit = 0; bit < 32; bit++, p += 4) {
        const a = data[centre + (PATTERN[p + 1] as number) * width + (PATTERN[p] as number)] as number;
        const b = data[centre + (PATTERN[p + 3] as number) * width + (PATTERN[p + 2] as number)] as number;
        bits = (bits << 1) | (a < b ? 1 : 0);
      }
      out[i * WORDS + word] = bits;
    }
  }
  return out;
}

/** Differing bits of 256; descriptors of one point under different light differ in fewer. */
const MOST_BITS = 80;

/** Mutual nearest neighbours by Hamming distance. @returns interleaved indices (before, after) */
export function matchDescriptions(before: Uint32Array, after: Uint32Array): Int32Array {
  const [n, m] = [before.length / WORDS, after.length / WORDS];
  const nearest = new Int32Array(n).fill(-1);
  const nearestBits = new Int32Array(n).fill(MOST_BITS + 1);
  const reverse = new Int32Array(m).fill(-1);
  const reverseBits = new Int32Array(m).fill(MOST_BITS + 1);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      const bits = hamming(before, i * WORDS, after, j * WORDS);
      if (bits < (nearestBits[i] as number)) {
        nearestBits[i] = bits;
        nearest[i] = j;
      }
      if (bits < (reverseBits[j] as number)) {
        reverseBits[j] = bits;
        reverse[j] = i;
      }
    }
  }
  const matches: number[] = [];
  for (let i = 0; i < n; i++) {
    const j = nearest[i] as number;
    if (j >= 0 && reverse[j] === i) matches.push(i, j);
  }
  return Int32Array.from(matches);
}

function hamming(a: Uint32Array, from: number, b: Uint32Array, to: number): number {
  let count = 0;
  for (let k = 0; k < WORDS; k++) {
    let x = (a[from + k] as number) ^ (b[to + k] as number);
    // Bits set in a word, summed in parallel (H. S. Warren, Hacker's Delight, 5-1).
    x -= (x >>> 1) & 0x55555555;
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
    count += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    if (count > MOST_BITS) return count;
  }
  return count;
}
