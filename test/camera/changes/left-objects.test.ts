/** Objects left and removed: from the facts of single frames to the change and its alert. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { advance, applyEvents, resetBaseline } from '../../../src/camera/changes/advance.js';
import { leftCaption } from '../../../src/camera/changes/captions.js';
import { observationOf } from '../../../src/camera/changes/observation.js';
import { type ChangeRules, rulesOf } from '../../../src/camera/changes/rules.js';
import { severityOf } from '../../../src/camera/changes/severity.js';
import type { Observation, TrackerState } from '../../../src/camera/changes/state.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';
import { readCaption } from '../../../src/language/people/captions.js';
import { write } from '../../../src/language/write.js';
import type { Finding } from '../../../src/schemas/comparison.js';
import { compareSeverity, hasKind } from '../../../src/schemas/kinds.js';
import { bag, every, LEFT, last, objects, thing } from './objects.js';
import { blocked, empty, iso, observations, observed, type RULES, regionAt, rules, run, second } from './scenario.js';

describe('an object that came and stays', () => {
  const frames = [empty(0), ...every(10, 100, bag)];

  it('counts as left after left_after_s, once, and its sentence says so', () => {
    expect(objects(frames)).toEqual([[70, 'change.escalated']]);
    expect(last(frames)?.change).toMatchObject({
      kind: 'appear',
      severity: 'high',
      caption: 'A bag has been left on the left.',
      object: { value: 'object_left', since: iso(10), at: iso(70), owner: null },
    });
    expect(last(frames)?.change.object?.probability).toBeCloseTo(0.9, 9);
  });

  it('is alerted as one change: when it opens, and once more when it counts as left', () => {
    const alerts = run(frames, LEFT).steps.flatMap((step) => step.alerts);
    expect(alerts.map(({ type, change, at }) => [type, change.severity, (at - second(0)) / 1000])).toEqual([
      ['change.opened', 'medium', 20],
      ['change.escalated', 'high', 70],
    ]);
    expect(new Set(alerts.map(({ change }) => change.id)).size).toBe(1);
  });

  it('is alerted only once if a rule keeps its severity, or if less severe changes are not alerted', () => {
    const types = (rules: ChangeRules) =>
      run(frames, rules).steps.flatMap(({ alerts }) => alerts.map((one) => one.type));
    expect(types({ ...LEFT, severity: [{ kind: 'object_left', severity: 'medium' }] })).toEqual(['change.opened']);
    expect(types({ ...LEFT, minSeverity: 'high' })).toEqual(['change.opened']);
  });

  it('never counts if no time is set, if it moves, or if it is probably none', () => {
    expect(objects(frames, { ...LEFT, leftAfterMs: null })).toEqual([]);
    expect(objects([empty(0), ...every(10, 200, (n) => bag(n, { shift: n % 20 === 0 ? 0 : 0.1 }))])).toEqual([]);
    expect(objects([empty(0), ...every(10, 200, (n) => bag(n, { object: 0.4 }))])).toEqual([]);
    const unnamed = every(10, 200, (n) => ({ ...bag(n), things: [] }));
    expect(objects([empty(0), ...unnamed])).toEqual([]);
  });

  it('does not count while the camera repeats one picture; the next other one proves all of the time', () => {
    const repeated = every(20, 200, (n) => ({ ...bag(n), repeats: true }));
    expect(objects([empty(0), bag(10), ...repeated])).toEqual([]);
    expect(objects([empty(0), bag(10), ...repeated, bag(210)])).toEqual([[210, 'change.escalated']]);
  });

  it('waits for as long as the view is hidden', () => {
    const hidden = [...every(10, 40, bag), blocked(50), ...every(60, 120, bag)];
    // 30 s before, none from 40 to 60
    expect(objects(hidden)).toEqual([[90, 'change.escalated']]);
  });

  it('is named as in the frame that shows the object best, because a person may have brought it', () => {
    const person = (n: number) => {
      const region = regionAt(0);
      const statements = [{ caption: 'a person has appeared', kind: 'appear' as const, regions: [region] }];
      return observed(second(n), { regions: [region], statements, things: [thing('person', region)] });
    };
    const text = 'a black bag is now on the floor';
    const change = last([empty(0), person(10), person(20), ...every(30, 160, (n) => bag(n, { text }))])?.change;
    expect(change).toMatchObject({
      caption: 'A black bag has been left on the floor.',
      comparisons: { best: `cmp_${second(30)}` },
    });
  });
});

describe('an object that has settled', () => {
  const previous = { ...LEFT, before: 'previous' as const, settleMs: { scene: 0, tamper: null } };

  it('counts as left as long as nothing shows that it has gone', () => {
    const frames = [empty(0), bag(10), bag(20), ...every(30, 100, empty)];
    expect(objects(frames, previous)).toEqual([[70, 'change.escalated']]);
    const alerts = run(frames, previous).steps.flatMap((step) => step.alerts.map(({ type }) => type));
    expect(alerts).toEqual(['change.opened', 'change.escalated']);
  });
  it('counts no time in which weather hides it or something stands before it', () => {
    const hidden = [bag(10), bag(20), empty(30), empty(40, 'nuisance'), ...every(50, 100, empty)];
    expect(objects(hidden, previous)).toEqual([[90, 'change.escalated']]);
    const front = observed(second(40), { regions: [regionAt(0, { shift: 0.09 })] });
    // The frame after it begins to prove that nothing is there.
    expect(objects([bag(10), bag(20), empty(30), front, ...every(50, 100, empty)], previous)).toEqual([
      [100, 'change.escalated'],
    ]);
  });
  it('never counts after a reset of "before", or if a person says that it is normal', () => {
    const { state } = run([empty(0), bag(10), bag(20)], LEFT);
    const later = (from: TrackerState) =>
      every(30, 200, empty).reduce(
        (step, frame) => {
          const next = advance(step.state, frame, LEFT);
          return { state: next.state, events: [...step.events, ...next.changes.map(({ event }) => event)] };
        },
        { state: from, events: [] as unknown[] },
      ).events;
    expect(later(resetBaseline(state, second(25), true).state)).not.toContain('change.escalated');
    const normal = applyEvents(state, [{ type: 'change.normal', changeId: state.tracks[0]?.id ?? '' }]);
    const settled = advance(normal, bag(25), { ...LEFT, before: 'memory' });
    expect(settled.changes.map(({ event }) => event)).toContain('change.settled');
    expect(later(settled.state)).not.toContain('change.escalated');
  });
  it('does not count after it has gone', () => {
    const goes = (n: number) => bag(n, { side: 'before' });
    const frames = [bag(10), bag(20), empty(30), goes(40), goes(50), ...every(60, 150, empty)];
    const changes = run(frames, previous).steps.flatMap((step) => step.changes);
    const types = ['change.opened', 'change.settled', null, 'change.reverted'];
    expect(changes.map(({ event }) => event)).toEqual(types);
    expect(changes.at(-1)?.change).toMatchObject({ last_seen: iso(30), reverted_at: iso(40) });
  });
});

describe('an object that went', () => {
  it('counts as removed, with a sentence that the reader of captions understands', () => {
    const change = last([empty(0), ...every(10, 80, (n) => bag(n, { side: 'before' }))])?.change;
    expect(change).toMatchObject({
      kind: 'disappear',
      caption: 'The bag on the left has been removed.',
      object: { value: 'object_removed' },
    });
  });
});

describe('the owner', () => {
  const walker = (n: number, slot: number, shift = 0) => {
    const region = regionAt(slot, { shift });
    return observed(second(n), { regions: [region], things: [thing('person', region)] });
  };
  const ownerOf = (before: Observation[]) => last([...before, ...every(40, 130, bag)])?.change.object?.owner;

  it('is the person who was nearest to the place where the object came', () => {
    expect(ownerOf([walker(10, 1, 0.02), walker(20, 1), walker(30, 1, 0.02)])).toEqual({
      ...{ comparison: `cmp_${second(20)}`, at: iso(20) },
      box: regionAt(1).box,
    });
  });
  it('is no person who was too far away or there too long ago', () => {
    expect(ownerOf([walker(30, 3)])).toBeNull();
    expect(ownerOf([walker(5, 1)])).toBeNull();
  });
});

describe('leftCaption', () => {
  it.each([
    ['appear', 'a bag has appeared in the middle', 'A bag has been left.'],
    ['appear', 'two black bags have appeared', 'Two black bags have been left.'],
    ['appear', 'there is a box on the road now', 'A box has been left on the road.'],
    ['appear', 'there are two boxes now', 'Two boxes have been left.'],
    ['appear', 'a suitcase is now on the platform', 'A suitcase has been left on the platform.'],
    ['appear', 'something has appeared on the left', 'Something has been left on the left.'],
    ['disappear', 'the brown box on the left is gone', 'The brown box on the left has been removed.'],
    ['disappear', 'the two bags are no longer there', 'The two bags have been removed.'],
    ['disappear', 'something in the middle has disappeared', 'Something has been removed.'],
  ] as const)('%s: %s', (kind, caption, expected) => {
    expect(write(leftCaption(caption, kind))).toBe(expected);
    if (!expected.startsWith('something')) {
      expect(readCaption(expected).mentions.map(({ direction }) => direction)).toEqual([kind]);
    }
  });
});

describe('rules about objects left and removed', () => {
  const change = { kind: 'appear' as const, regions: [regionAt(0)], object: 'object_left' as const };
  const severity = (rules: typeof RULES.severity) =>
    severityOf(change, second(0), { severity: rules, sentences: [], schedule: null });

  it('raise the severity by one step, to medium at least, unless a rule names the object', () => {
    expect(severity([])).toBe('high');
    expect(severity([{ zone: 'door', severity: 'info' }])).toBe('medium');
    expect(severity([{ kind: 'appear', severity: 'low' }])).toBe('medium');
    expect(severity([{ kind: 'object_left', severity: 'low' }])).toBe('low');
    expect(severity([{ kind: 'object_removed', severity: 'low' }])).toBe('high');
  });
  it('have 60 s unless the camera says otherwise; 0 is never', () => {
    const leftAfter = (alerts: object) => rulesOf('gate', checkSettings({ alerts })).leftAfterMs;
    expect([leftAfter({}), leftAfter({ left_after_s: 5 }), leftAfter({ left_after_s: 0 })]).toEqual([
      60_000,
      5_000,
      null,
    ]);
  });
  it('filter by the kind of the change and of the object', () => {
    const object = { value: 'object_left' as const };
    expect(
      ['appear', 'object_left', 'object_removed'].map((kind) => hasKind({ kind: 'appear', object }, kind as never)),
    ).toEqual([true, true, false]);
    expect(hasKind({ kind: 'appear' }, 'object_left')).toBe(false);
  });
});

describe('the law of objects left and removed', () => {
  const isHidden = ({ verdict }: Observation) => verdict === 'tamper' || verdict === 'nuisance';
  const holds = (o: Observation[], r: ChangeRules) => {
    const named = o.map((one) => ({ ...one, things: one.regions.map((region) => thing('object', region, 0.9)) }));
    const { steps } = run(named, { ...r, severity: [] });
    const known = new Set<string>();
    for (const { change, event } of steps.flatMap(({ changes }) => changes)) {
      if (change.object === undefined || known.has(change.id)) continue;
      known.add(change.id);
      const { value, since, at } = change.object;
      expect(event).toBe('change.escalated');
      expect(change.kind).toBe(value === 'object_left' ? 'appear' : 'disappear');
      expect(compareSeverity(change.severity, 'medium')).toBeGreaterThanOrEqual(0);
      const frames = steps.map(({ observation }) => observation);
      const visible = frames.reduce((sum, frame, i) => {
        const earlier = frames[i - 1];
        const counts = earlier !== undefined && earlier.at >= Date.parse(since) && frame.at <= Date.parse(at);
        return counts && !isHidden(earlier) && !isHidden(frame) ? sum + frame.at - earlier.at : sum;
      }, 0);
      expect(visible).toBeGreaterThanOrEqual(r.leftAfterMs ?? Number.POSITIVE_INFINITY);
    }
  };
  it('a change counts as one after the view has shown it for left_after_s, and is at least medium', () => {
    fc.assert(fc.property(observations, rules, holds), { numRuns: 200, seed: 20260105 });
  });
});

it('the things of an observation are the facts of the finding', () => {
  const region = { id: 1, side: 'after', box: regionAt(0).box, area: 0.01, score: 0.9 } as const;
  const likely = { value: 'bag', probability: 0.9 };
  const fact = {
    ...{ kind: { value: 'appear', probability: 0.9 }, noun: likely, colour: null, place: null, way: null },
    ...{ count: { value: 1, probability: 0.9 }, regions: [1] },
  } as const;
  const things = (facts: object[]) =>
    observationOf({ verdict: 'change', nuisance: [], regions: [region], facts } as unknown as Finding, {
      ...{ comparisonId: 'cmp', at: 0, frame: 0 },
    }).things;
  const afterwards = [expect.objectContaining({ side: 'after' })];
  expect(things([{ ...fact, class: { value: 'object', probability: 0.8 } }])).toEqual([
    {
      class: 'object',
      object: 0.8,
      kind: { value: 'appear', probability: 0.9 },
      nouns: [],
      colours: [],
      regions: afterwards,
    },
  ]);
  expect(things([{ ...fact, class: { value: 'person', probability: 0.8 } }])?.[0]?.object).toBe(0);
  expect(things([fact, { ...fact, class: null }])).toEqual([]);
});
