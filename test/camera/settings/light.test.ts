import { describe, expect, it } from '@jest/globals';
import { type Light, lightOf, measureLight } from '../../../src/camera/settings/light.js';
import sharp from '../../../src/frames/sharp.js';
import { greyImage } from './images.js';

describe('light', () => {
  it('follows from brightness and colour, with hysteresis at the borders', () => {
    const of = (luma: number, colour: number, previous: Light | null = null, variety = colour / 16) =>
      lightOf({ luma, colour, variety }, previous);
    expect([of(120, 30), of(20, 30), of(120, 1)]).toEqual(['day', 'dusk', 'infrared']);
    expect([of(50, 30, 'day'), of(50, 30, 'dusk'), of(65, 30, 'dusk')]).toEqual(['day', 'dusk', 'day']);
    expect([of(120, 4, 'day'), of(120, 4, 'infrared'), of(120, 7, 'infrared')]).toEqual(['day', 'infrared', 'day']);
    expect([of(120, 2, null, 0.6), of(120, 2, 'infrared', 0.6), of(120, 2, 'infrared', 1)]).toEqual([
      'day',
      'infrared',
      'day',
    ]);
  });

  it('is measured without the black pixels of privacy masks', () => {
    const half = greyImage((x) => (x < 20 ? 0 : 120));
    expect(measureLight(half)).toEqual({ luma: expect.closeTo(120, 5), colour: 0, variety: 0 });
    expect(measureLight(greyImage(() => 0))).toEqual({ luma: 0, colour: 0, variety: 0 });
  });

  describe('of a frame as a camera sends it, as JPEG', () => {
    const SIZE = { width: 320, height: 240 };
    type Pixel = readonly [number, number, number];

    async function lightOfJpeg(pixelAt: (x: number, y: number) => Pixel, previous: Light | null = null) {
      const { width, height } = SIZE;
      const pixels = Uint8Array.from({ length: width * height * 3 }, (_, i) => {
        const at = Math.floor(i / 3);
        return pixelAt(at % width, Math.floor(at / width))[i % 3] as number;
      });
      const jpeg = await sharp(pixels, { raw: { ...SIZE, channels: 3 } })
        .jpeg({ quality: 70 })
        .toBuffer();
      const data = await sharp(jpeg).raw().toBuffer();
      return lightOf(measureLight({ ...SIZE, data }), previous);
    }
    /** Grain of the sensor, the same in all channels. */
    const grain = (x: number, y: number) => ((x * 7919 + y * 104_729) % 13) - 6;
    /** A grey sky, ground and posts of concrete that are 1 to 2 % warmer, and a faded sign of brick red. */
    const concrete = (x: number, y: number): Pixel => {
      const level = (y < 120 ? 150 : 110) + (x % 80 < 4 ? -30 : 0) + grain(x, y);
      if (x >= 200 && x < 240 && y >= 150 && y < 180) return [level + 20, level, level - 15];
      return y < 120 ? [level, level, level] : [level + 1, level, level - 1];
    };
    const byLamp = (x: number, y: number): Pixel => {
      const level = Math.max(10, 190 - Math.hypot(x - 160, y - 150)) + grain(x, y);
      return [level, level, level];
    };
    const withClock =
      (scene: typeof byLamp) =>
      (x: number, y: number): Pixel =>
        x >= 8 && x < 72 && y >= 8 && y < 20 ? [250, 230, 20] : scene(x, y);

    it.each([null, 'day', 'infrared'] as const)('is day for grey concrete in daylight, after %s', async (previous) => {
      expect(await lightOfJpeg(concrete, previous)).toBe('day');
    });

    it.each([null, 'day', 'infrared'] as const)(
      'is infrared for a scene by an infrared lamp, with or without a coloured clock, after %s',
      async (previous) => {
        expect(await lightOfJpeg(byLamp, previous)).toBe('infrared');
        expect(await lightOfJpeg(withClock(byLamp), previous)).toBe('infrared');
      },
    );
  });
});
