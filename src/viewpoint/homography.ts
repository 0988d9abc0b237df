/**
 * Homographies: row-major 3 x 3 with h[8] = 1. A homography maps a point of `before` to its position in `after`:
 * (u, v) = ((h0 x + h1 y + h2) / w, (h3 x + h4 y + h5) / w), w = h6 x + h7 y + 1.
 */
export type Homography = readonly [number, number, number, number, number, number, number, number, number];
export interface Point {
  readonly x: number;
  readonly y: number;
}

export const IDENTITY: Homography = [1, 0, 0, 0, 1, 0, 0, 0, 1];

export function project(h: Homography, x: number, y: number): Point {
  const w = h[6] * x + h[7] * y + h[8];
  return { x: (h[0] * x + h[1] * y + h[2]) / w, y: (h[3] * x + h[4] * y + h[5]) / w };
}

/** The Jacobian at (x, y): [du/dx, du/dy, dv/dx, dv/dy]. */
export function jacobian(h: Homography, x: number, y: number): readonly [number, number, number, number] {
  const w = h[6] * x + h[7] * y + h[8];
  const { x: u, y: v } = project(h, x, y);
  return [(h[0] - u * h[6]) / w, (h[1] - u * h[7]) / w, (h[3] - v * h[6]) / w, (h[4] - v * h[7]) / w];
}

/** @returns null if it has no inverse */
export function invert([a, b, c, d, e, f, g, h, i]: Homography): Homography | null {
  const [A, B, C] = [e * i - f * h, c * h - b * i, b * f - c * e];
  const [D, E, F] = [f * g - d * i, a * i - c * g, c * d - a * f];
  const [G, H, I] = [d * h - e * g, b * g - a * h, a * e - b * d];
  const determinant = a * A + b * D + c * G;
  if (!(Math.abs(determinant) > 1e-12) || Math.abs(I) < 1e-12) return null;
  return [A / I, B / I, C / I, D / I, E / I, F / I, G / I, H / I, 1];
}

/** The same map for scaled coordinates: those of `before` times (bx, by), those of `after` times (ax, ay). */
export function rescaled(h: Homography, bx: number, by: number, ax: number, ay: number): Homography {
  return [
    (h[0] * ax) / bx,
    (h[1] * ax) / by,
    h[2] * ax,
    (h[3] * ay) / bx,
    (h[4] * ay) / by,
    h[5] * ay,
    h[6] / bx,
    h[7] / by,
    h[8],
  ];
}

/** Correspondences: point i of `before` is at point i of `after`; coordinates interleaved x, y. */
export interface Pairs {
  readonly before: Float64Array;
  readonly after: Float64Array;
  readonly count: number;
}

/**
 * Weighted least squares of a similarity (shift, rotation, one scale), in closed form.
 * @param weights one per pair, >= 0
 * @returns null if the weighted points coincide
 */
export function fitSimilarity(pairs: Pairs, weights: Float64Array): Homography | null {
  let [sum, mx, my, mu, mv] = [0, 0, 0, 0, 0];
  for (let i = 0; i < pairs.count; i++) {
    const w = weights[i] as number;
    sum += w;
    mx += w * (pairs.before[2 * i] as number);
    my += w * (pairs.before[2 * i + 1] as number);
    mu += w * (pairs.after[2 * i] as number);
    mv += w * (pairs.after[2 * i + 1] as number);
  }
  if (!(sum > 0)) return null;
  mx /= sum;
  my /= sum;
  mu /= sum;
  mv /= sum;
  let [dot, cross, spread] = [0, 0, 0];
  for (let i = 0; i < pairs.count; i++) {
    const w = weights[i] as number;
    const x = (pairs.before[2 * i] as number) - mx;
    const y = (pairs.before[2 * i + 1] as number) - my;
    const u = (pairs.after[2 * i] as number) - mu;
    const v = (pairs.after[2 * i + 1] as number) - mv;
    dot += w * (x * u + y * v);
    cross += w * (x * v - y * u);
    spread += w * (x * x + y * y);
  }
  if (!(spread > 1e-9)) return null;
  const [c, s] = [dot / spread, cross / spread];
  return [c, -s, mu - c * mx + s * my, s, c, mv - s * mx - c * my, 0, 0, 1];
}

/**
 * Weighted least squares of all eight numbers (the linear form of Hartley and Zisserman, Multiple View Geometry, 4.1,
 * with normalised coordinates). For views that differ little its algebraic error equals the geometric one.
 * @param size of the plane, which normalises the coordinates
 * @returns null if the points do not determine it
 */
