import { isPlaceTrue } from '../../lab/figures/places.js';
import { appeared, assessed, pairOf, van } from './labels.js';

describe('the place of the thing that is named first', () => {
  it.each([
    ['a van has appeared on the left', true],
    ['a van has appeared at the lower left', true],
    ['a van has appeared by the gate', true],
    ['a van has appeared on the left by the gate', true],
    ['a van has appeared on the right', false],
    ['a van has appeared at the upper left', false],
    ['a van has appeared on the right by the gate', false],
    ['a van has appeared by the stairs', false],
    ['a van has appeared', false],
  ])('%s', (caption, right) => {
    expect(assessed(appeared, caption).place).toBe(right);
  });

  it('is in both thirds if it is on their border', () => {
    const box = (x: number) => ({
      before: [],
      after: [{ x: x - 0.05, y: 0.4, width: 0.1, height: 0.2 }],
      landmarks: new Set<string>(),
    });
    const inLeft = (x: number) => isPlaceTrue({ phrase: '', horizontal: 'left' }, box(x));
    const inMiddle = (x: number) => isPlaceTrue({ phrase: '', horizontal: 'middle' }, box(x));
    expect([inLeft(0.2), inMiddle(0.2)]).toEqual([true, false]);
    expect([inLeft(0.38), inMiddle(0.38)]).toEqual([true, true]);
    expect([inLeft(0.5), inMiddle(0.5)]).toEqual([false, true]);
  });

  describe('as a way of moving', () => {
    const moved = (before: number[], after: number[]) =>
      pairOf({
        verdict: 'change',
        kind: 'move',
        objects: [
          {
            noun: 'van',
            action: 'moved',
            where: 'somewhere',
            boxes_before: [before],
            boxes_after: [after],
          },
        ],
      });
    const leftwards = moved([800, 300, 60, 60], [700, 300, 60, 60]);

    it.each([
      ['the van has moved to the left', true],
      // The van is in the right third and in the lower half in both frames; that makes no way of moving true.
      ['the van has moved to the right', false],
      ['the van has moved to the bottom', false],
      ['the van has come closer', false],
      ['the van has moved to the middle', false],
      ['the van on the right has moved', true],
      ['the van on the right has moved to the left', true],
      ['the van on the right has moved to the right', false],
    ])('%s', (caption, right) => {
      expect(assessed(leftwards, caption).place).toBe(right);
    });

    it('to the middle must end closer to the middle', () => {
      expect(assessed(moved([800, 300, 60, 60], [500, 300, 60, 60]), 'the van has moved to the middle').place).toBe(
        true,
      );
      expect(assessed(moved([430, 300, 60, 60], [560, 300, 60, 60]), 'the van has moved to the middle').place).toBe(
        false,
      );
    });

    it('is checked by the position if only one frame shows the thing', () => {
      expect(assessed(appeared, 'a van has driven in to the left').place).toBe(true);
      expect(assessed(appeared, 'a van has driven in to the right').place).toBe(false);
    });
  });

  it('at a landmark is right only if a reference names it as a place, not as the changed thing', () => {
    const besides = (...references: string[]) =>
      assessed(
        pairOf({ verdict: 'change', kind: 'appear', objects: [van], references }),
        'a van has appeared near the car',
      ).place;
    expect(besides('a van has appeared next to the orange car')).toBe(true);
    expect(besides('a car has appeared')).toBe(false);
    expect(besides('a van has moved to the left and the car is gone')).toBe(false);
    expect(besides('there is a van instead of the car')).toBe(false);
    expect(besides('a van has appeared, followed by other cars')).toBe(false);
  });
});
