import { facts, falseClauses, trueKinds } from '../../lab/figures/facts.js';
import type { Pair } from '../../lab/figures/pairs.js';
import { appeared, assessed, both, man, pairOf, unchanged, van } from './labels.js';

describe('the thing that is named first', () => {
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
    expect(assessed(appeared, caption)).toMatchObject({ noun, nounStrict, nounClass });
  });

  it('may be any of the changed things, in the direction of that thing', () => {
    expect(assessed(both, 'the man is gone').noun).toBe(true);
    expect(assessed(both, 'a van has appeared').noun).toBe(true);
    expect(assessed(both, 'a man has appeared').noun).toBe(false);
  });

  it('has no outcome on unchanged pairs', () => {
    expect(assessed(unchanged, 'a van has appeared')).toMatchObject({
      noun: null,
      colour: null,
      place: null,
      saysChange: false,
    });
  });
});

describe('the colour of the thing that is named first', () => {
  it.each([
    ['a silver van has appeared', true],
    ['a grey van has appeared', true],
    ['a red van has appeared', false],
    ['a van has appeared', false],
    ['a grey truck has appeared', true],
    ['the grey van is gone', false],
  ])('%s', (caption, right) => {
    expect(assessed(appeared, caption).colour).toBe(right);
  });

  it('has an outcome on every pair with a labelled colour, whatever the caption states', () => {
    const colourOf = (caption: string) => assessed(both, caption).colour;
    expect(colourOf('a silver van has appeared')).toBe(true);
    expect(colourOf('the black man is gone')).toBe(false);
    expect(colourOf('the van is gone')).toBe(false);
    expect(colourOf('nothing has changed')).toBe(false);
  });

  it('is judged of stated colours if class and direction of the thing are right', () => {
    const said = (caption: string) => facts([appeared], [{ caption, kind: 'appear' }]).colourWhereSaid?.of ?? 0;
    expect(said('a red truck has appeared')).toBe(1);
    expect(said('the red van is gone')).toBe(0);
    expect(said('a van has appeared')).toBe(0);
  });

  it('may be the colour of one of several things', () => {
    const colourOf = (caption: string) => assessed(appeared, caption).colour;
    expect(colourOf('two vans have appeared, one red and one silver')).toBe(true);
    expect(colourOf('two vans have appeared, one red and one green')).toBe(false);
  });

  it('has no outcome without a labelled colour', () => {
    const colourless = pairOf({ verdict: 'change', kind: 'disappear', objects: [man] });
    expect(assessed(colourless, 'the black man is gone').colour).toBeNull();
  });

  it('is compared with the labelled one of several things that fit the noun', () => {
    const vans = (...objects: object[]) => pairOf({ verdict: 'change', kind: 'multi', objects });
    const pale = { ...van, colour: null };
    expect(assessed(vans(pale, van), 'a silver van has appeared').colour).toBe(true);
    expect(assessed(vans(pale, { ...van, noun: 'truck' }), 'a silver van has appeared').colour).toBe(true);
    expect(assessed(vans(pale, { ...van, noun: 'truck' }), 'a red van has appeared').colour).toBe(false);
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
    expect(assessed(pair, caption).inverted).toBe(expected);
  });
});

describe('the kind', () => {
  it('of several things that changed in one direction may be that direction', () => {
    const two = pairOf({ verdict: 'change', kind: 'multi', objects: [van, { ...van, noun: 'car' }] });
    expect(trueKinds(two)).toEqual(['multi', 'appear']);
    expect(assessed(two, '', 'appear')).toMatchObject({ kind: true, kindStrict: false });
    expect(trueKinds(both)).toEqual(['multi']);
  });

  it('of a thing that stands where another stood may be replace or multi', () => {
    const gone = { ...man, boxes_before: [[60, 400, 120, 90]] };
    expect(trueKinds(pairOf({ verdict: 'change', kind: 'multi', objects: [gone, van] }))).toEqual(['multi', 'replace']);
  });

  it('of CLEVR colours and materials is replace', () => {
    expect(trueKinds(pairOf({ verdict: 'change', kind: 'color' }))).toEqual(['replace']);
  });
});

