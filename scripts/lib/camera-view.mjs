/** View of a shifted, rolled or zoomed camera: a part of a larger image. */
import { crop } from './images.mjs';

/** Fraction of the image's width, kept free on each side, so that a moved camera sees real pixels at its edges. */
export const MARGIN = 0.075;

/**
 * The centre of the image as seen by a camera that was shifted (pixels), rolled (degrees) and zoomed; `null` = not
 * moved.
 * @returns {{ image, homography }} homography: from the unmoved view to the moved one, both as fractions, row-major
 */
export function view(image, motion) {
  const margin = Math.round(MARGIN * image.width);
  const [width, height] = [image.width - 2 * margin, image.height - 2 * margin];
  if (motion === null)
    return { image: crop(image, margin, margin, width, height), homography: [1, 0, 0, 0, 1, 0, 0, 0, 1] };
  const { x = 0, y = 0, degrees = 0, zoom = 1 } = motion;
  const [cos, sin] = [zoom * Math.cos((degrees * Math.PI) / 180), zoom * Math.sin((degrees * Math.PI) / 180)];
  const [cx, cy] = [width / 2, height / 2];
  // (u, v) = R (p - c) + c + (x, y)
  const e = x + cx - cos * cx + sin * cy;
  const f = y + cy - sin * cx - cos * cy;
  const homography = [cos, (-sin * height) / width, e / width, (sin * width) / height, cos, f / height, 0, 0, 1];
  const data = new Uint8ClampedArray(width * height * 3);
  const determinant = cos * cos + sin * sin;
  for (let v = 0, to = 0; v < height; v++) {
    for (let u = 0; u < width; u++, to += 3) {
      const [du, dv] = [u + 0.5 - e, v + 0.5 - f];
      const px = (cos * du + sin * dv) / determinant - 0.5 + margin;
      const py = (-sin * du + cos * dv) / determinant - 0.5 + margin;
      bicubic(image, px, py, data, to);
    }
  }
  return { image: { width, height, data: new Uint8Array(data.buffer) }, homography };
}

/** Catmull-Rom, which hardly softens; beyond the image its edge is repeated. `out` clamps and rounds. */
function bicubic({ width, height, data }, x, y, out, to) {
  const [x0, y0] = [Math.floor(x), Math.floor(y)];
  const columns = catmullRom(x - x0, COLUMNS);
  const rows = catmullRom(y - y0, ROWS);
  let [r, g, b] = [0, 0, 0];
  for (let j = 0; j < 4; j++) {
    const row = Math.min(height - 1, Math.max(0, y0 - 1 + j)) * width;
    for (let i = 0; i < 4; i++) {
      const at = (row + Math.min(width - 1, Math.max(0, x0 - 1 + i))) * 3;
      const weight = columns[i] * rows[j];
      r += weight * data[at];
      g += weight * data[at + 1];
      b += weight * data[at + 2];
    }
  }
  out[to] = r;
  out[to + 1] = g;
  out[to + 2] = b;
}

const COLUMNS = new Float64Array(4);
const ROWS = new Float64Array(4);
function catmullRom(t, out) {
  out[0] = ((-t + 2) * t - 1) * t * 0.5;
  out[1] = ((3 * t - 5) * t * t + 2) * 0.5;
  out[2] = ((-3 * t + 4) * t + 1) * t * 0.5;
  out[3] = (t - 1) * t * t * 0.5;
  return out;
}

export function shiftMotion(image, random) {
  const length = random.uniform(2, 40) * (image.width / 640);
  const angle = random.uniform(0, 2 * Math.PI);
  return { x: length * Math.cos(angle), y: length * Math.sin(angle) };
}
export const rollMotion = (_, random) => ({ degrees: random.sign() * random.uniform(0.5, 5) });
export const zoomMotion = (_, random) => ({ zoom: 1 + random.sign() * random.uniform(0.015, 0.1) });

/** @returns before and after of a camera that was turned so far that both share less than a third of the view */
export function turnedHalf(image, random) {
  const width = Math.round(image.width * random.uniform(0.55, 0.62));
  const right = image.width - width;
  const [first, second] = random.sign() < 0 ? [0, right] : [right, 0];
  return {
    before: crop(image, first, 0, width, image.height),
    after: crop(image, second, 0, width, image.height),
  };
}
