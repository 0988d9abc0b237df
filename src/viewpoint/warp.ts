/** Warps of frames into the view of the other one. Homographies are in fractions, from before to after. */
import type { RgbImage, Size } from '../base/images.js';
import { type Homography, IDENTITY, project, rescaled } from './homography.js';
import { type Plane, plane, type WorkingFrame } from './planes.js';
import { COLOUR_CELL } from './squares.js';

/**
 * Warps `after` into the view of `before` (bilinear). Pixels that `after` does not show are filled from `before`, so
 * that nothing differs there.
 * @param out receives the pixels; length = before.width * before.height * 3
 * @returns the image, and the share of it that `after` shows
 * @throws RangeError if `out` has another length
 */
export function warpToBefore(
  before: RgbImage,
  after: RgbImage,
  homography: Homography,
  out: Uint8Array,
): { readonly image: RgbImage; readonly valid: number } {
  const { width, height } = before;
  if (out.length !== width * height * 3)
    throw new RangeError(`out has ${out.length} bytes, expected ${width * height * 3} (${height} x ${width} x 3)`);
  let valid = 0;
  const pixels = after.data;
  const stride = after.width * 3;
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
      const x0 = Math.min(right - 1, u | 0); // u and v are not negative here, so that truncation rounds down
      const y0 = Math.min(bottom - 1, v | 0);
      // No destructuring here: it allocates, and this runs per pixel.
      const fx = u - x0;
      const fy = v - y0;
      const gx = 1 - fx;
      const gy = 1 - fy;
      const i = (y0 * after.width + x0) * 3;
      const j = i + stride;
      for (let c = 0; c < 3; c++) {
        const top = (pixels[i + c] as number) * gx + (pixels[i + c + 3] as number) * fx;
        const low = (pixels[j + c] as number) * gx + (pixels[j + c + 3] as number) * fx;
        out[to + c] = (top * gy + low * fy + 0.5) | 0;
      }
    }
  }
  return { image: { width, height, data: out }, valid: valid / (width * height) };
}

/**
 * Warps a working frame of `after` into the view of `before`; NaN outside the view of `after`. An unmoved frame is
 * returned unchanged.
 * @param homography null: the camera counts as unmoved
 * @param size of the luma of `before`
 */
export function warpFrame(after: WorkingFrame, homography: Homography | null, size: Size): WorkingFrame {
  const still = homography === null || movesLess(homography, UNMOVED / size.width);
  if (still && after.luma.width === size.width && after.luma.height === size.height) return after;
  const toAfter = rescaled(
    still || homography === null ? IDENTITY : homography,
    size.width,
    size.height,
    after.luma.width,
    after.luma.height,
  );
  const colour = (of: Plane) => warpPlane(of, COLOUR_CELL, toAfter, size);
  return {
    luma: warpPlane(after.luma, 1, toAfter, size),
    red: colour(after.red),
    green: colour(after.green),
    blue: colour(after.blue),
  };
}

/**
 * Bilinear. Positions up to one value beyond the edge take the edge, because a frame may have some pixels more than
 * whole cells.
 * @param cell working pixels per side of one value of the plane
 * @param toAfter of working pixels, whose corners (not centres) are at whole numbers
 * @param size in working pixels
 */
function warpPlane(source: Plane, cell: number, toAfter: Homography, { width, height }: Size): Plane {
  const out = plane({ width: Math.floor(width / cell), height: Math.floor(height / cell) });
  const pixels = source.data;
  const stride = source.width;
  const [right, bottom] = [source.width - 1, source.height - 1];
  const [a, b, c, d, e, f, g, h] = toAfter;
  for (let y = 0, to = 0; y < out.height; y++) {
    const py = (y + 0.5) * cell;
    for (let x = 0; x < out.width; x++, to++) {
      const px = (x + 0.5) * cell;
      const w = 1 / ((g * px + h * py + 1) * cell);
      const u = (a * px + b * py + c) * w - 0.5;
      const v = (d * px + e * py + f) * w - 0.5;
      if (!(u > -1 && v > -1 && u < right + 1 && v < bottom + 1)) {
        out.data[to] = Number.NaN;
        continue;
      }
      const x0 = u > 0 ? Math.min(right - 1, u | 0) : 0;
      const y0 = v > 0 ? Math.min(bottom - 1, v | 0) : 0;
      const [sx, sy] = [u - x0, v - y0];
      const i = y0 * stride + x0;
      const j = i + stride;
      const top = (pixels[i] as number) + sx * ((pixels[i + 1] as number) - (pixels[i] as number));
      const low = (pixels[j] as number) + sx * ((pixels[j + 1] as number) - (pixels[j] as number));
      out.data[to] = top + sy * (low - top);
    }
  }
  return out;
}

/** Working pixels: a smaller motion does not change the tiles. */
const UNMOVED = 0.25;
const movesLess = (h: Homography, most: number): boolean =>
  [0, 1, 2, 3].every((corner) => {
    const [x, y] = [corner & 1, corner >> 1];
    const p = project(h, x, y);
    return Math.hypot(p.x - x, p.y - y) < most;
  });