export function fitHomography(
  pairs: Pairs,
  weights: Float64Array,
  size: { readonly width: number; readonly height: number },
): Homography | null {
  const [cx, cy, s] = [size.width / 2, size.height / 2, 2 / Math.max(size.width, size.height)];
  const normal = new Float64Array(64);
  const right = new Float64Array(8);
  const row = new Float64Array(8);
  const add = (target: number, w: number) => {
    for (let i = 0; i < 8; i++) {
      const a = w * (row[i] as number);
      if (a === 0) continue;
      right[i] = (right[i] as number) + a * target;
      for (let j = i; j < 8; j++) normal[i * 8 + j] = (normal[i * 8 + j] as number) + a * (row[j] as number);
    }
  };
  for (let i = 0; i < pairs.count; i++) {
    const w = weights[i] as number;
    if (w === 0) continue;
    const x = ((pairs.before[2 * i] as number) - cx) * s;
    const y = ((pairs.before[2 * i + 1] as number) - cy) * s;
    const u = ((pairs.after[2 * i] as number) - cx) * s;
    const v = ((pairs.after[2 * i + 1] as number) - cy) * s;
    row.fill(0);
    row[0] = x;
    row[1] = y;
    row[2] = 1;
    row[6] = -u * x;
    row[7] = -u * y;
    add(u, w);
    row.fill(0);
    row[3] = x;
    row[4] = y;
    row[5] = 1;
    row[6] = -v * x;
    row[7] = -v * y;
    add(v, w);
  }
  for (let i = 1; i < 8; i++) for (let j = 0; j < i; j++) normal[i * 8 + j] = normal[j * 8 + i] as number;
  const solved = solve(normal, right);
  if (solved === null) return null;
  const [a, b, c, d, e, f, g, h] = solved as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  // N^-1 H N with N = scale s after moving the centre to the origin.
  const centred: Homography = [a, b, c / s, d, e, f / s, g * s, h * s, 1];
  return moveOrigin(centred, cx, cy);
}

/**
 * The homography between coordinates with their origin at (cx, cy), for coordinates with their origin at (0, 0):
 * T(c) H T(-c), with h[8] = 1.
 * @returns null if it maps the origin to infinity
 */
export function moveOrigin([a, b, c, d, e, f, g, h, i]: Homography, cx: number, cy: number): Homography | null {
  const rows = [
    [a + cx * g, b + cx * h, c + cx * i],
    [d + cy * g, e + cy * h, f + cy * i],
    [g, h, i],
  ] as const;
  const [p, q, r] = rows.map(([x, y, z]) => [x, y, z - x * cx - y * cy] as const) as [
    readonly [number, number, number],
    readonly [number, number, number],
    readonly [number, number, number],
  ];
  const w = r[2];
  if (!(Math.abs(w) > 1e-9)) return null;
  return [p[0] / w, p[1] / w, p[2] / w, q[0] / w, q[1] / w, q[2] / w, r[0] / w, r[1] / w, 1];
}

/** Gaussian elimination with partial pivoting; n = right.length. Overwrites both. @returns null if singular */
function solve(matrix: Float64Array, right: Float64Array): Float64Array | null {
  const n = right.length;
  const at = (r: number, c: number) => matrix[r * n + c] as number;
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let r = k + 1; r < n; r++) if (Math.abs(at(r, k)) > Math.abs(at(pivot, k))) pivot = r;
    if (!(Math.abs(at(pivot, k)) > 1e-10)) return null;
    if (pivot !== k) {
      for (let c = 0; c < n; c++) {
        const held = at(k, c);
        matrix[k * n + c] = at(pivot, c);
        matrix[pivot * n + c] = held;
      }
      const held = right[k] as number;
      right[k] = right[pivot] as number;
      right[pivot] = held;
    }
    for (let r = k + 1; r < n; r++) {
      const factor = at(r, k) / at(k, k);
      if (factor === 0) continue;
      for (let c = k; c < n; c++) matrix[r * n + c] = at(r, c) - factor * at(k, c);
      right[r] = (right[r] as number) - factor * (right[k] as number);
    }
  }
  for (let k = n - 1; k >= 0; k--) {
    let sum = right[k] as number;
    for (let c = k + 1; c < n; c++) sum -= at(k, c) * (right[c] as number);
    right[k] = sum / at(k, k);
  }
  return right;
}
