/** The rule of quiet frames on made previews: noise, light and shake are quiet, a small change is not. */
import { comparePreviews } from '../../../src/camera/quiet/compare.js';
import { FITTED } from '../../../src/camera/quiet/fitted.js';
import { learnNoise, type NoiseModel } from '../../../src/camera/quiet/noise.js';
import { gridOf } from '../../../src/camera/quiet/preview.js';
import { HEIGHT, preview, WIDTH } from './scenes.js';

/** The noise after frames of the unchanged scene. */
function learned(level: number, frames = 4): NoiseModel | null {
  const examined = preview({ noise: level, seed: 'examined' });
  let noise: NoiseModel | null = null;
  for (let i = 0; i < frames; i++) {
    const { tiles } = comparePreviews(examined, preview({ noise: level, seed: `frame ${i}` }), noise, null);
    if (tiles !== null) noise = learnNoise(noise, tiles);
  }
  return noise;
}
const examined = preview({ seed: 'examined' });
const noise = learned(1);
const scoreOf = (altered: Parameters<typeof preview>[0]) => {
  const { quiet, score } = comparePreviews(examined, preview({ seed: 'now', ...altered }), noise, null);
  expect(quiet).toBe(score <= 1);
  return score;
};

it.each([
  ['noise', {}],
  ['a little more light', { gain: 1.02, offset: 1 }],
  ['shake of a fifth of a preview pixel', { shift: [0.2, -0.1] as const }],
])('a frame that differs by %s is quiet', (_name, altered) => {
  expect(scoreOf(altered)).toBeLessThanOrEqual(1);
});

it.each([
  ['a square of 9 px that is 10 levels brighter', { things: [[200, 100, 9, 9, 10]] as const }],
  [
    'a square of 9 px that is 10 levels darker, under other light',
    { gain: 1.02, things: [[61, 91, 9, 9, -10]] as const },
  ],
  ['a third of the frame that is 10 levels brighter', { things: [[0, 0, 160, 270, 10]] as const }],
  ['a square in the lower right corner', { things: [[WIDTH - 9, HEIGHT - 9, 9, 9, 12]] as const }],
  ['much more light', { gain: 1.2 }],
  ['a turned camera', { shift: [6, 2] as const }],
  ['a covered lens', { gain: 0.05, offset: 8 }],
  ['darkness', { gain: 0, offset: 2 }],
])('a frame with %s is not quiet', (_name, altered) => {
  expect(scoreOf(altered)).toBeGreaterThan(1);
});

it('learns the noise of a camera: its frames become quiet, and a change of 10 levels still is not', () => {
  const level = 5;
  // Not the fitted bound, which moves with every fit.
  const fitted = { ...FITTED, bound: 4 };
  const first = preview({ noise: level, seed: 'examined' });
  const next = preview({ noise: level, seed: 'next' });
  expect(comparePreviews(first, next, null, null, fitted).quiet).toBe(false);
  expect(comparePreviews(first, next, learned(level), null, fitted).quiet).toBe(true);
  const changed = preview({ noise: level, seed: 'next', things: [[300, 200, 9, 9, 14]] });
  expect(comparePreviews(first, changed, learned(level), null, fitted).quiet).toBe(false);
});

it('a change of colour alone is not quiet, unless the previews are grey', () => {
  const chroma = {
    blue: new Uint8Array((WIDTH * HEIGHT) >> 2).fill(128),
    red: new Uint8Array((WIDTH * HEIGHT) >> 2).fill(128),
  };
  const red = Uint8Array.from(chroma.red);
  for (let y = 60; y < 65; y++) red.fill(145, y * (WIDTH / 2) + 100, y * (WIDTH / 2) + 105);
  const now = preview({ seed: 'now' });
  const compare = (colours: typeof chroma | undefined) =>
    comparePreviews({ ...examined, chroma }, colours === undefined ? now : { ...now, chroma: colours }, noise, null)
      .quiet;
  expect([compare(chroma), compare({ ...chroma, red }), compare(undefined)]).toEqual([true, false, true]);
});

it('a change in ignored cells is quiet; with no counted cell, nothing is', () => {
  const { columns, rows } = gridOf(examined);
  const counted = new Uint8Array(columns * rows).fill(1);
  for (let row = 0; row < 20; row++) counted.fill(0, row * columns, row * columns + 40);
  const changed = preview({ seed: 'now', things: [[20, 20, 30, 20, 60]] });
  expect(comparePreviews(examined, changed, noise, null).quiet).toBe(false);
  expect(comparePreviews(examined, changed, noise, counted).quiet).toBe(true);
  expect(comparePreviews(examined, examined, noise, counted.fill(0)).quiet).toBe(false);
});

it('notices frames without any difference, and frames of another size', () => {
  expect(comparePreviews(examined, examined, noise, null)).toMatchObject({ quiet: true, identical: true });
  expect(comparePreviews(examined, preview({ seed: 'now' }), noise, null).identical).toBe(false);
  const other = { ...examined, height: HEIGHT - 1, luma: examined.luma.subarray(WIDTH) };
  expect(comparePreviews(examined, other, noise, null)).toMatchObject({ quiet: false, tiles: null });
});

it('a lower quarter of flat ground that repeats one row is not quiet, unless the other frame has such rows too', () => {
  const from = 200;
  const onGround = (seed: string, repeats: boolean) => {
    const made = preview({ seed });
    for (let y = from, i = from * WIDTH; y < HEIGHT; y++) {
      for (let x = 0; x < WIDTH; x++, i++)
        made.luma[i] = repeats ? 100 + (x & 1) : 100 + ((made.luma[i] as number) & 1);
    }
    return made;
  };
  const [ground, smeared] = [onGround('examined', false), onGround('now', true)];
  expect(comparePreviews(ground, onGround('now', false), noise, null).quiet).toBe(true);
  expect(comparePreviews(ground, smeared, noise, null)).toMatchObject({ quiet: false, identical: false });
  expect(comparePreviews(ground, smeared, noise, null).score).toBeLessThanOrEqual(1);
  expect(comparePreviews(onGround('examined', true), smeared, noise, null).quiet).toBe(true);
});
