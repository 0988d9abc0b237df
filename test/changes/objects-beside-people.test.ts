/** Objects left and removed where people stand before them, or came and went with them. */
import { describe, expect, it } from '@jest/globals';
import type { ChangeRegion } from '../../src/schemas/change.js';
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
      caption: 'the bag on the left has been removed',
      regions: [{ side: 'before' }],
      object: { value: 'object_removed', since: iso(30) },
    });
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
