import type { Side } from '../../src/base/images.js';
import type { MapRegion } from '../../src/model/regions.js';
import {
  differenceOfClasses,
  isSeparateThing,
  showsTwoThings,
  unseenRegion,
} from '../../src/pipeline/separate-things.js';
import { cropNames, NAMES } from '../model/names.js';

const NOTHING = cropNames({ nothing: 0.98 });
const MAN = cropNames({ man: 0.9, nothing: 0.01 });
const WOMAN = cropNames({ woman: 0.9, nothing: 0.01 });
const CAR = cropNames({ car: 0.9, nothing: 0.01 });
const RED_CAR = cropNames({ car: 0.9, nothing: 0.01 }, { red: 0.9 });
const BLACK_VAN = cropNames({ van: 0.9, nothing: 0.01 }, { black: 0.9 });
const RED_VAN = cropNames({ van: 0.9, nothing: 0.01 }, { red: 0.7, black: 0.2 });
const DOUBTFUL = cropNames({ man: 0.4, car: 0.4, nothing: 0.1 });

const region = (side: Side): MapRegion => ({
  side,
  box: { x: 0, y: 0, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 1,
});

describe('differenceOfClasses', () => {
  it.each([
    ['a man and a car', MAN, CAR, 0.85, 1],
    ['a man and a woman, who are people', MAN, WOMAN, 0, 0.2],
    ['a man and nothing', MAN, NOTHING, 0, 0.05],
    ['a man and a doubtful thing', MAN, DOUBTFUL, 0.3, 0.6],
  ])('of %s', (_, one, other, least, most) => {
    for (const value of [differenceOfClasses(one, other, NAMES), differenceOfClasses(other, one, NAMES)]) {
      expect(value).toBeGreaterThanOrEqual(least);
      expect(value).toBeLessThanOrEqual(most);
    }
  });
});

describe('a location with regions of both frames', () => {
  const regions = [region('before'), region('after')];

  it('shows two things if their classes differ', () => {
    expect(showsTwoThings({ regions }, { before: MAN, after: CAR }, NAMES)).toBe(true);
    expect(showsTwoThings({ regions }, { before: MAN, after: WOMAN }, NAMES)).toBe(false);
    expect(showsTwoThings({ regions: [region('after')] }, { before: MAN, after: CAR }, NAMES)).toBe(false);
  });

  it('shows two vehicles if their colours differ', () => {
    expect(showsTwoThings({ regions }, { before: RED_CAR, after: BLACK_VAN }, NAMES)).toBe(true);
    expect(showsTwoThings({ regions }, { before: RED_CAR, after: RED_VAN }, NAMES)).toBe(false);
    expect(showsTwoThings({ regions: [region('after')] }, { before: RED_CAR, after: BLACK_VAN }, NAMES)).toBe(false);
  });

  it('shows one person in other clothes, because a person turns', () => {
    const dressed = (colour: string) => cropNames({ man: 0.9, nothing: 0.01 }, { [colour]: 0.9 });
    expect(showsTwoThings({ regions }, { before: dressed('red'), after: dressed('black') }, NAMES)).toBe(false);
  });

  it('has an unseen region where its crop shows nothing, beside a thing in the other frame', () => {
    expect(unseenRegion({ regions }, { before: MAN, after: NOTHING }, NAMES)).toBe(regions[1]);
    expect(unseenRegion({ regions }, { before: NOTHING, after: MAN }, NAMES)).toBe(regions[0]);
    expect(unseenRegion({ regions }, { before: MAN, after: WOMAN }, NAMES)).toBeUndefined();
    expect(unseenRegion({ regions }, { before: NOTHING, after: NOTHING }, NAMES)).toBeUndefined();
    expect(unseenRegion({ regions: [region('after')] }, { before: MAN, after: NOTHING }, NAMES)).toBeUndefined();
  });
});

it.each([
  ['a car where a man left', CAR, true],
  ['another person', WOMAN, false],
  ['the edge of what the man hid', NOTHING, false],
])('a region of its own crop is a thing of its own: %s', (_, after, expected) => {
  const location = { before: MAN, after: NOTHING };
  expect(isSeparateThing(region('after'), { before: NOTHING, after }, location, NAMES)).toBe(expected);
});
