import { sameColour } from '../../src/evaluation/colours.js';
import { assess, facts, trueKinds } from '../../src/evaluation/facts.js';
import { NOUNS, nounClass, nounFit } from '../../src/evaluation/nouns.js';
import { normalise, type Pair, parsePairs } from '../../src/evaluation/pairs.js';
import { isPlaceTrue } from '../../src/evaluation/places.js';

const FRAME = { width: 900, height: 600 };
const pairOf = (members: object): Pair => {
  const line = { id: 'p', before: 'b.png', after: 'a.png', references: ['a van by the gate'], ...members };
  return normalise(parsePairs(JSON.stringify(line), 'pairs.ndjson')[0] as Pair, {
    before: FRAME,
    after: FRAME,
  });
};

/** At the lower left of a 900 x 600 frame. */
const van = {
  noun: 'van',
  colour: 'silver',
  action: 'appeared',
  where: 'by the gate',
  boxes_after: [[60, 400, 120, 100]],
};
const man = {
  noun: 'man',
  colour: null,
  action: 'disappeared',
  where: 'on the road',
  boxes_before: [[700, 200, 30, 80]],
};
const appeared = pairOf({ verdict: 'change', kind: 'appear', objects: [van] });
const both = pairOf({ verdict: 'change', kind: 'multi', objects: [man, van] });
const unchanged = pairOf({ verdict: 'none', kind: 'none' });

const judged = (pair: Pair, caption: string, kind: string | null = null) => assess(pair, { caption, kind });

describe('the thing said first', () => {
  it.each([
    // caption, noun, same noun, class
    ['a van has appeared', true, true, true],
    ['a vehicle has appeared', true, false, true],
    ['a truck has appeared', false, false, true],
    ['a bench has appeared', false, false, false],
    ['an object has appeared', false, false, false],
    ['the van is gone', false, false, false],
    ['a man has appeared and a van has appeared', false, false, false],
    ['nothing has changed', false, false, false],
  ])('%s', (caption, noun, nounStrict, nounClass) => {
    expect(judged(appeared, caption)).toMatchObject({ noun, nounStrict, nounClass });
  });

  it('may be any of the things that changed, in that thing own direction', () => {
    expect(judged(both, 'the man is gone').noun).toBe(true);
    expect(judged(both, 'a van has appeared').noun).toBe(true);
    expect(judged(both, 'a man has appeared').noun).toBe(false);
  });

  it('is not asked of unchanged pairs', () => {
    expect(judged(unchanged, 'a van has appeared')).toMatchObject({
      noun: null,
      colour: null,
      place: null,
      saysChange: false,
    });
  });
});

describe('its colour', () => {
  it.each([
    ['a silver van has appeared', true],
    ['a grey van has appeared', true],
    ['a red van has appeared', false],
    ['a van has appeared', false],
    ['a grey truck has appeared', true],
    ['the grey van is gone', false],
  ])('%s', (caption, right) => {
    expect(judged(appeared, caption).colour).toBe(right);
  });

  it('is asked wherever the labels have one, whatever is said', () => {
    const colourOf = (caption: string) => judged(both, caption).colour;
    expect(colourOf('a silver van has appeared')).toBe(true);
    expect(colourOf('the black man is gone')).toBe(false);
    expect(colourOf('the van is gone')).toBe(false);
    expect(colourOf('nothing has changed')).toBe(false);
  });

  it('is not asked where the labels have none', () => {
    const colourless = pairOf({ verdict: 'change', kind: 'disappear', objects: [man] });
    expect(judged(colourless, 'the black man is gone').colour).toBeNull();
  });

  it('is held against the thing that has one, of several that fit', () => {
    const vans = (...objects: object[]) => pairOf({ verdict: 'change', kind: 'multi', objects });
    const pale = { ...van, colour: null };
    expect(judged(vans(pale, van), 'a silver van has appeared').colour).toBe(true);
    expect(judged(vans(pale, { ...van, noun: 'truck' }), 'a silver van has appeared').colour).toBe(true);
    expect(judged(vans(pale, { ...van, noun: 'truck' }), 'a red van has appeared').colour).toBe(false);
  });
});

