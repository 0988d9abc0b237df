import { describe, expect, it } from '@jest/globals';
import { type Light, lightOf, measureLight } from '../../src/cameras/light.js';
import { greyImage } from './images.js';

describe('light', () => {
  it('follows from brightness and colour, with hysteresis at the borders', () => {
    const of = (luma: number, colour: number, previous: Light | null = null) =>
      lightOf({ luma, colour }, previous);
    expect([of(120, 30), of(20, 30), of(120, 1)]).toEqual(['day', 'dusk', 'infrared']);
    expect([of(50, 30, 'day'), of(50, 30, 'dusk'), of(65, 30, 'dusk')]).toEqual(['day', 'dusk', 'day']);
    expect([of(120, 4, 'day'), of(120, 4, 'infrared'), of(120, 7, 'infrared')]).toEqual([
      'day',
      'infrared',
      'day',
    ]);
  });

  it('is measured without the black pixels of privacy masks', () => {
    const half = greyImage((x) => (x < 20 ? 0 : 120));
    expect(measureLight(half)).toEqual({ luma: expect.closeTo(120, 5), colour: 0 });
    expect(measureLight(greyImage(() => 0))).toEqual({ luma: 0, colour: 0 });
  });
});
