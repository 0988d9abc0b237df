import type { Box, RgbImage } from '../../src/base/images.js';
import { measureRegion } from '../../src/viewpoint/lens/measure.js';
import { altered, flat, noisy, size, street } from './scenes.js';

const scene = street('lens');
const BOX: Box = { x: 0.4, y: 0.4, width: 0.15, height: 0.2 };
const [CENTRE_X, CENTRE_Y, RADIUS] = [0.475 * size.width, 0.5 * size.height, 22];

/** The scene with a dark disc whose edge is `soft` pixels wide. */
function disc(soft: number): RgbImage {
  return altered(scene, (value, index) => {
    const pixel = Math.floor(index / 3);
    const [x, y] = [pixel % size.width, Math.floor(pixel / size.width)];
    const inside = (RADIUS - Math.hypot(x - CENTRE_X, y - CENTRE_Y)) / soft + 0.5;
    return value + (15 - value) * Math.min(1, Math.max(0, inside));
  });
}
const measured = (after: RgbImage, before = scene) => measureRegion({ before, after }, 'after', BOX);

describe('measureRegion', () => {
  it('separates a sharp edge from one that is out of focus', () => {
    expect(measured(disc(1)).ownSteep - measured(disc(14)).ownSteep).toBeGreaterThan(0.5);
  });

  it('finds the edges of the scene kept in another light, and lost behind a thing', () => {
    const light = measured(altered(scene, (value) => value * 1.5));
    expect(light.fineKept).toBeGreaterThan(0.8);
    expect(light.oneSided).toBeGreaterThan(0.9);
    expect(measured(disc(1)).fineKept).toBeLessThan(0.5);
  });

  it('separates the colour of a thing from other light', () => {
    const red = altered(disc(1), (value, index) => (value === 15 && index % 3 === 0 ? 120 : value));
    const light = measured(altered(scene, (value) => value + 40));
    expect(measured(red).hue).toBeGreaterThan(4);
    expect(light.hue).toBeLessThan(1);
  });

  it('exchanges own and other with the frames', () => {
    const after = disc(3);
    const there = measured(after);
    const back = measureRegion({ before: after, after: scene }, 'before', BOX);
    expect(back).toEqual(there);
    expect(measured(scene, after).otherFine).toBe(there.ownFine);
  });

  it.each([
    ['the whole frame', { x: 0, y: 0, width: 1, height: 1 }],
    ['a cell in the corner', { x: 35 / 36, y: 23 / 24, width: 1 / 36, height: 1 / 24 }],
  ])('measures %s', (_, box) => {
    const numbers = Object.values(measureRegion({ before: scene, after: disc(2) }, 'after', box));
    expect(numbers.every(Number.isFinite)).toBe(true);
  });

  it('has finite numbers for flat, equal, tiny and large frames', () => {
    for (const frame of [
      { width: 16, height: 12 },
      { width: 2600, height: 70 },
    ]) {
      const [before, after] = [flat(90, frame), noisy(flat(90, frame), 3, 'lens')];
      for (const other of [before, after]) {
        const numbers = Object.values(measureRegion({ before, after: other }, 'after', BOX));
        expect(numbers.every(Number.isFinite)).toBe(true);
      }
    }
  });
});