describe('its place', () => {
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
    expect(judged(appeared, caption).place).toBe(right);
  });

  it('on the border of two thirds is in both', () => {
    const box = (x: number) => ({
      before: [],
      after: [{ x: x - 0.05, y: 0.4, width: 0.1, height: 0.2 }],
      landmarks: new Set<string>(),
    });
    const inLeft = (x: number) => isPlaceTrue({ phrase: '', horizontal: 'left' }, box(x));
    const inMiddle = (x: number) => isPlaceTrue({ phrase: '', horizontal: 'middle' }, box(x));
    expect([inLeft(0.2), inMiddle(0.2)]).toEqual([true, false]);
    expect([inLeft(0.35), inMiddle(0.35)]).toEqual([true, true]);
    expect([inLeft(0.5), inMiddle(0.5)]).toEqual([false, true]);
  });

  describe('as a way', () => {
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
      // It stands in the right third and in the lower half before and after: that makes no way true.
      ['the van has moved to the right', false],
      ['the van has moved to the bottom', false],
      ['the van has come closer', false],
      ['the van has moved to the middle', false],
      ['the van on the right has moved', true],
      ['the van on the right has moved to the left', true],
      ['the van on the right has moved to the right', false],
    ])('%s', (caption, right) => {
      expect(judged(leftwards, caption).place).toBe(right);
    });

    it('to the middle leads there from further out', () => {
      expect(
        judged(moved([800, 300, 60, 60], [500, 300, 60, 60]), 'the van has moved to the middle').place,
      ).toBe(true);
      expect(
        judged(moved([430, 300, 60, 60], [560, 300, 60, 60]), 'the van has moved to the middle').place,
      ).toBe(false);
    });

    it('of what is seen in one frame alone is judged by where it is', () => {
      expect(judged(appeared, 'a van has driven in to the left').place).toBe(true);
      expect(judged(appeared, 'a van has driven in to the right').place).toBe(false);
    });
  });

  it('by a landmark is right only if people name it as a place, not as what changed', () => {
    const besides = (...references: string[]) =>
      judged(
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

describe('an inverted direction', () => {
  it.each([
    [appeared, 'the van is gone', true],
    [appeared, 'a van has appeared', false],
    [appeared, 'the van has moved', false],
    [appeared, 'the bench is gone', true],
    [both, 'a man has appeared', true],
    [both, 'the van is gone', true],
    [both, 'the bench is gone', false],
    [appeared, 'nothing has changed', false],
  ] as [Pair, string, boolean][])('%#: %s', (pair, caption, expected) => {
    expect(judged(pair, caption).inverted).toBe(expected);
  });
});

describe('the kind', () => {
  it('of several things that all did the same may be called by what they did', () => {
    const two = pairOf({ verdict: 'change', kind: 'multi', objects: [van, { ...van, noun: 'car' }] });
    expect(trueKinds(two)).toEqual(['multi', 'appear']);
    expect(judged(two, '', 'appear')).toMatchObject({ kind: true, kindStrict: false });
    expect(trueKinds(both)).toEqual(['multi']);
  });

  it('of one thing in the place of another may be replace or multi', () => {
    const gone = { ...man, boxes_before: [[60, 400, 120, 90]] };
    expect(trueKinds(pairOf({ verdict: 'change', kind: 'multi', objects: [gone, van] }))).toEqual([
      'multi',
      'replace',
    ]);
  });

  it('of CLEVR colours and materials is replace', () => {
    expect(trueKinds(pairOf({ verdict: 'change', kind: 'color' }))).toEqual(['replace']);
  });
});

it('judges a CLEVR line by what the generator knew', () => {
  const look = { size: 'small', color: 'blue', material: 'rubber', shape: 'sphere' };
  const clevr = pairOf({
    verdict: 'change',
    kind: 'color',
    boxes_before: [[10, 10, 50, 50]],
    boxes_after: [[12, 10, 50, 50]],
    changed: { before: look, after: { ...look, color: 'red' } },
  });
  expect(judged(clevr, 'the small blue ball changed to red')).toMatchObject({
    nounStrict: true,
    colour: true,
    becomes: true,
  });
  expect(judged(clevr, 'the blue thing turned red')).toMatchObject({
    noun: true,
    nounStrict: false,
    becomes: true,
  });
  expect(judged(clevr, 'the blue ball turned green')).toMatchObject({ noun: true, becomes: false });
});

it('adds up over pairs: what is named, and what is claimed', () => {
  const result = facts(
    [both, appeared, unchanged],
    ['the man is gone and a bench has appeared', 'a van has appeared', 'nothing has changed'].map(
      (caption) => ({ caption, kind: null }),
    ),
  );
  expect(result.saysChange).toMatchObject({ hits: 3, of: 3 });
  expect(result.noun).toMatchObject({ hits: 2, of: 2 });
  expect(result.objectsNamed).toMatchObject({ hits: 2, of: 3 });
  expect(result.claimsTrue).toMatchObject({ hits: 2, of: 3 });
});

describe('what is said and what is true are told one to one', () => {
  const car = { ...van, noun: 'car' };
  const man = { ...van, noun: 'man' };
  const several = (...objects: object[]) => pairOf({ verdict: 'change', kind: 'multi', objects });
  const three = several(man, man, { ...van, noun: 'woman' });
  const truths = (outcomes: readonly boolean[]) => outcomes.filter(Boolean).length;

  it.each([
    // what is said, what changed, claims that are true, things that are named
    ['a man has appeared and a man has appeared and a person has appeared', several(man), 1, 1],
    ['a man has appeared', three, 1, 1],
    ['three people have appeared', three, 1, 3],
    ['a man has appeared and a person has appeared', three, 2, 2],
    // Either may be the vehicle, but only if the van is are both claims true.
    ['a vehicle has appeared and a car has appeared', several(car, van), 2, 2],
    ['a vehicle has appeared and a car has appeared', several(van, car), 2, 2],
    ['a van has appeared and a bench has appeared', several(van), 1, 1],
  ] as [string, Pair, number, number][])('%s', (caption, pair, claims, named) => {
    const judgement = judged(pair, caption);
    expect([truths(judgement.claims), truths(judgement.named)]).toEqual([claims, named]);
  });

  it('but a label of several things may be told as often', () => {
    const thrice = 'a car has appeared and a car has appeared and a car has appeared';
    const toldTruly = (object: object) => truths(judged(several(object), thrice).claims);
    expect(toldTruly(car)).toBe(1);
    expect(toldTruly({ ...car, boxes_after: [...van.boxes_after, [300, 300, 60, 60]] })).toBe(2);
    expect(toldTruly({ ...car, noun: 'cars' })).toBe(2);
    expect(toldTruly({ ...car, count: 3 })).toBe(3);
  });
});

describe('the tables', () => {
  it('every noun leads up to a class, and the wider nouns exist', () => {
    for (const [noun, { isa }] of Object.entries(NOUNS)) {
      expect([noun, nounClass(noun)]).not.toEqual([noun, null]);
      for (const wider of isa) expect(Object.keys(NOUNS)).toContain(wider);
      expect(isa.length === 0 || (NOUNS[isa.at(-1) ?? '']?.isa.length ?? 1) === 0).toBe(true);
    }
  });

  it('a noun fits itself, a wider one is true and a narrower one is not', () => {
    for (const [noun, { isa }] of Object.entries(NOUNS)) {
      expect(nounFit(noun, noun)).toBe('same');
      for (const wider of isa)
        expect([nounFit(wider, noun), nounFit(noun, wider)]).toEqual(['wider', 'class']);
    }
  });

  it.each([
    ['grey', 'silver', true],
    ['gray', 'grey', true],
    ['dark', 'black', true],
    ['dark', 'dark blue', true],
    ['blue', 'light blue', true],
    ['light blue', 'dark blue', false],
    ['dark', 'white', false],
    ['red', 'orange', false],
    ['red', 'red and black', true],
    ['maroon', 'red', true],
    ['mauve', 'red', false],
  ])('said %s of %s: %s', (said, truth, same) => {
    expect(sameColour(said, truth)).toBe(same);
  });
});
