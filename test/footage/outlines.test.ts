import type { Side } from '../../src/base/images.js';
import { outlinesOf } from '../../src/footage/run/outlines.js';

const WIDTH = 32;
const HEIGHT = 18;

/** A map that is 1 in these boxes of cells. */
function mapOf(...boxes: (readonly [x: number, y: number, width: number, height: number])[]) {
  const data = new Float32Array(WIDTH * HEIGHT);
  for (const [left, top, width, height] of boxes) {
    for (let y = top; y < top + height; y++) data.fill(1, y * WIDTH + left, y * WIDTH + left + width);
  }
  return { width: WIDTH, height: HEIGHT, data };
}
const region = (side: Side, x: number, y: number, width: number, height: number) => ({
  side,
  box: { x: x / WIDTH, y: y / HEIGHT, width: width / WIDTH, height: height / HEIGHT },
});

describe('outlines of a change', () => {
  it('surround its regions on the side that shows them, and nothing else', () => {
    const heatmaps = { before: mapOf([2, 2, 4, 6]), after: mapOf([10, 3, 5, 8], [22, 9, 6, 6]) };
    const outlines = outlinesOf(heatmaps, [region('after', 10, 3, 5, 8)]);
    expect(outlines.map(({ side }) => side)).toEqual(['after']);
    const xs = outlines.flatMap(({ points }) => points.map(([x]) => x * WIDTH));
    const ys = outlines.flatMap(({ points }) => points.map(([, y]) => y * HEIGHT));
    for (const [value, edge] of [
      [Math.min(...xs), 10],
      [Math.max(...xs), 15],
      [Math.min(...ys), 3],
      [Math.max(...ys), 11],
    ] as const) {
      expect(Math.abs(value - edge)).toBeLessThan(0.6);
    }
  });

  it('are short polygons inside the frame, also of a thing that fills it', () => {
    const heatmaps = { before: mapOf([0, 0, WIDTH, HEIGHT]), after: mapOf([28, 12, 4, 6]) };
    const outlines = outlinesOf(heatmaps, [region('before', 0, 0, WIDTH, HEIGHT), region('after', 28, 12, 4, 6)]);
    expect(outlines.map(({ side }) => side)).toEqual(['before', 'after']);
    for (const { points } of outlines) {
      expect(points.length).toBeGreaterThan(8);
      expect(points.length).toBeLessThanOrEqual(48);
      expect(points.flat().every((value) => value >= 0 && value <= 1)).toBe(true);
    }
  });

  it('are none without regions', () => {
    const map = mapOf([2, 2, 4, 6]);
    expect(outlinesOf({ before: map, after: map }, [])).toEqual([]);
  });
});
