/** The range of a thermal camera: kept in its state, and renewed if the scene has left it. */
import sharp from 'sharp';
import { levelFrame } from '../../../src/camera/fold/level-range.js';
import { type CameraState, initialCameraState } from '../../../src/camera/state/state.js';
import { readCameraState, writeCameraState } from '../../../src/stores/cameras/camera-state.js';
import { levelsOf, png16, tiffOfFloats } from '../../helpers/thermal.js';

const LIMITS = { pixelLimit: 1_000_000 };
const seen = async (bytes: Buffer, state: CameraState) => {
  const levelled = await levelFrame(bytes, state, LIMITS);
  if (levelled === null) throw new Error('the frame was not levelled');
  return { ...levelled, grey: [...(await sharp(levelled.bytes).toColourspace('b-w').raw().toBuffer())] };
};
const first = async () => seen(await png16(levelsOf()), initialCameraState());
/** The state as the next frame reads it. */
const stored = (state: CameraState) => readCameraState(writeCameraState(state), 'gate') as CameraState;

describe('The range of a thermal camera', () => {
  it('is that of its first frame with half as much below and above, and is stored with the state', async () => {
    const { state, grey, isNewRange } = await first();
    expect(isNewRange).toBe(false);
    const { low = 0, high = 0 } = stored(state).levels ?? {};
    expect([low / 29_500, high / 29_500]).toEqual([expect.closeTo(1, 1), expect.closeTo(1, 1)]);
    expect(high - low).toBeGreaterThan(350);
    expect([Math.min(...grey) > 50, Math.max(...grey) < 205]).toEqual([true, true]);
  });

  it.each([
    ['a hot thing in view', { hotter: 900 }, false],
    ['a thing beyond every range', { hotter: 30_000 }, false],
    ['a scene that is a little warmer', { level: 29_550 }, false],
    ['a closed shutter', { level: 29_500, grain: 0 }, false],
    ['a closed shutter of another warmth', { level: 31_000, grain: 0 }, false],
    ['a scene that has become much warmer', { level: 30_500 }, true],
    ['a scene that has become much colder', { level: 28_000, grain: 100 }, true],
  ])('with %s: renewed %s', async (_, scene, isNewRange) => {
    const { state, grey } = await first();
    const next = await seen(await png16(levelsOf(scene)), stored(state));
    expect(next.isNewRange).toBe(isNewRange);
    if (isNewRange) expect(Math.max(...next.grey)).toBeLessThan(255);
    else expect(next.state.levels).toEqual(state.levels);
    if ('hotter' in scene) expect(next.grey.filter((level, i) => level !== grey[i])).toHaveLength(80);
  });

  it('grows out of a first frame of one level', async () => {
    const { state } = await seen(await png16(levelsOf({ grain: 0 })), initialCameraState());
    expect((await seen(await png16(levelsOf({ grain: 4_000 })), state)).isNewRange).toBe(true);
  });

  it('of degrees as floating point is kept as well', async () => {
    const degrees = (hotter: number) => tiffOfFloats(levelsOf({ level: 21, grain: 4, hotter }));
    const { state, grey } = await seen(degrees(0), initialCameraState());
    const next = await seen(degrees(15), stored(state));
    expect([next.isNewRange, next.grey.filter((level, i) => level !== grey[i]).length]).toEqual([false, 80]);
  });

  it('is not looked for in pictures of eight bits', async () => {
    const jpeg = await sharp(Buffer.alloc(64 * 64 * 3), { raw: { width: 64, height: 64, channels: 3 } })
      .jpeg()
      .toBuffer();
    expect(await levelFrame(jpeg, initialCameraState(), LIMITS)).toBeNull();
  });
});
