/** Links and events of things whose evidence is given. */
import type { Box, Side } from '../../src/base/images.js';
import { textOf } from '../../src/language/write.js';
import { chosenEvents, possibleEvents } from '../../src/pipeline/events.js';
import { statementsOf } from '../../src/pipeline/facts.js';
import type { Judge } from '../../src/pipeline/judge.js';
import { assignedLinks, linksOf } from '../../src/pipeline/links.js';
import type { Thing } from '../../src/pipeline/things.js';
import type { Witness } from '../../src/pipeline/witness.js';
import { cropNames, NAMES } from '../model/names.js';
import { judgeOf } from './judges.js';

const WITNESS: Witness = { kinds: {}, clauses: [], attention: { weights: new Float32Array(1), crops: [] } };
const MAN = cropNames({ man: 0.95, nothing: 0.01 }, { red: 0.9 });
const CAR = cropNames({ car: 0.95, nothing: 0.01 }, { red: 0.9 });
const UNSURE = cropNames({ car: 0.3, man: 0.3, nothing: 0.2 });

/** A thing of one colour in all bands, at x, half of the frame high. */
function thing(side: Side, x: number, given: Partial<Thing> & { readonly hue?: number } = {}): Thing {
  const { hue = 4, ...more } = given;
  const box: Box = { x, y: 0.3, width: 0.1, height: 0.5 };
  const colours = Array.from({ length: 30 }, (_, i) => (i % 10 === hue ? 100 : 0));
  return {
    ...{
      side,
      box,
      colours,
      filled: 1,
      crop: 0,
      names: MAN,
      decoded: [],
      witness: WITNESS,
      person: 0,
    },
    ...{ region: { side, box, area: 0.05, score: 0.9 }, nothing: 0.01, shares: new Map([['person', 0.95]]) },
    ...more,
  };
}
const CALIBRATION = {
  ...{ place: { scale: 1, offset: 0 }, third: 0.95, sideways: 0.95, depth: 0.95, one: 0.9, several: 0.7 },
};
/** Alike is what has the same colours; a better rival speaks against a link. */
const SURE = { single: { offset: 2 }, move: { offset: 2 } };
const JUDGE = judgeOf({ alike: { bands: 8, offset: -4 }, link: { alike: 1, better: -2 }, ...SURE });
const texts = (things: readonly Thing[], judge = JUDGE) => {
  const events = chosenEvents(possibleEvents(things, linksOf(things, 1.5, judge), judge), judge);
  const wording = { names: NAMES, calibration: CALIBRATION, truth: 0.9, levels: judge.levels };
  return statementsOf(events, wording).map(({ words }) => textOf(words));
};

it('a thing that both frames show alike moved, and the way is that of its boxes', () => {
  expect(texts([thing('before', 0.1), thing('after', 0.6)])).toEqual(['the man in red has moved to the right']);
});

it('things that look different came and left', () => {
  const left = { crop: 1, hue: 0 };
  expect(texts([thing('before', 0.1), thing('after', 0.8, left)])).toEqual([
    'the man in red on the left has left',
    'a man in red has appeared on the right',
  ]);
});

it('an improbable move is that one thing left and another came', () => {
  const judge = judgeOf({
    alike: { bands: 8, offset: -4 },
    link: { alike: 1 },
    single: { offset: 2 },
    move: { offset: -2 },
  });
  expect(texts([thing('before', 0.1), thing('after', 0.6, { crop: 1 })], judge)).toEqual([
    'the man in red on the left has left',
    'a man in red has appeared on the right',
  ]);
});

describe('below the level of identity the words leave open which thing it is', () => {
  const open = (judge: Judge): Judge => ({ ...judge, levels: { ...judge.levels, identity: 0.9 } });

  it('of a move', () => {
    expect(texts([thing('before', 0.1), thing('after', 0.6)], open(JUDGE))).toEqual([
      'the man in red has moved to the right or another is there now',
    ]);
    const people = [thing('before', 0.1, { person: 0.9 }), thing('after', 0.6, { person: 0.9 })];
    expect(texts(people, open(judgeOf({ ...SURE, link: { offset: 1 }, move: { offset: 5 } })))).toEqual([
      'the man in red has moved to the right',
    ]);
  });

  it('of what came and left, if either could be the other', () => {
    const things = [thing('before', 0.1), thing('after', 0.8, { crop: 1, hue: 0 })];
    expect(texts(things, open(JUDGE))).toEqual([
      'the man in red on the left is no longer there',
      'a man in red is now on the right',
    ]);
    expect(texts(things.slice(1), open(JUDGE))).toEqual(['a man in red has appeared on the right']);
  });

  it('not of something without a name', () => {
    const unnamed = { names: UNSURE, shares: new Map() };
    const things = [thing('before', 0.1, unnamed), thing('after', 0.6, unnamed)];
    expect(texts(things, open(JUDGE))).toEqual(['something has moved to the right']);
  });
});

it('of two candidates the better one is the partner', () => {
  const things = [thing('before', 0.1), thing('after', 0.5, { hue: 0 }), thing('after', 0.8)];
  const links = linksOf(things, 1.5, JUDGE);
  expect(links.map(({ row }) => row.better)).toEqual([1, 0]);
  expect(assignedLinks(links, JUDGE).map(({ after }) => after)).toEqual([things[2]]);
});

it('the assignment is the best of all together', () => {
  const [a, b] = [thing('before', 0.1), thing('before', 0.2)];
  const [c, d] = [thing('after', 0.3), thing('after', 0.4)];
  const link = (before: Thing, after: Thing, probability: number) =>
    ({ before, after, probability }) as ReturnType<typeof linksOf>[number];
  const links = [link(a, c, 0.9), link(a, d, 0.85), link(b, c, 0.85), link(b, d, 0.2)];
  expect(assignedLinks(links, JUDGE).map((one) => [one.before, one.after])).toEqual([
    [a, d],
    [b, c],
  ]);
});

it('a person of the detector is one, and no car in the other frame', () => {
  const judge = judgeOf({ alike: { conflict: -10, offset: 4 }, link: { alike: 1 }, ...SURE });
  const seen = thing('after', 0.8, { names: CAR, person: 0.8, crop: 1, shares: new Map([['vehicle', 0.95]]) });
  const car = thing('before', 0.1, { names: CAR, shares: new Map([['vehicle', 0.95]]) });
  expect(texts([car, seen], judge)).toEqual([
    'the red car on the left has left',
    'a person in red has appeared on the right',
  ]);
});

it('people of one place who left are one statement, counted', () => {
  const [a, b] = [thing('before', 0.1, { person: 0.9 }), thing('before', 0.2, { person: 0.9 })];
  expect(texts([a, b])).toEqual(['the two men in red on the left have left']);
});

it('an unsure event is not counted with a sure one', () => {
  const judge = judgeOf({ single: { filled: 4, offset: -2 } });
  const things = [thing('before', 0.1), thing('before', 0.15, { filled: 0 })];
  expect(texts(things, judge)).toHaveLength(2);
});

it('something of which only the class of a person is probable is a person', () => {
  const unsure = { names: UNSURE, shares: new Map([['person', 0.5]]) };
  expect(texts([thing('after', 0.1, unsure)])[0]).not.toContain('person');
  expect(texts([thing('after', 0.1, { ...unsure, person: 0.7 })])[0]).toContain('a person');
});
