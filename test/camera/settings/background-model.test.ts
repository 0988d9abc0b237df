import { describe, expect, it } from '@jest/globals';
import type { RgbImage } from '../../../src/base/images.js';
import {
  blend,
  chooseUpdate,
  nearestBackground,
  UPDATE_INTERVAL_MS,
  type UpdateContext,
} from '../../../src/camera/settings/background-model.js';
import { greyImage } from './images.js';

const at = ({ width, data }: { width: number; data: Uint8Array }, x: number, y: number) => data[(y * width + x) * 3];

describe('blending a frame into the background', () => {
  const background = greyImage(() => 100);

  it('approaches the level of the frames in small steps, and never overshoots', () => {
    let blended: RgbImage = background;
    for (const expected of [94, 88, 85, 85]) {
      blended = blend(
        blended,
        greyImage(() => 85),
        { protect: [], absorb: [] },
      );
      expect(at(blended, 3, 3)).toBe(expected);
    }
    expect(at(background, 3, 3)).toBe(100);
  });

  it('keeps the pixels of protected boxes and copies those of absorbed boxes', () => {
    const frame = greyImage(() => 200);
    const left = { x: 0, y: 0, width: 0.2, height: 1 };
    const right = { x: 0.8, y: 0, width: 0.2, height: 1 };
    const blended = blend(background, frame, { protect: [left], absorb: [right] });
    expect([at(blended, 2, 15), at(blended, 20, 15), at(blended, 38, 15)]).toEqual([100, 106, 200]);
  });

  it('refuses a frame of another size', () => {
    expect(() =>
      blend(
        background,
        greyImage(() => 0, 20, 30),
        { protect: [], absorb: [] },
      ),
    ).toThrow(/20x30.*40x30/);
  });
});

describe('the update by a frame', () => {
  const background = { frame: 'p', width: 40, height: 30, learnedAt: 0 };
  const finding = (verdict: 'none' | 'nuisance' | 'change' | 'tamper', regions = 0, shift_px = 0) => ({
    verdict,
    viewpoint: {
      moved: shift_px > 0,
      shift_px,
      rotation_deg: 0,
      scale: 1,
      overlap: 1,
      inliers: 60,
      residual_px: 0.1,
    },
    regions: Array(regions).fill({ box: { x: 0, y: 0, width: 0.1, height: 0.1 } }),
  });
  const lost = (side: 'before' | 'after') => ({
    ...{ side, boxes: [{ x: 0, y: 0.5, width: 1, height: 0.1 }], share: 0.1 },
    reason: 'signal_lost' as const,
  });
  const context = (change: Partial<UpdateContext>): UpdateContext => ({
    finding: finding('none'),
    at: UPDATE_INTERVAL_MS,
    width: 40,
    height: 30,
    pending: false,
    ending: false,
    undecided: [],
    isStray: false,
    lightFrames: 1,
    absorb: [],
    ...change,
  });
  it.each([
    ['nothing changed', context({}), 'blend'],
    ['the last update is recent', context({ at: UPDATE_INTERVAL_MS - 1 }), 'keep'],
    ['only the light changed', context({ finding: finding('nuisance') }), 'blend'],
    ['the camera shook slightly', context({ finding: finding('nuisance', 0, 0.3) }), 'blend'],
    ['the camera moved', context({ finding: finding('nuisance', 0, 0.5) }), 'keep'],
    ['the camera is covered', context({ finding: finding('tamper') }), 'keep'],
    ['a part of the frame is lost', context({ finding: { ...finding('none'), lost: lost('after') } }), 'keep'],
    ['a part of the background is lost', context({ finding: { ...finding('none'), lost: lost('before') } }), 'replace'],
    ['a change with a region', context({ finding: finding('change', 1) }), 'blend'],
    ['a change without a region', context({ finding: finding('change') }), 'keep'],
    ['a change that awaits its confirmation', context({ finding: finding('change', 1), pending: true }), 'keep'],
    ['a change settled, though the last update is recent', context({ at: 1, absorb: [1] }), 'blend'],
    ['there was nothing to compare with', context({ finding: null }), 'replace'],
    ['a frame of another size', context({ width: 20 }), 'replace'],
    ['a stray frame of another size', context({ width: 20, isStray: true }), 'keep'],
    ['a frame of another size shows that a thing may have gone', context({ width: 20, ending: true }), 'keep'],
    [
      'frames of another size that do not confirm it',
      context({ width: 20, ending: true, at: 2 * UPDATE_INTERVAL_MS }),
      'replace',
    ],
    ['a frame of another size that shows a change', context({ width: 20, finding: finding('change', 1) }), 'keep'],
  ])('%s', (_what, given, update) => {
    expect(chooseUpdate(background, given)).toBe(update);
  });

  it('without a background: a frame without change starts one, or a frame whose change has settled', () => {
    expect(chooseUpdate(undefined, context({}))).toBe('replace');
    expect(chooseUpdate(undefined, context({ finding: finding('change', 1) }))).toBe('keep');
    expect(chooseUpdate(undefined, context({ finding: finding('change', 1), absorb: [1] }))).toBe('replace');
  });

  it('without a background: with tracks undecided, the third frame in a row of the light starts one', () => {
    const given = { undecided: [1], ending: true };
    const update = (lightFrames: number) => chooseUpdate(undefined, context({ ...given, lightFrames }));
    expect([1, 2, 3].map(update)).toEqual(['keep', 'keep', 'replace']);
  });
});

describe('the background for a light', () => {
  it('is that of the most similar light if the light has none', () => {
    const background = (frame: string) => ({ frame, width: 1, height: 1, learnedAt: 0 });
    expect(nearestBackground({ day: background('d'), dusk: background('k') }, 'infrared')).toMatchObject({
      light: 'dusk',
    });
    expect(nearestBackground({ day: background('d') }, 'infrared')).toMatchObject({ light: 'day' });
    expect(nearestBackground({}, 'day')).toBeNull();
  });
});