it('takes the facts of a CLEVR line from the scene that the generator recorded', () => {
  const sphere = { size: 'small', color: 'blue', material: 'rubber', shape: 'sphere' };
  const clevr = pairOf({
    verdict: 'change',
    kind: 'color',
    boxes_before: [[10, 10, 50, 50]],
    boxes_after: [[12, 10, 50, 50]],
    changed: { before: sphere, after: { ...sphere, color: 'red' } },
  });
  expect(assessed(clevr, 'the small blue ball changed to red')).toMatchObject({
    nounStrict: true,
    colour: true,
    becomes: true,
  });
  expect(assessed(clevr, 'the blue thing turned red')).toMatchObject({
    noun: true,
    nounStrict: false,
    becomes: true,
  });
  expect(assessed(clevr, 'the blue ball turned green')).toMatchObject({ noun: true, becomes: false });
});

it('counts named things and true claims over all pairs', () => {
  const result = facts(
    [both, appeared, unchanged],
    ['the man is gone and a bench has appeared', 'a van has appeared', 'nothing has changed'].map((caption) => ({
      caption,
      kind: null,
    })),
  );
  expect(result.saysChange).toMatchObject({ hits: 3, of: 3 });
  expect(result.noun).toMatchObject({ hits: 2, of: 2 });
  expect(result.objectsNamed).toMatchObject({ hits: 2, of: 3 });
  expect(result.claimsTrue).toMatchObject({ hits: 2, of: 3 });
});

describe('clauses', () => {
  const captions = [
    'the man is gone and a bench has appeared',
    'a van has appeared and the man is gone and a dog has appeared',
    'a van has appeared',
    'a bench has been replaced by a van',
    'nothing has changed',
  ];
  const pairs = captions.map(() => both);
  const statements = captions.map((caption) => ({ caption, kind: null }));
  const falseAlarm = { caption: 'a dog is gone', kind: null };

  it('are counted by their position; one is true if all its claims are', () => {
    const result = facts([...pairs, unchanged], [...statements, falseAlarm]);
    expect(result.firstClauseTrue).toMatchObject({ hits: 3, of: 4 });
    expect(result.secondClauseTrue).toMatchObject({ hits: 1, of: 2 });
    expect(result.thirdClauseTrue).toMatchObject({ hits: 0, of: 1 });
  });

  it('with a false claim are counted per answer about a changed pair', () => {
    const result = falseClauses([...pairs, unchanged], [...statements, falseAlarm]);
    expect(result).toEqual({ answers: 5, clauses: 3, perAnswer: 0.6 });
    expect(falseClauses([unchanged], [falseAlarm]).perAnswer).toBeNull();
  });
});

describe('claims and changed things are matched one to one', () => {
  const car = { ...van, noun: 'car' };
  const man = { ...van, noun: 'man' };
  const several = (...objects: object[]) => pairOf({ verdict: 'change', kind: 'multi', objects });
  const three = several(man, man, { ...van, noun: 'woman' });
  const truths = (outcomes: readonly boolean[]) => outcomes.filter(Boolean).length;

  it.each([
    // caption, labels, true claims, named things
    ['a man has appeared and a man has appeared and a person has appeared', several(man), 1, 1],
    ['a man has appeared', three, 1, 1],
    ['three people have appeared', three, 1, 3],
    ['a man has appeared and a person has appeared', three, 2, 2],
    // Both claims are true only if the vehicle is matched with the van.
    ['a vehicle has appeared and a car has appeared', several(car, van), 2, 2],
    ['a vehicle has appeared and a car has appeared', several(van, car), 2, 2],
    ['a van has appeared and a bench has appeared', several(van), 1, 1],
  ] as [string, Pair, number, number][])('%s', (caption, pair, claims, named) => {
    const assessment = assessed(pair, caption);
    expect([truths(assessment.claims), truths(assessment.named)]).toEqual([claims, named]);
  });

  it('a label of several things makes as many claims true', () => {
    const threeClaims = 'a car has appeared and a car has appeared and a car has appeared';
    const trueClaims = (object: object) => truths(assessed(several(object), threeClaims).claims);
    expect(trueClaims(car)).toBe(1);
    expect(trueClaims({ ...car, boxes_after: [...van.boxes_after, [300, 300, 60, 60]] })).toBe(2);
    expect(trueClaims({ ...car, noun: 'cars' })).toBe(2);
    expect(trueClaims({ ...car, count: 3 })).toBe(3);
  });
});
