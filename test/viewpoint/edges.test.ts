import { jest } from '@jest/globals';
import sharp from 'sharp';
import { startExaminer } from './examiner.js';
import { altered, flat, noisy, seen, softened, street, withBox } from './scenes.js';

// These tests measure no time, and the machine may be busy.
jest.setTimeout(60_000);

const before = street('a street');
const { examine, close } = startExaminer();
afterAll(close);

const measured = async (after: typeof before, of = before) => {
  const { evidence } = await examine(noisy(of, 1.5, 'a'), noisy(after, 1.5, 'b'));
  return evidence.measurements;
};

describe('the edges of after', () => {
  it.each([
    ['nothing changed', before],
    ['it becomes darker', altered(before, (value) => value * 0.5)],
    ['there is fog', altered(before, (value) => 0.45 * value + 90)],
    ['there is more noise', noisy(before, 8, 'grain')],
    ['the camera moved', seen(before, { x: 7, y: 3, degrees: 1 }).image],
  ])('keep most of their steepness if %s', async (_, after) => {
    expect((await measured(after)).edge_change).toBeGreaterThan(-0.9);
  });

  it('keep most of it under strong compression', async () => {
    const { width, height, data } = before;
    const coded = await sharp(data, { raw: { width, height, channels: 3 } })
      .jpeg({ quality: 20 })
      .toBuffer();
    const after = { width, height, data: new Uint8Array(await sharp(coded).raw().toBuffer()) };
    expect((await measured(after)).edge_change).toBeGreaterThan(-0.9);
  });

  it.each([3, 5])('lose it if the lens is defocused (%d px)', async (radius) => {
    const { edge_before, edge_after, edge_change } = await measured(softened(before, radius));
    expect(edge_change).toBeLessThan(-1.2);
    expect(edge_after).toBeLessThan(edge_before - 1.2);
  });

  it('are those of the new thing, if the place has none', async () => {
    const yard = flat(110);
    const van = withBox(yard, { x: 0.3, y: 0.3, width: 0.35, height: 0.4 }, [210, 210, 205]);
    const [sharp, soft] = [await measured(van, yard), await measured(softened(van, 5), yard)];
    expect(sharp.edge_change).toBe(0);
    expect(sharp.edge_after - soft.edge_after).toBeGreaterThan(1.2);
  });
});
