/**
 * The part of the difference of two previews that light and a shaking mast explain: gain, offset and a shift below
 * about a pixel, fitted to all cells by least squares.
 */
import { type CellGradients, LEVEL } from './preview.js';

export interface Explained {
  /** of the light, in levels: the largest absolute prediction of gain and offset over the counted cells */
  readonly light: number;
  /** preview pixels */
  readonly shift: number;
  /** the part of the difference that they leave, per cell, units of 1/16 level */
  readonly residual: Float32Array;
}

/** A cell whose difference lies further from the median one does not take part in the fit, in levels. */
const OUTLIER = 16;
/** Weight of the squared shift, so that a flat scene has none. */
const RIDGE = 1;
const UNKNOWNS = 4;
type Unknowns = [offset: number, gain: number, x: number, y: number];

/**
 * @param differences of the cell means, current minus examined, units of 1/16 level
 * @param means of the examined preview
 * @param counted 1 per cell that counts; null: all count
 */
export function explain(
  differences: Int16Array,
  means: Int16Array,
  gradients: CellGradients,
  counted: Uint8Array | null,
): Explained {
  const cells = { differences, means, gradients, counted };
  const normal = Float64Array.from(normalOf(means, gradients));
  const motion = solve(normal, rightSide(cells, medianOf(differences, counted), normal));
  const residual = new Float32Array(differences.length);
  const light = subtractPrediction(cells, motion, residual);
  return { light: light / LEVEL, shift: Math.hypot(motion[2], motion[3]), residual };
}

interface Cells {
  readonly differences: Int16Array;
  readonly means: Int16Array;
  readonly gradients: CellGradients;
  readonly counted: Uint8Array | null;
}

/** @returns the right side of the normal equations, from which the cells that do not take part are taken out */
function rightSide(
  { differences, means, gradients, counted }: Cells,
  middle: number,
  normal: Float64Array,
): Float64Array {
  const right = new Float64Array(UNKNOWNS);
  for (let i = 0; i < differences.length; i++) {
    const difference = differences[i] as number;
    if ((counted !== null && counted[i] === 0) || Math.abs(difference - middle) > OUTLIER * LEVEL) {
      addCell(normal, -1, i, means, gradients);
      continue;
    }
    right[0] = (right[0] as number) + difference;
    right[1] = (right[1] as number) + gainAt(means, i) * difference;
    right[2] = (right[2] as number) - (gradients.x[i] as number) * difference;
    right[3] = (right[3] as number) - (gradients.y[i] as number) * difference;
  }
  return right;
}

/** @returns the largest absolute prediction of gain and offset over the counted cells, units of 1/16 level */
function subtractPrediction(
  { differences, means, gradients, counted }: Cells,
  [offset, gain, x, y]: Unknowns,
  residual: Float32Array,
): number {
  let light = 0;
  for (let i = 0; i < residual.length; i++) {
    const ofLight = offset + gain * gainAt(means, i);
    if (counted === null || counted[i] !== 0) light = Math.max(light, Math.abs(ofLight));
    const predicted = Math.fround(ofLight - x * (gradients.x[i] as number) - y * (gradients.y[i] as number));
    residual[i] = (differences[i] as number) - predicted;
  }
  return light;
}

const CENTRE = 128 * LEVEL;
const gainAt = (means: Int16Array, i: number): number => ((means[i] as number) - CENTRE) / CENTRE;

/** By the gradients of examined previews, of which each is compared with many frames. */
const known = new WeakMap<CellGradients, Float64Array>();

/** Normal equations of all cells. Their sums are exact, so that cells can be taken out of them again. */
function normalOf(means: Int16Array, gradients: CellGradients): Float64Array {
  const before = known.get(gradients);
  if (before !== undefined) return before;
  const normal = new Float64Array(UNKNOWNS * UNKNOWNS);
  for (let i = 0; i < means.length; i++) addCell(normal, 1, i, means, gradients);
  known.set(gradients, normal);
  return normal;
}

/** Adds a cell to the upper triangle of the normal equations, without an array per cell; sign -1 takes it out. */
function addCell(normal: Float64Array, sign: 1 | -1, i: number, means: Int16Array, gradients: CellGradients): void {
  const gain = gainAt(means, i);
  const [x, y] = [-(gradients.x[i] as number), -(gradients.y[i] as number)];
  normal[0] = (normal[0] as number) + sign;
  normal[1] = (normal[1] as number) + sign * gain;
  normal[2] = (normal[2] as number) + sign * x;
  normal[3] = (normal[3] as number) + sign * y;
  normal[5] = (normal[5] as number) + sign * gain * gain;
  normal[6] = (normal[6] as number) + sign * gain * x;
  normal[7] = (normal[7] as number) + sign * gain * y;
  normal[10] = (normal[10] as number) + sign * x * x;
  normal[11] = (normal[11] as number) + sign * x * y;
  normal[15] = (normal[15] as number) + sign * y * y;
}

/** Median by counting: the differences have few values. @returns 0 if no cell counts */
function medianOf(values: Int16Array, counted: Uint8Array | null): number {
  const reach = 256 * LEVEL;
  const counts = new Uint32Array(2 * reach + 1);
  let total = 0;
  for (let i = 0; i < values.length; i++) {
    if (counted !== null && counted[i] === 0) continue;
    const slot = (values[i] as number) + reach;
    counts[slot] = (counts[slot] as number) + 1;
    total++;
  }
  let seen = 0;
  for (let slot = 0; slot < counts.length; slot++) {
    seen += counts[slot] as number;
    if (2 * seen > total) return slot - reach;
  }
  return 0;
}

/** Cholesky decomposition of the ridged normal equations. */
function solve(upper: Float64Array, right: Float64Array): Unknowns {
  const n = UNKNOWNS;
  const lower = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = (upper[j * n + i] as number) + (i === j ? RIDGE : 0);
      for (let k = 0; k < j; k++) sum -= (lower[i * n + k] as number) * (lower[j * n + k] as number);
      lower[i * n + j] = i === j ? Math.sqrt(Math.max(sum, RIDGE)) : sum / (lower[j * n + j] as number);
    }
  }
  const result: Unknowns = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    let sum = right[i] as number;
    for (let k = 0; k < i; k++) sum -= (lower[i * n + k] as number) * (result[k] as number);
    result[i] = sum / (lower[i * n + i] as number);
  }
  for (let i = n - 1; i >= 0; i--) {
    let sum = result[i] as number;
    for (let k = i + 1; k < n; k++) sum -= (lower[k * n + i] as number) * (result[k] as number);
    result[i] = sum / (lower[i * n + i] as number);
  }
  return result;
}
