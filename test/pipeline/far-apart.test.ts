/** Statements about frames that are far apart in time: no move of a being or a vehicle between two places. */
import { describe, expect, it } from '@jest/globals';
import { textOf } from '../../src/language/write.js';
import { farApart } from '../../src/pipeline/far-apart.js';
import type { LocationStatement } from '../../src/pipeline/location-statement.js';
import { located } from './located.js';

const region = (side: 'before' | 'after', x: number) => ({
  ...{ side, area: 0.02, score: 0.9 },
  box: { x, y: 0.4, width: 0.1, height: 0.2 },
});
const moved = (text: string, from = 0.8, to = 0.1): LocationStatement => ({
  ...located(text, { score: 0.8 }),
  regions: [region('before', from), region('after', to)],
});
const said = (statement: LocationStatement, seconds: number | null) =>
  farApart([statement], seconds).map(({ words, regions }) => [textOf(words), regions.map(({ side }) => side).join()]);

describe('a move', () => {
  const person = 'the person in black has moved to the left';
  const both = 'before,after';

  it('of a person is one of frames that are near, or of which the time is not known', () => {
    expect(said(moved(person), null)).toEqual([[person, both]]);
    expect(said(moved(person), 60)).toEqual([[person, both]]);
  });

  it('of a person after minutes is what came and what left, with counts and clothes', () => {
    expect(said(moved(person), 300)).toEqual([
      ['a person in black is now on the left', 'after'],
      ['the person in black on the right is no longer there', 'before'],
    ]);
    expect(said(moved('the two people have walked to the left'), 3600)).toEqual([
      ['two people are now on the left', 'after'],
      ['the two people on the right are no longer there', 'before'],
    ]);
  });

  it('of a vehicle is one for two hours', () => {
    const car = 'the red car has driven to the left';
    expect(said(moved(car), 3600)).toEqual([[car, both]]);
    expect(said(moved(car), 7200)).toEqual([
      ['a red car is now on the left', 'after'],
      ['the red car on the right is no longer there', 'before'],
    ]);
  });

  it('of an object stays one, and so does that of a person who is where one was', () => {
    const chair = 'the chair has been moved to the left';
    expect(said(moved(chair), 100_000)).toEqual([[chair, both]]);
    expect(said(moved(person, 0.15, 0.1), 100_000)).toEqual([[person, both]]);
  });

  it('has facts of its kind on each side', () => {
    const fact = { kind: { value: 'move', probability: 0.9 }, place: null, way: null, regions: [] };
    const one = { ...moved(person), fact: fact as unknown as LocationStatement['fact'] };
    const facts = farApart([one], 300).map((statement) => statement.fact);
    expect(facts.map((end) => [end?.kind.value, end?.place?.value, end?.regions.length])).toEqual([
      ['appear', 'on the left', 1],
      ['disappear', 'on the right', 1],
    ]);
  });
});
