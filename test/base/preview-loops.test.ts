/** Loops over the pixels of previews, beside plain ones: every size has rows that are no multiple of 16 bytes. */
import { halvePlane, meansOfCells, planesOfRgb } from '../../src/base/preview-loops.js';
import { uniformNumbers } from '../../src/base/random.js';

const SIZES = [
  [480, 270],
  [1, 1],
  [2, 3],
  [17, 16],
  [161, 91],
  [640, 361],
  [959, 2],
] as const;

/** Random bytes, among them many of the extremes. */
function noise(length: number): Uint8Array {
  const random = uniformNumbers(length);
  return Uint8Array.from({ length }, () => Math.max(0, Math.min(255, Math.round(random() * 600 - 170))));
}

const at = (bytes: Uint8Array, i: number) => bytes[i] as number;
const squares = (width: number, height: number) =>
  Array.from({ length: (width >> 1) * (height >> 1) }, (_, i) => {
    const first = 2 * Math.floor(i / (width >> 1)) * width + 2 * (i % (width >> 1));
    return [first, first + 1, first + width, first + width + 1];
  });

describe.each(SIZES)('%i x %i px', (width, height) => {
  it('planesOfRgb gives luma and the chroma of two by two pixels', () => {
    const rgb = noise(3 * width * height);
    const luma = Uint8Array.from({ length: width * height }, (_, i) =>
      Math.floor((77 * at(rgb, 3 * i) + 150 * at(rgb, 3 * i + 1) + 29 * at(rgb, 3 * i + 2)) / 256),
    );
    const chroma = (channel: number, factor: number) =>
      Uint8Array.from(squares(width, height), (square) => {
        const difference = square.reduce((sum, i) => sum + at(rgb, 3 * i + channel) - at(luma, i), 0);
        return 128 + Math.floor((factor * difference) / 1024);
      });
    const planes = planesOfRgb(rgb, { width, height });
    expect(planes.luma).toEqual(luma);
    expect(planes.chroma).toEqual({ blue: chroma(2, 144), red: chroma(0, 182) });
  });

  it('halvePlane gives rounded means', () => {
    const plane = noise(width * height);
    const out = new Uint8Array((width >> 1) * (height >> 1));
    halvePlane(plane, width, { width: width >> 1, height: height >> 1 }, out);
    const means = squares(width, height).map((square) =>
      Math.round(square.reduce((sum, i) => sum + at(plane, i), 0) / 4),
    );
    expect(out).toEqual(Uint8Array.from(means));
  });

  it('meansOfCells gives rounded means in fractions of a level, of cells of different sizes', () => {
    const luma = noise(width * height);
    const borders = (length: number) => Uint16Array.from(new Set([0, length >> 2, length >> 1, length]));
    const [xs, ys] = [borders(width), borders(height)];
    const expected: number[] = [];
    for (const [row, top] of ys.subarray(0, -1).entries()) {
      for (const [column, left] of xs.subarray(0, -1).entries()) {
        const [right, bottom] = [xs[column + 1] as number, ys[row + 1] as number];
        let sum = 0;
        for (let y = top; y < bottom; y++) for (let x = left; x < right; x++) sum += at(luma, y * width + x);
        expected.push(Math.round((16 * sum) / ((bottom - top) * (right - left))));
      }
    }
    expect(meansOfCells({ luma, width, height, source: { width, height } }, xs, ys, 16)).toEqual(
      Int16Array.from(expected),
    );
  });
});
