/** Contours of heatmaps, and their drawing. */
import type { Heatmap, RgbImage } from '../../src/base/images.js';
import { outlineOf, type Point, pathOf, type Ring } from '../../src/heatmaps/contour.js';
import { renderOutline } from '../../src/heatmaps/outline.js';

const mapOf = (width: number, height: number, value: (x: number, y: number) => number): Heatmap => ({
  width,
  height,
  data: Float32Array.from({ length: width * height }, (_, i) => value(i % width, Math.floor(i / width))),
});
/** Area by the shoelace formula, in fractions of the frame; negative for a hole. */
const areaOf = (ring: Ring): number =>
  ring.reduce((sum, [x, y], i) => {
    const [nextX, nextY] = ring[(i + 1) % ring.length] as Point;
    return sum + (nextX * y - x * nextY) / 2;
  }, 0);

describe('outlineOf', () => {
  it('has no ring if no value reaches the level', () => {
    expect(outlineOf(mapOf(8, 6, () => 0.49))).toEqual([]);
  });

  it('surrounds a block of cells closely', () => {
    const [ring = [], ...others] = outlineOf(mapOf(12, 8, (x, y) => (x >= 3 && x < 7 && y >= 2 && y < 5 ? 1 : 0)));
    expect(others).toEqual([]);
    const [xs, ys] = [ring.map(([x]) => x), ring.map(([, y]) => y)];
    expect(Math.min(...xs)).toBeCloseTo(3 / 12, 1);
    expect(Math.max(...xs)).toBeCloseTo(7 / 12, 1);
    expect(Math.min(...ys)).toBeCloseTo(2 / 8, 1);
    expect(Math.max(...ys)).toBeCloseTo(5 / 8, 1);
    expect(Math.abs(areaOf(ring))).toBeCloseTo((4 * 3) / 96, 1);
  });

  it('follows the border of the frame if the change touches it', () => {
    const [ring = []] = outlineOf(mapOf(8, 8, (x) => (x < 2 ? 1 : 0)));
    expect(Math.min(...ring.map(([x]) => x))).toBe(0);
    expect(Math.max(...ring.map(([, y]) => y))).toBe(1);
  });

  it('covers the whole frame if all values reach the level', () => {
    const [ring = []] = outlineOf(mapOf(5, 4, () => 0.9));
    expect(Math.abs(areaOf(ring))).toBeGreaterThan(0.98);
  });

  it('has a ring per thing, and one of the opposite direction around a hole', () => {
    const two = outlineOf(mapOf(16, 8, (x, y) => (y > 2 && y < 6 && (x === 3 || x === 11) ? 1 : 0)));
    expect(two.map((ring) => Math.sign(areaOf(ring)))).toEqual([1, 1]);
    const holed = outlineOf(mapOf(12, 12, (x, y) => (Math.max(Math.abs(x - 5.5), Math.abs(y - 5.5)) > 2 ? 1 : 0)));
    expect(holed.map((ring) => Math.sign(areaOf(ring))).sort()).toEqual([-1, 1]);
  });

  it.each([0.1, 0.5, 0.9])('has closed rings of at least three points at level %d of any map', (level) => {
    let seed = 1;
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    for (let run = 0; run < 20; run++) {
      const map = mapOf(9, 7, random);
      const inside = (area: number) => area >= -1e-9 && area <= 1 + 1e-9;
      const rings = outlineOf(map, level);
      expect(rings.every((ring) => ring.length >= 3)).toBe(true);
      // Without a gap in a ring, the areas (holes are negative) sum to a share of the frame.
      expect(inside(rings.reduce((sum, ring) => sum + areaOf(ring), 0))).toBe(true);
    }
  });
});

describe('pathOf', () => {
  it('draws closed curves in the given units', () => {
    const path = pathOf(outlineOf(mapOf(8, 8, (x, y) => (x === 4 && y === 4 ? 1 : 0))), 800, 400);
    expect(path).toMatch(/^M[\d.]+ [\d.]+(L[\d.]+ [\d.]+)+Z$/);
    const numbers = path.match(/[\d.]+/g)?.map(Number) ?? [];
    expect(Math.max(...numbers)).toBeLessThan(800);
    expect(Math.min(...numbers)).toBeGreaterThan(100);
  });

  it('is empty without rings', () => {
    expect(pathOf([], 10, 10)).toBe('');
  });
});

describe('renderOutline', () => {
  const frame: RgbImage = { width: 320, height: 160, data: new Uint8Array(320 * 160 * 3).fill(100) };
  const colourAt = ({ data, width }: RgbImage, x: number, y: number) =>
    [...data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)] as [number, number, number];
  const block = mapOf(16, 8, (x, y) => (x >= 4 && x < 8 && y >= 2 && y < 6 ? 1 : 0));

  it('equals the frame if nothing reaches the level, and does not write into its input', () => {
    expect(
      renderOutline(
        mapOf(8, 8, () => 0.2),
        frame,
      ).data,
    ).toEqual(frame.data);
    renderOutline(block, frame);
    expect(new Set(frame.data)).toEqual(new Set([100]));
  });

  it('draws a bright line with a dark edge around the block, tints its inside and leaves the rest', () => {
    const drawn = renderOutline(block, frame);
    const row = Array.from({ length: 320 }, (_, x) => colourAt(drawn, x, 80));
    const blues = row.map(([, , blue]) => blue);
    const bright = row.flatMap(([red, , blue], x) => (blue > 200 && red < 100 ? [x] : []));
    // The line crosses the row twice, near the left and the right side of the block.
    expect(bright.length).toBeGreaterThanOrEqual(2);
    expect(bright.every((x) => Math.abs(x - 80) < 6 || Math.abs(x - 160) < 6)).toBe(true);
    expect(bright.some((x) => x < 120) && bright.some((x) => x > 120)).toBe(true);
    expect(Math.min(...blues)).toBeLessThan(90);
    const [red, green, blue] = colourAt(drawn, 120, 80);
    expect(red).toBeGreaterThan(80);
    expect(green).toBeGreaterThan(105);
    expect(blue).toBeLessThan(130);
    expect(colourAt(drawn, 20, 80)).toEqual([100, 100, 100]);
    expect(colourAt(drawn, 120, 8)).toEqual([100, 100, 100]);
  });

  it('leaves a hole untinted', () => {
    const ring = mapOf(16, 8, (x, y) =>
      x >= 2 && x < 14 && y >= 1 && y < 7 && !(x > 5 && x < 10 && y > 2 && y < 5) ? 1 : 0,
    );
    const drawn = renderOutline(ring, frame);
    expect(colourAt(drawn, 160, 80)).toEqual([100, 100, 100]);
    expect(colourAt(drawn, 60, 80)).not.toEqual([100, 100, 100]);
  });
});
