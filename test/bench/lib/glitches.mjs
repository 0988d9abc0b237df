/** Damage of frames as cameras and decoders leave it, each of a share of the frame. */

const MACROBLOCK = 16;
const copy = ({ width, height, data }) => ({ width, height, data: Uint8Array.from(data) });
const onGrid = (value) => Math.max(MACROBLOCK, Math.round(value / MACROBLOCK) * MACROBLOCK);

/** The grid begins at the top, and the last row of macroblocks may be cut. */
const below = ({ width, height }, share) => ({
  left: 0,
  top: Math.floor(((1 - share) * height) / MACROBLOCK) * MACROBLOCK,
  right: width,
  bottom: height,
});

/** One slice of a picture: rows in its middle. */
function slice({ width, height }, share, random) {
  const rows = onGrid(share * height);
  const top = Math.min(onGrid(random.uniform(0, Math.max(0, height - rows - MACROBLOCK))), height - rows);
  return { left: 0, top, right: width, bottom: top + rows };
}

/** The right part of a view, as a recorder's card beside a picture. */
const beside = ({ width, height }, share) => ({
  left: width - onGrid(share * width),
  top: 0,
  right: width,
  bottom: height,
});

const fill =
  (colour, region = below) =>
  (image, share, random) => {
    const { left, top, right, bottom } = region(image, share, random);
    const out = copy(image);
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) out.data.set(colour, (y * image.width + x) * 3);
    }
    return out;
  };

/** The last good row is repeated down to the end. */
function smear(image, share) {
  const { top } = below(image, share);
  const out = copy(image);
  const row = image.width * 3;
  const last = image.data.slice((top - 1) * row, top * row);
  for (let y = top; y < image.height; y++) out.data.set(last, y * row);
  return out;
}

/** Macroblocks that show other places: two of three blocks of `share` of the frame. */
function blocks(image, share, random) {
  const { top } = below(image, share);
  const out = copy(image);
  const [columns, rows] = [image.width, image.height].map((length) => Math.floor(length / MACROBLOCK));
  for (let y = top; y < image.height; y += MACROBLOCK) {
    for (let x = 0; x < image.width; x += MACROBLOCK) {
      if (random.uniform(0, 1) > 2 / 3) continue;
      const [fromX, fromY] = [random.uniform(0, columns), random.uniform(0, rows)].map(Math.floor);
      const side = Math.min(MACROBLOCK, image.width - x);
      for (let line = 0; line < Math.min(MACROBLOCK, image.height - y); line++) {
        const from = ((fromY * MACROBLOCK + line) * image.width + fromX * MACROBLOCK) * 3;
        out.data.set(image.data.subarray(from, from + side * 3), ((y + line) * image.width + x) * 3);
      }
    }
  }
  return out;
}

/** name -> (image, share 0..1, random) => image */
export const GLITCHES = {
  grey: fill([128, 128, 128]),
  green: fill([0, 135, 0]),
  black: fill([0, 0, 0]),
  pink: fill([255, 90, 200]),
  'grey slice': fill([128, 128, 128], slice),
  'black beside': fill([0, 0, 0], beside),
  smear,
  blocks,
};
