/** The life of single changes, told frame by frame; what holds for all of them is in laws.test.ts. */
import { describe, expect, it } from '@jest/globals';
import { advance, applyEvents, resetBaseline } from '../../src/changes/advance.js';
import type { ChangeRules } from '../../src/changes/rules.js';
import { initialTrackerState, type Observation } from '../../src/changes/state.js';
import { newsOf, observed, RULES, regionAt, run, START } from './cameras.js';

const second = (n: number) => START + n * 1000;
const iso = (n: number) => new Date(second(n)).toISOString();
const car = (n: number, given: Partial<Observation> = {}) =>
  observed(second(n), { regions: [regionAt(0)], ...given });
const empty = (n: number, verdict: Observation['verdict'] = 'none') => observed(second(n), { verdict });
const events = (frames: Observation[], rules: Partial<ChangeRules> = {}) =>
  run(frames, { ...RULES, ...rules }).steps.map(({ changes }) =>
    changes.flatMap(({ event }) => event ?? []).join(' '),
  );

describe('a car that comes, stays and goes', () => {
  const frames = [empty(0), car(1), car(2), car(3), car(4), empty(5), empty(6), empty(7)];

  it('is opened by its second frame, persists, and has reverted with the first frame without it once the second confirms that', () => {
    expect(events(frames)).toEqual([
      '',
      '',
      'change.opened',
      'change.persisting',
      '',
      '',
      'change.reverted',
      '',
    ]);
    const { steps } = run(frames, RULES);
    expect(steps[6]?.changes[0]?.change).toMatchObject({
      camera: 'gate',
      zone: 'door',
      kind: 'appear',
      status: 'reverted',
      severity: 'medium',
      first_seen: iso(1),
      confirmed_at: iso(2),
      last_seen: iso(4),
      reverted_at: iso(5),
      comparisons: { first: `cmp_${second(1)}`, last: `cmp_${second(4)}` },
    });
  });
  it('holds "before" from its first frame to its end', () => {
    expect(run(frames, RULES).steps.map(({ hold }) => hold)).toEqual([
      false,
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
  });
  it('is told when it is opened and when it has gone', () => {
    const alerts = run(frames, RULES).steps.flatMap((step) => step.alerts);
    expect(alerts.map(({ type, at }) => [type, at])).toEqual([
      ['change.opened', second(2)],
      ['change.reverted', second(6)],
    ]);
  });
  it('survives one frame in which the map misses it', () => {
    expect(events([car(1), car(2), empty(3), car(4)])).toEqual([
      '',
      'change.opened',
      '',
      'change.persisting',
    ]);
  });
  it.each([
    ['S--S--S--S', 3],
    ['SS-SS-SS-S', 3],
    ['S-S-S-S-S-', 2],
  ])(
    'is not opened while it only flickers: %s of %d to confirm, and "before" is let go now and then',
    (flicker, confirmFrames) => {
      const frames = [...flicker].map((shown, n) => (shown === 'S' ? car(n) : empty(n)));
      const { steps } = run(frames, { ...RULES, confirmFrames });
      expect(steps.flatMap(({ changes }) => changes)).toEqual([]);
      expect(steps.map(({ hold }) => hold)).toContain(false);
    },
  );
  it('is opened across frames that cannot tell, which do not break the row', () => {
    expect(events([car(1), empty(2, 'nuisance'), car(3)])).toEqual(['', '', 'change.opened']);
    expect(events([car(1), empty(2), car(3), car(4)])).toEqual(['', '', '', 'change.opened']);
  });
  it('is opened across as many of them as one likes, as long as they are not so many in a row', () => {
    const fog = (n: number) => empty(n, 'nuisance');
    const frames = [car(1), fog(2), fog(3), car(4), fog(5), fog(6), car(7)];
    expect(events(frames, { confirmFrames: 3 }).at(-1)).toBe('change.opened');
    expect(events([car(1), fog(2), fog(3), fog(4), car(5), car(6)], { confirmFrames: 3 }).at(-1)).toBe('');
  });
  it('is not opened before it has lasted for persist_s', () => {
    expect(events([car(1), car(2), car(9), car(11)], { persistMs: 10_000 })).toEqual([
      '',
      '',
      '',
      'change.opened',
    ]);
  });
  it('has caption and pictures of the surest comparison up to its confirmation', () => {
    const { steps } = run(
      [
        car(1, { confidence: 0.7 }),
        car(2, { confidence: 0.95, caption: 'a red car has appeared' }),
        car(3, { confidence: 1 }),
      ],
      RULES,
    );
    expect(steps[2]?.changes[0]?.change).toMatchObject({
      caption: 'a red car has appeared',
      confidence: 0.95,
      comparisons: { best: `cmp_${second(2)}` },
    });
  });
  it('is followed on its way, as far as it is long from frame to frame, and is another thing beyond', () => {
    const driving = (n: number, x: number) =>
      car(n, { regions: [regionAt(0, { box: { x, y: 0.4, width: 0.1, height: 0.1 } })] });
    expect(events([driving(1, 0), driving(2, 0.09), driving(3, 0.18)])).toEqual([
      '',
      'change.opened',
      'change.persisting',
    ]);
    expect(events([driving(1, 0), driving(2, 0.12), driving(3, 0.24)])).toEqual(['', '', '']);
  });
  it('is one change under the region of a neighbour that melts with it and parts again', () => {
    const wide = {
      side: 'after' as const,
      box: { x: 0.02, y: 0.4, width: 0.4, height: 0.15 },
      area: 0.1,
      score: 0.9,
      zone: null,
    };
    const both = (n: number) => car(n, { regions: [regionAt(0), regionAt(1)] });
    expect(events([both(1), both(2), car(3, { regions: [wide] }), both(4), both(5)])).toEqual([
      '',
      'change.opened change.opened',
      'change.persisting change.persisting',
      '',
      '',
    ]);
  });
});

describe('what it takes for one place', () => {
  const kinds = (frame: Observation) =>
    run([frame, { ...frame, at: frame.at + 1 }], RULES).steps[1]?.changes.map(({ change }) => change.kind);

  it('is something that appeared or disappeared, by the frame that shows it', () => {
    expect(kinds(car(1, { kind: 'multi', regions: [regionAt(0), regionAt(1, { side: 'before' })] }))).toEqual(
      ['appear', 'disappear'],
    );
  });
  it('is something replaced, where both frames show something', () => {
    expect(kinds(car(1, { regions: [regionAt(0), regionAt(0, { side: 'before', shift: 0.02 })] }))).toEqual([
      'replace',
    ]);
  });
  it('is one thing that moved, where the comparison says so', () => {
    expect(
      kinds(car(1, { kind: 'move', regions: [regionAt(0), regionAt(2, { side: 'before' }), regionAt(3)] })),
    ).toEqual(['move', 'appear']);
  });
});

describe('a change of which no region is known', () => {
  const somewhere = (n: number) => observed(second(n), { verdict: 'change' });

  it('is one change of the whole frame, which no rule about large changes applies to', () => {
    const { steps } = run([somewhere(1), somewhere(2)], {
      ...RULES,
      severity: [{ min_area: 0.1, severity: 'high' }],
    });
    expect(steps[1]?.changes).toMatchObject([
      { event: 'change.opened', change: { kind: 'appear', severity: 'medium' } },
    ]);
  });
  it('may be any of those that are followed, and gets the region of a frame that knows one', () => {
    expect(events([car(1), car(2), somewhere(3)])).toEqual(['', 'change.opened', 'change.persisting']);
    const { steps } = run([somewhere(1), car(2)], RULES);
    expect(steps[1]?.changes[0]?.change.regions).toEqual([regionAt(0)]);
  });
});

describe('what settles', () => {
  const memory: Partial<ChangeRules> = { before: 'memory', settleMs: { scene: 5_000, tamper: 5_000 } };
  const stays = [car(1), car(2), car(3), car(6)];

  it('is absorbed by a background after its time, and has reverted when the background shows what the frame no longer has', () => {
    const gone = (n: number) => car(n, { regions: [regionAt(0, { side: 'before' })] });
    const { steps, state } = run([...stays, empty(7), empty(8), empty(9), gone(10), gone(11)], {
      ...RULES,
      ...memory,
    });
    expect(steps[3]?.absorb).toEqual([regionAt(0)]);
    expect(steps.at(-1)?.changes).toMatchObject([
      { event: 'change.reverted', change: { settled_at: iso(6), reverted_at: iso(10) } },
    ]);
    expect(steps.at(-1)?.absorb).toHaveLength(1);
    expect(state.settled).toEqual([]);
  });
  it('is no new change in a light in which the background has not learned it; it is absorbed there too', () => {
    const { steps } = run([...stays, empty(7), empty(8), car(60), car(61)], { ...RULES, ...memory });
    expect(steps.slice(4).flatMap(({ changes }) => changes)).toEqual([]);
    expect(steps.at(-1)?.absorb).toEqual([regionAt(0)]);
  });
  it('is, with the frame before as "before", part of it as soon as nothing else is undecided', () => {
    const rules = { ...RULES, before: 'previous' as const, settleMs: { scene: 0, tamper: 60_000 } };
    const other = (n: number) => car(n, { regions: [regionAt(0), regionAt(2)] });
    const { steps } = run([car(1), other(2), other(3)], rules);
    expect(steps.map(({ hold }) => hold)).toEqual([true, true, false]);
    expect(steps[2]?.changes.filter(({ event }) => event === 'change.settled')).toHaveLength(2);
  });
  it('is told to have gone when the frame after the frame before no longer has it', () => {
    const rules = { ...RULES, before: 'previous' as const, settleMs: { scene: 0, tamper: 60_000 } };
    const gone = (n: number) => car(n, { regions: [regionAt(0, { side: 'before' })] });
    expect(events([car(1), car(2), empty(3), gone(4), gone(5)], rules)).toEqual([
      '',
      'change.opened change.settled',
      '',
      '',
      'change.reverted',
    ]);
  });
  it('is not taken for gone where something much smaller goes at the same place', () => {
    const rules = { ...RULES, before: 'previous' as const, settleMs: { scene: 0, tamper: 60_000 } };
    const dog = (n: number) =>
      car(n, {
        regions: [regionAt(0, { side: 'before', box: { x: 0.05, y: 0.45, width: 0.03, height: 0.04 } })],
      });
    expect(events([car(1), car(2), dog(3), dog(4)], rules).at(-1)).toBe('change.opened change.settled');
  });
});

describe('where "before" begins anew', () => {
  const anew = (frames: Observation[], rules: Partial<ChangeRules> = {}) =>
    resetBaseline(run(frames, { ...RULES, ...rules }).state, second(9));
  const gone = (n: number) => car(n, { regions: [regionAt(0, { side: 'before' })] });

  it('what is open ends as settled, and what is pending is dropped', () => {
    const { state, changes } = anew([car(1), car(2, { regions: [regionAt(0), regionAt(2)] })]);
    expect(changes).toMatchObject([
      { event: 'change.settled', change: { status: 'opened', settled_at: iso(9), reverted_at: null } },
    ]);
    expect(state.tracks).toEqual([]);
  });
  it('what has settled so reverts once it goes', () => {
    const { state } = anew([car(1), car(2)]);
    const last = advance(advance(state, gone(10), RULES).state, gone(11), RULES);
    expect(last.changes).toMatchObject([{ event: 'change.reverted', change: { reverted_at: iso(10) } }]);
    expect(last.alerts).toMatchObject([{ type: 'change.reverted' }]);
  });
  it('what the last frame did not show is not waited for: a background would take the next one there for it', () => {
    const memory = { before: 'memory' as const, settleMs: { scene: null, tamper: null } };
    const { state, changes } = anew([car(1), car(2), empty(3)], memory);
    expect([changes.length, state.settled]).toEqual([1, []]);
    const rules = { ...RULES, ...memory };
    const next = advance(advance(state, car(10), rules).state, car(11), rules);
    expect(next.changes).toMatchObject([{ event: 'change.opened' }]);
  });
  it('a blocked lens ends too, and the next is opened', () => {
    const blocked = (n: number) => observed(second(n), { verdict: 'tamper' });
    const { state, changes } = anew([blocked(1), blocked(2)]);
    expect(changes).toMatchObject([{ event: 'change.settled', change: { kind: 'tamper' } }]);
    const next = advance(advance(state, blocked(10), RULES).state, blocked(11), RULES);
    expect(next.changes).toMatchObject([{ event: 'change.opened' }]);
  });
});

describe('tampering', () => {
  const blocked = (n: number) => observed(second(n), { verdict: 'tamper' });

  it('is a change of its own, high, of the whole frame, and ends with the first frames that can see', () => {
    const { steps } = run([blocked(1), blocked(2), empty(3, 'nuisance'), empty(4)], RULES);
    expect(steps[1]?.changes).toMatchObject([
      { event: 'change.opened', change: { kind: 'tamper', severity: 'high', zone: null } },
    ]);
    expect(steps[3]?.changes).toMatchObject([{ event: 'change.reverted' }]);
  });
  it('leaves what was there before as it is: who comes back to it finds it persisting', () => {
    expect(events([car(1), car(2), blocked(3), blocked(4), car(5), car(6)])).toEqual([
      '',
      'change.opened',
      '',
      'change.opened',
      'change.persisting',
      'change.reverted',
    ]);
  });
});

describe('severity', () => {
  const severities = (frames: Observation[], rules: Partial<ChangeRules>) =>
    run(frames, { ...RULES, ...rules }).steps.flatMap(({ changes }) =>
      changes.map(({ change }) => change.severity),
    );

  it('is that of the first rule of which every condition holds', () => {
    const severity = [
      { zone: 'yard', severity: 'high' as const },
      { kind: 'appear' as const, min_area: 0.1, severity: 'high' as const },
      { zone: 'door', kind: 'appear' as const, severity: 'low' as const },
      { kind: 'appear' as const, severity: 'info' as const },
    ];
    expect(severities([car(1), car(2)], { severity })).toEqual(['low']);
    const large = (n: number) => car(n, { regions: [regionAt(0, { area: 0.1 })] });
    expect(severities([large(1), large(2)], { severity })).toEqual(['high']);
  });
  it('may depend on the time of day, in the time zone of the schedule', () => {
    const severity = [
      { during: [{ days: ['mon' as const], from: '13:00', to: '14:00' }], severity: 'high' as const },
    ];
    expect(severities([car(1), car(2)], { severity })).toEqual(['medium']);
    const schedule = {
      timezone: 'Europe/Paris',
      windows: [{ days: ['sun' as const], from: '00:00', to: '00:01' }],
    };
    expect(severities([car(1), car(2)], { severity, schedule })).toEqual(['high']);
  });
  it('that rises breaks through the cool-down, with what was kept quiet', () => {
    const grown = (n: number) => car(n, { regions: [regionAt(0, { area: 0.2 })] });
    const frames = [car(1), car(2), empty(3), empty(4), car(5), car(6), grown(7)];
    const { steps } = run(frames, { ...RULES, severity: [{ min_area: 0.1, severity: 'high' }] });
    const alerts = steps.flatMap((step) => step.alerts).filter(({ type }) => type !== 'change.reverted');
    expect(alerts.map(({ type, at, suppressedCount }) => [type, at, suppressedCount])).toEqual([
      ['change.opened', second(2), 0],
      ['change.escalated', second(7), 1],
    ]);
    expect(steps[6]?.changes).toMatchObject([
      { event: 'change.escalated', change: { severity: 'high', suppressed_count: 1 } },
    ]);
  });
});

describe('frames of one moment, as a clock of whole seconds makes them', () => {
  it('are places of two names', () => {
    const first = car(1, { frame: 1 });
    const second = car(1, { frame: 2, regions: [regionAt(0), regionAt(2)] });
    const ids = run([first, second], RULES).state.tracks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });
  it('are alerts of two names, where both find a change more severe', () => {
    const large = (frame: number, area: number) => car(2, { frame, regions: [regionAt(0, { area })] });
    const severity = [
      { min_area: 0.2, severity: 'high' as const },
      { min_area: 0.1, severity: 'medium' as const },
      { severity: 'low' as const },
    ];
    const { steps } = run([car(0), car(1), large(2, 0.1), large(3, 0.2)], { ...RULES, severity });
    const alerts = steps.flatMap((step) => step.alerts);
    expect(alerts.map(({ change }) => change.severity)).toEqual(['low', 'medium', 'high']);
    expect(new Set(alerts.map(({ id }) => id)).size).toBe(3);
  });
});

describe('alerts', () => {
  it('are made when the schedule begins, of what was opened before and is still there', () => {
    const schedule = { timezone: 'UTC', windows: [{ days: ['mon' as const], from: '12:01', to: '12:05' }] };
    const { steps } = run([car(1), car(2), car(30), car(61), car(62)], { ...RULES, schedule });
    expect(steps.map(({ alerts }) => alerts.map(({ type }) => type))).toEqual([
      [],
      [],
      [],
      ['change.opened'],
      [],
    ]);
  });
  it('are no longer made of a change that a person has acknowledged', () => {
    const grown = car(4, { regions: [regionAt(0, { area: 0.2 })] });
    const rules = { ...RULES, severity: [{ min_area: 0.1, severity: 'high' as const }] };
    const opened = [car(1), car(2)].reduce(
      (state, frame) => advance(state, frame, rules).state,
      initialTrackerState(),
    );
    const changeId = opened.tracks[0]?.id ?? '';
    const told = advance(opened, grown, rules);
    const quiet = advance(applyEvents(opened, [{ type: 'change.acknowledged', changeId }]), grown, rules);
    expect([told.alerts.length, quiet.alerts.length]).toEqual([1, 0]);
    expect(quiet.changes[0]?.event).toBe('change.escalated');
  });
  it('count as delivered while they are on their way, so that a slow receiver is not told of every frame', () => {
    const comesAndGoes = [0, 10, 20].flatMap((n) => [car(n + 1), car(n + 2), empty(n + 3), empty(n + 4)]);
    const { steps } = run(comesAndGoes, RULES, [{ outcome: 'delivered', after: 1_000 }]);
    expect(steps.flatMap((step) => step.alerts).filter(({ type }) => type === 'change.opened')).toHaveLength(
      1,
    );
  });
  it('that failed for good are counted by the next', () => {
    const opened = [car(1), car(2), empty(3), empty(4)].map((frame) => frame);
    const { steps, state } = run(opened, RULES, [{ outcome: 'failed', after: 0 }]);
    const [first] = steps.flatMap((step) => step.alerts);
    expect(first === undefined ? [] : newsOf(first, { outcome: 'failed', after: 0 })).toHaveLength(1);
    const again = [car(5), car(6)].reduce((now, frame) => advance(now, frame, RULES).state, state);
    expect(again.quiet).toMatchObject([{ delivery: 'under way', suppressed: 0 }]);
    expect(again.tracks[0]?.change).toMatchObject({ suppressed_count: 1 });
  });
});

describe('bad calls', () => {
  it('refuses an observation from before the last one, naming both times', () => {
    const { state } = advance(initialTrackerState(), car(2), RULES);
    expect(() => advance(state, car(1), RULES)).toThrow(
      new RangeError(`the observation at ${second(1)} follows one at ${second(2)}: expected ascending times`),
    );
  });
  it('passes over news of alerts and changes that it does not know', () => {
    const news = {
      type: 'alert.failed' as const,
      alertId: 'alr_x',
      cooldownKey: 'gate//appear/9',
      suppressedCount: 1,
    };
    expect(
      applyEvents(initialTrackerState(), [news, { type: 'change.acknowledged', changeId: 'chg_x' }]),
    ).toEqual(initialTrackerState());
  });
});
