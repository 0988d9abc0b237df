/** Locations that an observation consists of. */
import { describe, expect, it } from '@jest/globals';
import type { Observation } from '../../../src/camera/changes/state.js';
import { car, eventTypes, observed, RULES, regionAt, run, second } from './scenario.js';

describe('the location of a region', () => {
  const kinds = (frame: Observation) =>
    run([frame, { ...frame, at: frame.at + 1 }], RULES).steps[1]?.changes.map(({ change }) => change.kind);

  it('appears or disappears, by the frame that shows it', () => {
    expect(kinds(car(1, { kind: 'multi', regions: [regionAt(0), regionAt(1, { side: 'before' })] }))).toEqual([
      'appear',
      'disappear',
    ]);
  });
  it('is replaced if regions of both frames overlap', () => {
    const regions = [regionAt(0), regionAt(0, { side: 'before', shift: 0.02 })];
    expect(kinds(car(1, { regions, statements: [] }))).toEqual(['replace']);
  });
  it('has all regions of the other frame that a thing hides, except one that a statement is about', () => {
    const [came, ...hidden] = [regionAt(0), ...[0.01, 0.03].map((shift) => regionAt(0, { side: 'before', shift }))];
    const regions = [came, ...hidden];
    const statements = [{ caption: 'a car has appeared', kind: 'appear' as const, regions: [came] }];
    expect(kinds(car(1, { kind: 'appear', regions, statements }))).toEqual(['appear']);
    const left = { caption: 'the bag has gone', kind: 'disappear' as const, regions: hidden.slice(1) };
    expect(kinds(car(1, { kind: 'multi', regions, statements: [...statements, left] }))).toEqual([
      'appear',
      'disappear',
    ]);
  });
  it('joins two regions if the comparison found a move', () => {
    expect(
      kinds(car(1, { kind: 'move', regions: [regionAt(0), regionAt(2, { side: 'before' }), regionAt(3)] })),
    ).toEqual(['move', 'appear']);
  });
  it('joins the two regions that a statement of a move names, whatever the kind of the comparison', () => {
    const [stays, came, left] = [regionAt(0), regionAt(2), regionAt(3, { side: 'before' })];
    const statements = [{ caption: 'the car has moved to the left', kind: 'move' as const, regions: [left, came] }];
    expect(kinds(car(1, { kind: 'multi', regions: [stays, came, left], statements }))).toEqual(['move', 'appear']);
  });
});

describe('a change without regions', () => {
  const somewhere = (n: number) => observed(second(n), { verdict: 'change' });

  it('covers the whole frame, and no rule with min_area matches it', () => {
    const { steps } = run([somewhere(1), somewhere(2)], {
      ...RULES,
      severity: [{ min_area: 0.1, severity: 'high' }],
    });
    expect(steps[1]?.changes).toMatchObject([
      { event: 'change.opened', change: { kind: 'appear', severity: 'medium' } },
    ]);
  });
  it('belongs to every track, and takes the regions of a later frame', () => {
    expect(eventTypes([car(1), car(2), somewhere(3)])).toEqual(['', 'change.opened', 'change.persisting']);
    const { steps } = run([somewhere(1), car(2)], RULES);
    expect(steps[1]?.changes[0]?.change.regions).toEqual([regionAt(0)]);
  });
});
