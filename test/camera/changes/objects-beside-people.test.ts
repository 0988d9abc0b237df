/** Objects left and removed where people stand before them, or came and went with them. */
import { describe, expect, it } from '@jest/globals';
import type { ChangeRegion } from '../../../src/schemas/change.js';
import { bag, every, LEFT, last, objects, thing } from './objects.js';
import { empty, iso, observed, regionAt, run, second } from './scenario.js';

describe('an object beside people', () => {
  /** A region over the first slot, larger than the bag there. */
  const person = (n: number) => {
    const [region, box] = [regionAt(0), { x: 0, y: 0, width: 0.3, height: 0.6 }];
    const regions = [{ ...region, box, area: 0.15 }];
    const statements = [{ caption: 'a person has appeared', kind: 'appear' as const, regions }];
    return observed(second(n), { regions, statements, things: [thing('person', regions[0] as ChangeRegion)] });
  };

  it('counts as removed, though its change opened as the person who took it', () => {
    const change = last([empty(0), person(10), person(20), ...every(30, 100, (n) => bag(n, { side: 'before' }))]);
    expect(change?.change).toMatchObject({
      kind: 'disappear',
      caption: 'The bag on the left has been removed.',
      regions: [{ side: 'before' }],
      object: { value: 'object_removed', since: iso(30) },
    });
  });

  it('counts as removed by one change, though the changes of two people at its place go on', () => {
    const { box } = regionAt(0);
    const two = (n: number) => {
      const regions = [0, 0.11].map((x) => ({ ...regionAt(0), box: { ...box, x, width: 0.08 } }));
      const statements = regions.map((one) => {
        return { caption: 'a person has appeared', kind: 'appear' as const, regions: [one] };
      });
      return observed(second(n), { regions, statements, things: regions.map((one) => thing('person', one)) });
    };
    const frames = [empty(0), two(10), two(20), ...every(30, 100, (n) => bag(n, { side: 'before' }))];
    expect(objects(frames)).toEqual([[90, 'change.escalated']]);
  });

  it('counts as left, though its change is also that of the place that a person left', () => {
    const { box } = regionAt(0);
    const place = { ...regionAt(0, { side: 'before' }), box: { ...box, x: box.x + 0.18, width: 0.08 } };
    const beside = (n: number, name: 'person' | 'object') => {
      const region = regionAt(0);
      const regions = [place, region];
      const statements = regions.map((one, i) => {
        return { caption: `thing ${i}`, kind: i === 0 ? ('disappear' as const) : ('appear' as const), regions: [one] };
      });
      const things = [thing('person', place), thing(name, region, name === 'object' ? 0.9 : 0)];
      return observed(second(n), { regions, statements, things });
    };
    const frames = [
      ...[empty(0), person(10), person(20), ...every(30, 40, (n) => beside(n, 'person'))],
      ...every(50, 130, (n) => beside(n, 'object')),
    ];
    expect(objects(frames)).toEqual([[110, 'change.escalated']]);
  });

  it('waits while a person stands before it, and is there since it came', () => {
    const frames = [empty(0), ...every(10, 40, bag), person(50), person(60), ...every(70, 130, bag)];
    expect(objects(frames)).toEqual([[100, 'change.escalated']]);
    expect(last(frames)?.change.object?.since).toBe(iso(10));
  });

  it('waits as well behind a region of several things that covers a part of it, whatever it is named after', () => {
    const { box } = regionAt(0);
    const partly = (n: number) => {
      const region = { ...regionAt(0), box: { ...box, x: box.x + 0.09, width: 0.3 } };
      return observed(second(n), { regions: [region], things: [thing('object', region, 0.9)] });
    };
    const frames = [empty(0), ...every(10, 40, bag), person(50), partly(60), ...every(70, 130, bag)];
    expect(last(frames)?.change.object?.since).toBe(iso(10));
  });

  it('is still gone if the comparison takes it for the beginning of another way', () => {
    const moves = (n: number) => {
      const regions = [regionAt(0, { side: 'before' }), regionAt(n % 20 === 0 ? 2 : 3)];
      const statements = [{ caption: 'the person has moved', kind: 'move' as const, regions }];
      return observed(second(n), { kind: 'move', regions, statements });
    };
    const goes = (n: number) => bag(n, { side: 'before' });
    const frames = [empty(0), goes(10), goes(20), ...every(30, 50, moves), ...every(60, 80, goes)];
    expect(objects(frames)).toEqual([[70, 'change.escalated']]);
  });

  it('has no region of the person with whom its change began', () => {
    const frames = [empty(0), person(10), person(20), ...every(30, 90, (n) => bag(n, { side: 'before' }))];
    const counted = run(frames, LEFT)
      .steps.flatMap(({ changes }) => changes)
      .find(({ change }) => change.object !== undefined)?.change;
    expect(counted?.last_regions ?? counted?.regions).toEqual([regionAt(0, { side: 'before' })]);
  });

  it('is the same if its coarse outline is a part of the known one', () => {
    const { box } = regionAt(0);
    const part = (n: number) => {
      const region = { ...regionAt(0), box: { ...box, width: box.width / 2, height: box.height / 2 } };
      return observed(second(n), { regions: [region], things: [thing('object', region, 0.9)] });
    };
    const frames = [empty(0), bag(10), bag(20), part(30), bag(40), part(50), bag(60), bag(70)];
    expect(objects(frames)).toEqual([[70, 'change.escalated']]);
  });
});
