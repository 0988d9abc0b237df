import fc from 'fast-check';
import { featureMatching, peakOf, pixelSubtraction } from '../../lab/figures/baselines.js';
import { MADE_NUISANCES, moveCamera, perturb } from '../../lab/figures/nuisances.js';
import { pointing, pointsInto, unionIou } from '../../lab/figures/pointing.js';
import type { Box, RgbImage } from '../../src/base/images.js';
import { seededRandom } from '../../src/base/random.js';
import { carryBox } from '../../src/viewpoint/carry.js';

/** A grey image with a brighter rectangle. */
function frameWith(box: Box | null, width = 96, height = 64): RgbImage {
  const data = new Uint8Array(width * height * 3).fill(90);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [u, v] = [(x + 0.5) / width, (y + 0.5) / height];
      if (box && u >= box.x && u < box.x + box.width && v >= box.y && v < box.y + box.height) {
        data.fill(210, (y * width + x) * 3, (y * width + x) * 3 + 3);
      }
    }
  }
  return { width, height, data };
}
const THING = { x: 0.625, y: 0.25, width: 0.1875, height: 0.3125 };
/** Centre of the light above the background, in fractions of the image. */
function centreOfLight({ width, height, data }: RgbImage): [number, number] {
  const sums = { light: 0, x: 0, y: 0 };
  for (let i = 0; i < width * height; i++) {
    const light = (data[i * 3] as number) - 90;
    sums.light += light;
    sums.x += (light * ((i % width) + 0.5)) / width;
    sums.y += (light * (Math.floor(i / width) + 0.5)) / height;
  }
  return [sums.x / sums.light, sums.y / sums.light];
}
const anyBox = fc.tuple(...Array.from({ length: 4 }, () => fc.integer({ min: 0, max: 10 }))).map(
  ([x = 0, y = 0, w = 0, h = 0]): Box => ({
    x: x / 20,
    y: y / 20,
    width: (w + 1) / 22,
    height: (h + 1) / 22,
  }),
);

