import { readFileSync } from 'node:fs';
import type { RgbImage } from '../../src/base/images.js';
import { fullFrame, type PixelBox, resizeNormalised } from '../../src/model/preprocess.js';

interface Golden {
  readonly width: number;
  readonly height: number;
  readonly cases: readonly {
    readonly name: string;
    readonly width: number;
    readonly height: number;
    readonly box: [number, number, number, number] | null;
    readonly pixels: readonly number[];
  }[];
}
/** Written by make-resize-golden.py with Pillow. */
const golden = JSON.parse(readFileSync(new URL('../fixtures/resize-golden.json', import.meta.url), 'utf8')) as Golden;

const UNIT = { mean: [0, 0, 0], std: [1, 1, 1] } as const;

/** The image of make-resize-golden.py. */
function gradient(width: number, height: number): RgbImage {
  const data = new Uint8Array(width * height * 3);
  for (let i = 0; i < data.length; i++) {
    const [c, x, y] = [i % 3, Math.floor(i / 3) % width, Math.floor(i / 3 / width)];
    data[i] = (x * x * 7 + y * y * 13 + x * y * (c + 3) + c * 91) % 256;
  }
  return { width, height, data };
}

describe('resizeNormalised against Pillow', () => {
  const image = gradient(golden.width, golden.height);

  it.each(golden.cases)('$name, to the bit', ({ width, height, box, pixels }) => {
    const area: PixelBox = box === null ? fullFrame(image) : { x: box[0], y: box[1], width: box[2], height: box[3] };
    const out = new Float32Array(3 * width * height);
    resizeNormalised(image, area, width, height, UNIT, out);
    expect(pixels).toHaveLength(out.length);
    const planar = Float32Array.from(
      out,
      (_, i) => (pixels[(i % (width * height)) * 3 + Math.floor(i / (width * height))] as number) / 255,
    );
    expect(out).toEqual(planar);
  });
});

describe('resizeNormalised', () => {
  const flat: RgbImage = { width: 40, height: 30, data: new Uint8Array(40 * 30 * 3) };
  for (let i = 0; i < flat.data.length; i++) flat.data[i] = [51, 102, 204][i % 3] as number;

  it('subtracts the mean and divides by the deviation, channel by channel', () => {
    const out = new Float32Array(3 * 4);
    resizeNormalised(flat, fullFrame(flat), 2, 2, { mean: [0.2, 0.1, 0.3], std: [1, 0.5, 0.25] }, out);
    const expected = [0, 0.6, 2];
    out.forEach((value, i) => {
      expect(value).toBeCloseTo(expected[Math.floor(i / 4)] as number, 5);
    });
  });

  it('does not change the frame', () => {
    const copy = Uint8Array.from(flat.data);
    resizeNormalised(flat, fullFrame(flat), 8, 8, UNIT, new Float32Array(192));
    expect(flat.data).toEqual(copy);
  });

  it.each([
    ['starts left of the image', { x: -1, y: 0, width: 5, height: 5 }],
    ['ends below the image', { x: 0, y: 26, width: 5, height: 5 }],
    ['is empty', { x: 3, y: 3, width: 0, height: 5 }],
    ['is not a number', { x: Number.NaN, y: 3, width: 5, height: 5 }],
  ])('refuses a box that %s, with the box and the size of the image', (_, box) => {
    expect(() => resizeNormalised(flat, box, 2, 2, UNIT, new Float32Array(12))).toThrow(/x, y, width, height.*40x30/);
  });

  it('refuses an output of another length', () => {
    expect(() => resizeNormalised(flat, fullFrame(flat), 2, 2, UNIT, new Float32Array(11))).toThrow(
      'out has 11 values, expected 12 (3 x 2 x 2)',
    );
  });
});
