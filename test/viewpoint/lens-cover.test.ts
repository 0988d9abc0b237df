/** The part of a view whose detail is gone. */
import { describe, expect, it } from '@jest/globals';
import type { Box, RgbImage, Side } from '../../src/base/images.js';
import { coverOf } from '../../src/viewpoint/lens/cover.js';
import { mapDetail } from '../../src/viewpoint/lens/detail.js';
import { toWorking } from '../../src/viewpoint/planes.js';
import { tileUp } from '../../src/viewpoint/tiles.js';
import { altered, flat, noisy, size, street } from './scenes.js';

const before = noisy(street('cover'), 2, 'a');
const LEFT = { x: 0, y: 0, width: 0.5, height: 1 };

/** The scene behind fog that leaves a tenth of its contrast, left of `share` of the width. */
const behindFog = (share: number): RgbImage =>
  altered(noisy(street('cover'), 3, 'b'), (value, i) =>
    Math.floor(i / 3) % size.width < share * size.width ? 140 + 0.1 * (value - 140) : value,
  );
function coverIn(frames: Readonly<Record<Side, RgbImage>>, scene: readonly { box: Box }[] = [], isOther = false) {
  const [one, other] = [toWorking(frames.before), toWorking(frames.after)];
  return coverOf(mapDetail({ before: one.luma, after: other.luma }, tileUp(one, other, null)), scene, isOther);
}
const coverBehind = (after: RgbImage, ...more: [scene?: { box: Box }[], isOther?: boolean]) =>
  coverIn({ before, after }, ...more);

describe('A cover', () => {
  it.each([0.25, 0.5, 1])('of %s of the view is found with its share and its place', (share) => {
    const cover = coverBehind(behindFog(share));
    expect(cover?.share).toBeGreaterThan(share - 0.12);
    expect(cover?.share).toBeLessThan(share + 0.12);
    expect(cover?.boxes[0]?.x).toBeLessThan(0.1);
    expect(cover?.boxes[0]?.width).toBeGreaterThan(share - 0.15);
    expect(cover?.boxes[0]?.width).toBeLessThan(share + 0.1);
  });

  it.each([
    ['the same view with other noise', 1],
    ['half of the light', 0.5],
    ['a fifth of the light', 0.2],
  ])('is not %s', (_what, light) => {
    expect(coverBehind(altered(noisy(street('cover'), 4, 'c'), (value) => value * light))?.share ?? 0).toBeLessThan(
      0.1,
    );
  });

  it('is not a region of the scene, which explains what it hides', () => {
    expect(coverBehind(behindFog(0.5), [{ box: LEFT }])).toBeNull();
  });

  it('counts other detail than that of the view if that is on the lens', () => {
    const row = size.width * 3;
    const upsideDown = altered(before, (value, i) => {
      const [x, y] = [i % row, Math.floor(i / row)];
      return x < row / 2 ? (before.data[(size.height - 1 - y) * row + x] as number) : value;
    });
    expect(coverBehind(upsideDown)?.share ?? 0).toBeLessThan(0.2);
    expect(coverBehind(upsideDown, [], true)?.share).toBeGreaterThan(0.35);
    expect(coverBehind(upsideDown, [{ box: LEFT }], true)).toBeNull();
  });

  it('needs detail that can be lost', () => {
    expect(coverIn({ before: flat(90), after: flat(160) })).toBeNull();
  });
});