describe('the pointing game', () => {
  const peak = (x: number, y: number, value = 0.9) => ({ x, y, value });
  const here = { regions: [], peak_before: peak(0.7, 0.4), peak_after: peak(0.1, 0.1) };

  it('counts the frames that show the thing, and no other', () => {
    const gone = { changed: true, boxes: { before: [THING], after: [] } };
    const moved = { changed: true, boxes: { before: [THING], after: [THING] } };
    expect(pointing([gone], [here]).game).toMatchObject({ hits: 1, of: 1 });
    expect(pointing([moved], [here]).game).toMatchObject({ hits: 1, of: 2 });
  });

  it('counts an empty or missing map as a miss', () => {
    expect(pointsInto(peak(0.7, 0.4, 0), [THING])).toBe(false);
    expect(pointsInto(null, [THING])).toBe(false);
    expect(pointsInto(peak(0.625, 0.25), [THING])).toBe(true);
  });

  it('requires empty maps of unchanged pairs in PG+, whatever the regions are', () => {
    const unchanged = { changed: false, boxes: { before: [], after: [] } };
    const quiet = { regions: [], peak_before: peak(0.5, 0.5, 0.49), peak_after: null };
    const { emptyWhenUnchanged, gamePlus, game } = pointing([unchanged, unchanged], [quiet, here]);
    expect(emptyWhenUnchanged).toMatchObject({ hits: 1, of: 2 });
    expect(gamePlus).toMatchObject({ hits: 1, of: 2 });
    expect(game.of).toBe(0);
  });

  it('goes with the overlap of areas, not of single boxes', () => {
    const [left, right] = [
      { x: 0, y: 0, width: 0.2, height: 0.4 },
      { x: 0.2, y: 0, width: 0.2, height: 0.4 },
    ];
    const around = { x: 0, y: 0, width: 0.4, height: 0.4 };
    expect(unionIou([left, right], [around])).toBeCloseTo(1, 12);
    expect(unionIou([left], [around])).toBeCloseTo(0.5, 12);
    expect(unionIou([left], [right])).toBe(0);
    expect(unionIou([left, left], [left])).toBe(1);
    fc.assert(
      fc.property(fc.array(anyBox, { maxLength: 3 }), fc.array(anyBox, { maxLength: 3 }), (a, b) => {
        expect(unionIou(a, b)).toBeCloseTo(unionIou(b, a), 12);
        expect(unionIou(a, a)).toBe(1);
        expect(unionIou(a, b)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('detectors without training', () => {
  it('subtraction has its peak at the difference, and scores 0 on equal frames', () => {
    const { score, peaks } = pixelSubtraction(frameWith(null), frameWith(THING));
    expect(score).toBeGreaterThan(0.01);
    expect(pointsInto(peaks.after, [THING])).toBe(true);
    expect(pixelSubtraction(frameWith(THING), frameWith(THING)).score).toBe(0);
  });

  it('subtraction compares frames of different sizes', () => {
    expect(pixelSubtraction(frameWith(THING), frameWith(THING, 384, 256)).score).toBeLessThan(1e-6);
  });

  it('matching ignores a shift within its radius', () => {
    // One channel per cell, so that every cell is unique.
    const map = (shift: number) => {
      const data = new Float32Array(6 * 6);
      for (let x = 0; x < 6; x++) data[((x + 6 - shift) % 6) * 6 + x] = 3;
      return { channels: 6, height: 1, width: 6, data };
    };
    const inner = (radius: number, shift: number) => featureMatching(map(0), map(shift), radius).score;
    expect(inner(0, 0)).toBeCloseTo(0, 6);
    expect(inner(0, 1)).toBeCloseTo(1, 6);
    expect(inner(5, 1)).toBeCloseTo(0, 6);
  });

  it('matching refuses maps of different shapes', () => {
    const map = (width: number) => ({ channels: 1, height: 1, width, data: new Float32Array(width) });
    expect(() => featureMatching(map(2), map(3), 1)).toThrow('feature maps are 1x1x2 and 1x1x3');
  });

  it('a peak is at the centre of its cell', () => {
    expect(peakOf({ width: 4, height: 2, data: Float32Array.of(0, 0, 0, 0, 0, 0, 7, 0) })).toEqual({
      x: 0.625,
      y: 0.75,
      value: 7,
    });
  });
});

describe('made nuisances', () => {
  it.each(MADE_NUISANCES)('%s is the same for the same pair, and different for another', (name) => {
    const given = frameWith(THING);
    const copy = given.data.slice();
    const [once, again, other] = [perturb(name, given, 'p1'), perturb(name, given, 'p1'), perturb(name, given, 'p2')];
    expect(again.homography).toEqual(once.homography);
    expect(Buffer.compare(again.image.data, once.image.data)).toBe(0);
    expect(Buffer.compare(given.data, copy)).toBe(0);
    expect([other.jpegQuality, Buffer.from(other.image.data).toString('base64')]).not.toEqual([
      once.jpegQuality,
      Buffer.from(once.image.data).toString('base64'),
    ]);
    expect(once.image.data.length).toBe(given.data.length);
  });

  it('infrared has no colour', () => {
    const { data } = perturb('ir', frameWith(THING), 'p').image;
    const pixels = Array.from({ length: data.length / 3 }, (_, i) => data.subarray(i * 3, i * 3 + 3));
    expect(pixels.filter(([r, g, b]) => r !== g || r !== b)).toHaveLength(0);
  });

  it('jitter moves the boxes with the frame', () => {
    const { image, homography } = perturb('jitter', frameWith(THING), 'p3');
    const moved = homography === null ? null : carryBox(THING, homography);
    if (moved === null) throw new Error('the thing left the frame');
    const [x, y] = centreOfLight(image);
    expect(Math.abs(x - (moved.x + moved.width / 2))).toBeLessThan(0.25 / image.width);
    expect(Math.abs(y - (moved.y + moved.height / 2))).toBeLessThan(0.25 / image.height);
    expect(unionIou([moved], [THING])).toBeLessThan(1);
    expect(unionIou([moved], [THING])).toBeGreaterThan(0.6);
  });

  it('a shift by whole pixels is exact, and repeats the edge', () => {
    const before = frameWith(THING);
    const shifted = moveCamera(before, [1, 0, 2 / before.width, 0, 1, 0, 0, 0, 1]);
    const at = (image: RgbImage, x: number, y: number) => image.data[(y * image.width + x) * 3];
    for (const [x, y] of [
      [0, 0],
      [1, 30],
      [59, 18],
      [61, 18],
      [62, 18],
      [95, 63],
    ] as const) {
      expect(at(shifted, x, y)).toBe(at(before, Math.max(0, x - 2), y));
    }
  });

  it('a box is cut at the frame, and null outside of it', () => {
    const right = (dx: number) => [1, 0, dx, 0, 1, 0, 0, 0, 1] as const;
    expect(carryBox(THING, right(0.3))?.width).toBeCloseTo(0.075, 12);
    expect(carryBox(THING, right(0.5))).toBeNull();
  });
});

it('seeded random numbers have the mean and variance of their distributions', () => {
  const random = seededRandom('x');
  const [flat, bell] = [
    Array.from({ length: 20_000 }, () => random.uniform(0, 1)),
    Array.from({ length: 20_000 }, random.normal),
  ];
  const mean = (values: number[]) => values.reduce((a, b) => a + b) / values.length;
  expect(mean(flat)).toBeCloseTo(0.5, 1);
  expect(mean(bell)).toBeCloseTo(0, 1);
  expect(mean(bell.map((z) => z * z))).toBeCloseTo(1, 1);
});
