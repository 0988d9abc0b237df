import type { Heatmap } from '../../src/base/images.js';
import { carryBox, carryMap } from '../../src/viewpoint/carry.js';
import { fitHomography, invert, project, rescaled } from '../../src/viewpoint/homography.js';
import { warpToBefore } from '../../src/viewpoint/warp.js';
import { seen, street } from './scenes.js';

const before = street('a street', { width: 120, height: 90 });
const { image: after, homography } = seen(before, { x: 6, y: -3, degrees: 2, zoom: 1.04 });

describe('warpToBefore', () => {
  it('shows after in the view of before', () => {
    const out = new Uint8Array(before.data.length);
    const { image, valid } = warpToBefore(before, after, homography, out);
    expect(valid).toBeGreaterThan(0.8);
    expect(valid).toBeLessThan(1);
    const difference = (a: Uint8Array) =>
      a.reduce((sum, value, i) => sum + Math.abs(value - (before.data[i] as number)), 0);
    // Two bilinear passes soften edges; the rest is a small part of the difference that the motion made.
    expect(difference(image.data)).toBeLessThan(0.3 * difference(after.data));
  });

  it('fills what after does not show with before', () => {
    const out = new Uint8Array(before.data.length);
    warpToBefore(before, seen(before, { x: 30 }).image, [1, 0, 1, 0, 1, 0, 0, 0, 1], out);
    expect(Buffer.compare(out, before.data)).toBe(0);
  });

  it('refuses an output of another length, naming both', () => {
    expect(() => warpToBefore(before, after, homography, new Uint8Array(3))).toThrow(
      'out has 3 bytes, expected 32400 (90 x 120 x 3)',
    );
  });
});

describe('boxes found in the view of before, in the pixels of after', () => {
  const half = [1, 0, 0.5, 0, 1, 0, 0, 0, 1] as const; // after sees everything half a frame further right

  it('a map: its peak moves with the camera', () => {
    const map: Heatmap = { width: 8, height: 4, data: new Float32Array(32) };
    map.data[1 * 8 + 2] = 1;
    const carried = carryMap(map, half);
    expect(carried.data.indexOf(1)).toBe(1 * 8 + 6);
    expect(carried.data.reduce((a, b) => a + b)).toBe(1);
  });

  it('are cut at the frame, or null if after does not show them', () => {
    expect(carryBox({ x: 0.25, y: 0.5, width: 0.5, height: 0.25 }, half)).toEqual({
      x: 0.75,
      y: 0.5,
      width: 0.25,
      height: 0.25,
    });
    expect(carryBox({ x: 0.6, y: 0, width: 0.2, height: 0.2 }, half)).toBeNull();
  });
});

describe('homographies', () => {
  const h = [1.02, -0.03, 4, 0.02, 0.97, -6, 1e-4, -2e-4, 1] as const;

  it('are fitted to the points that they map', () => {
    const points = [0, 1, 2, 3, 4, 5].flatMap((i) => [0, 1, 2, 3].map((j) => [i * 50, j * 60] as const));
    const moved = points.map(([x, y]) => project(h, x, y));
    const pairs = {
      before: Float64Array.from(points.flat()),
      after: Float64Array.from(moved.flatMap(({ x, y }) => [x, y])),
      count: points.length,
    };
    const found = fitHomography(pairs, new Float64Array(points.length).fill(1), { width: 300, height: 240 });
    for (const [i, value] of h.entries()) expect(found?.[i]).toBeCloseTo(value, 6);
  });

  it('are undone by their inverse, and a singular one has none', () => {
    const back = invert(h);
    if (back === null) throw new Error('no inverse');
    const { x, y } = project(h, 100, 50);
    expect(project(back, x, y).x).toBeCloseTo(100, 9);
    expect(invert([1, 0, 0, 1, 0, 0, 0, 0, 1])).toBeNull();
  });

  it('are the same map after rescaling', () => {
    const fractions = rescaled(h, 1 / 300, 1 / 240, 1 / 300, 1 / 240);
    const [a, b] = [project(h, 150, 120), project(fractions, 0.5, 0.5)];
    expect(b.x * 300).toBeCloseTo(a.x, 9);
    expect(b.y * 240).toBeCloseTo(a.y, 9);
  });
});
