/** Carries pictures, maps and boxes from one frame's view into the other's. Homographies are those of a Registration: fractions of the frames, before to after. */
import type { Box, Heatmap, RgbImage } from '../images.js';
import { type Homography, IDENTITY, invert, project } from './homography.js';
import { plane, type Size, type WorkingFrame } from './planes.js';

/**
 * `after` as the camera of `before` would have seen it (bilinear). What that camera saw and `after` does not show is filled with
 * `before`, where nothing differs then.
 * @param out receives the pixels; length = before.width * before.height * 3
 * @returns the picture, and the share of it that `after` shows
 */
export function warpToBefore(
  before: RgbImage,
  after: RgbImage,
  homography: Homography,
  out: Uint8Array,
): { readonly image: RgbImage; readonly valid: number } {
  const { width, height } = before;
  if (out.length !== width * height * 3)
    throw new RangeError(
      `out has ${out.length} bytes, expected ${width * height * 3} (${height} x ${width} x 3)`,
    );
  let valid = 0;
  const right = after.width - 1;
  const bottom = after.height - 1;
  const [a, b, e, p, q, r, g, h] = homography;
  for (let y = 0, to = 0; y < height; y++) {
    const py = (y + 0.5) / height;
    for (let x = 0; x < width; x++, to += 3) {
      const px = (x + 0.5) / width;
      const w = g * px + h * py + 1;
      const u = ((a * px + b * py + e) / w) * after.width - 0.5;
      const v = ((p * px + q * py + r) / w) * after.height - 0.5;
      if (!(u >= 0 && v >= 0 && u <= right && v <= bottom)) {
        for (let c = 0; c < 3; c++) out[to + c] = before.data[to + c] as number;
        continue;
      }
      valid++;
      const x0 = Math.min(right - 1, Math.floor(u));
      const y0 = Math.min(bottom - 1, Math.floor(v));
      const [fx, fy] = [u - x0, v - y0];
      const i = (y0 * after.width + x0) * 3;
      const j = i + after.width * 3;
      for (let c = 0; c < 3; c++) {
        const top = (after.data[i + c] as number) * (1 - fx) + (after.data[i + c + 3] as number) * fx;
        const low = (after.data[j + c] as number) * (1 - fx) + (after.data[j + c + 3] as number) * fx;
        out[to + c] = top * (1 - fy) + low * fy + 0.5;
      }
    }
  }
  return { image: { width, height, data: out }, valid: valid / (width * height) };
}

/**
 * A working frame of `after` in `before`'s view; NaN where `after` shows nothing. The frame itself where nothing moved.
 * @param homography null: as if the camera had not moved
 */
export function warpFrame(after: WorkingFrame, homography: Homography | null, size: Size): WorkingFrame {
  const { width, height } = size;
  const [sourceWidth, right, bottom] = [after.luma.width, after.luma.width - 1, after.luma.height - 1];
  if (homography === null || movesLess(homography, UNMOVED / width)) {
    if (right + 1 === width && bottom + 1 === height) return after;
    homography = IDENTITY;
  }
  const out = { red: plane(size), green: plane(size), blue: plane(size), luma: plane(size) };
  const [red, green, blue] = [after.red.data, after.green.data, after.blue.data];
  const [a, b, c, d, e, f, g, h] = homography;
  for (let y = 0, to = 0; y < height; y++) {
    const fy = (y + 0.5) / height;
    for (let x = 0; x < width; x++, to++) {
      const fx = (x + 0.5) / width;
      const w = 1 / (g * fx + h * fy + 1);
      const u = (a * fx + b * fy + c) * w * sourceWidth - 0.5;
      const v = (d * fx + e * fy + f) * w * (bottom + 1) - 0.5;
      if (!(u >= -0.5 && v >= -0.5 && u <= right + 0.5 && v <= bottom + 0.5)) {
        for (const target of [out.red, out.green, out.blue, out.luma]) target.data[to] = Number.NaN;
        continue;
      }
      const x0 = Math.min(right - 1, Math.max(0, Math.floor(u)));
      const y0 = Math.min(bottom - 1, Math.max(0, Math.floor(v)));
      const [sx, sy] = [u - x0, v - y0];
      const i = y0 * sourceWidth + x0;
      const j = i + sourceWidth;
      const [w00, w10, w01, w11] = [(1 - sx) * (1 - sy), sx * (1 - sy), (1 - sx) * sy, sx * sy];
      const mix = (source: Float32Array): number =>
        w00 * (source[i] as number) +
        w10 * (source[i + 1] as number) +
        w01 * (source[j] as number) +
        w11 * (source[j + 1] as number);
      const [R, G, B] = [mix(red), mix(green), mix(blue)];
      out.red.data[to] = R;
      out.green.data[to] = G;
      out.blue.data[to] = B;
      out.luma.data[to] = 0.299 * R + 0.587 * G + 0.114 * B;
    }
  }
  return out;
}

/** Working pixels of motion that no tile notices. */
const UNMOVED = 0.1;
const movesLess = (h: Homography, most: number): boolean =>
  [0, 1, 2, 3].every((corner) => {
    const [x, y] = [corner & 1, corner >> 1];
    const p = project(h, x, y);
    return Math.hypot(p.x - x, p.y - y) < most;
  });

/** A map over `before`'s view as one over `after`'s own frame (bilinear between cells, 0 where `after` sees beyond the map). */
export function carryMap(map: Heatmap, homography: Homography): Heatmap {
  const { width, height, data } = map;
  const out = { width, height, data: new Float32Array(data.length) };
  const back = invert(homography);
  if (back === null) return out;
  const at = (x: number, y: number): number =>
    data[Math.min(height - 1, Math.max(0, y)) * width + Math.min(width - 1, Math.max(0, x))] as number;
  for (let y = 0, to = 0; y < height; y++) {
    for (let x = 0; x < width; x++, to++) {
      const p = project(back, (x + 0.5) / width, (y + 0.5) / height);
      if (!(p.x >= 0 && p.y >= 0 && p.x <= 1 && p.y <= 1)) continue;
      const [u, v] = [p.x * width - 0.5, p.y * height - 0.5];
      const [x0, y0] = [Math.floor(u), Math.floor(v)];
      const [fx, fy] = [u - x0, v - y0];
      const top = at(x0, y0) * (1 - fx) + at(x0 + 1, y0) * fx;
      const low = at(x0, y0 + 1) * (1 - fx) + at(x0 + 1, y0 + 1) * fx;
      out.data[to] = top * (1 - fy) + low * fy;
    }
  }
  return out;
}

/** The box around where a box of `before`'s view is in `after`, cut at the frame; null where `after` does not show it. */
export function carryBox(box: Box, homography: Homography): Box | null {
  const corners = [0, 1, 2, 3].map((i) =>
    project(homography, box.x + (i & 1) * box.width, box.y + (i >> 1) * box.height),
  );
  const clamp = (value: number) => Math.min(1, Math.max(0, value));
  const [xs, ys] = [corners.map((p) => clamp(p.x)), corners.map((p) => clamp(p.y))];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - x, Math.max(...ys) - y];
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}
