/** Severity, alerts and cool-downs of single changes. */
import { describe, expect, it } from '@jest/globals';
import { advance, applyEvents } from '../../../src/camera/changes/advance.js';
import type { ChangeRules } from '../../../src/camera/changes/rules.js';
import { initialTrackerState, type Observation } from '../../../src/camera/changes/state.js';
import { car, empty, eventsOf, RULES, regionAt, run, second } from './scenario.js';

describe('severity', () => {
  const severities = (frames: Observation[], rules: Partial<ChangeRules>) =>
    run(frames, { ...RULES, ...rules }).steps.flatMap(({ changes }) => changes.map(({ change }) => change.severity));

  it('is that of the first rule whose conditions all hold', () => {
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
  it('may depend on the time of day in the time zone of the schedule', () => {
    const severity = [{ during: [{ days: ['mon' as const], from: '13:00', to: '14:00' }], severity: 'high' as const }];
    expect(severities([car(1), car(2)], { severity })).toEqual(['medium']);
    const schedule = {
      timezone: 'Europe/Paris',
      windows: [{ days: ['sun' as const], from: '00:00', to: '00:01' }],
    };
    expect(severities([car(1), car(2)], { severity, schedule })).toEqual(['high']);
  });
  it('breaks through the cool-down when it rises, with the count of suppressed alerts', () => {
    const grown = (n: number) => car(n, { regions: [regionAt(0, { area: 0.2 })] });
    const frames = [car(1), car(2), empty(3), empty(4), car(5), car(6), grown(7)];
    const { steps } = run(frames, { ...RULES, severity: [{ min_area: 0.1, severity: 'high' }] });
    const alerts = steps.flatMap((step) => step.alerts).filter(({ type }) => type !== 'change.reverted');
    expect(alerts.map(({ type, at, suppressedCount }) => [type, at, suppressedCount])).toEqual([
      ['change.opened', second(2), 0],
      ['change.escalated', second(7), 1],
    ]);
    expect(steps.map(({ suppressed }) => suppressed)).toEqual([0, 0, 0, 0, 0, 1, 0]);
    expect(steps[6]?.changes).toMatchObject([
      { event: 'change.escalated', change: { severity: 'high', suppressed_count: 1 } },
    ]);
  });
});

describe('two frames of the same capture time', () => {
  it('give tracks with different ids', () => {
    const first = car(1, { frame: 1 });
    const second = car(1, { frame: 2, regions: [regionAt(0), regionAt(2)] });
    const ids = run([first, second], RULES).state.tracks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });
  it('give alerts with different ids if both raise the severity', () => {
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
  it('are sent when the schedule begins, for open changes that are still visible', () => {
    const schedule = { timezone: 'UTC', windows: [{ days: ['mon' as const], from: '12:01', to: '12:05' }] };
    const { steps } = run([car(1), car(2), car(30), car(61), car(62)], { ...RULES, schedule });
    expect(steps.map(({ alerts }) => alerts.map(({ type }) => type))).toEqual([[], [], [], ['change.opened'], []]);
  });
  it('are not sent for an acknowledged change', () => {
    const grown = car(4, { regions: [regionAt(0, { area: 0.2 })] });
    const rules = { ...RULES, severity: [{ min_area: 0.1, severity: 'high' as const }] };
    const opened = [car(1), car(2)].reduce((state, frame) => advance(state, frame, rules).state, initialTrackerState());
    const changeId = opened.tracks[0]?.id ?? '';
    const unacknowledged = advance(opened, grown, rules);
    const acknowledged = advance(applyEvents(opened, [{ type: 'change.acknowledged', changeId }]), grown, rules);
    const withdrawn = (['change.acknowledged', 'change.unacknowledged'] as const).map((type) => ({ type, changeId }));
    const again = advance(applyEvents(opened, withdrawn), grown, rules);
    expect([unacknowledged, acknowledged, again].map(({ alerts }) => alerts.length)).toEqual([1, 0, 1]);
    expect(acknowledged.changes[0]?.event).toBe('change.escalated');
  });
  it('count as delivered while under way, so that a slow receiver gets no alert per frame', () => {
    const comesAndGoes = [0, 10, 20].flatMap((n) => [car(n + 1), car(n + 2), empty(n + 3), empty(n + 4)]);
    const { steps } = run(comesAndGoes, RULES, [{ outcome: 'delivered', after: 1_000 }]);
    expect(steps.flatMap((step) => step.alerts).filter(({ type }) => type === 'change.opened')).toHaveLength(1);
  });
  it('that failed are counted by the next alert', () => {
    const opened = [car(1), car(2), empty(3), empty(4)];
    const { steps, state } = run(opened, RULES, [{ outcome: 'failed', after: 0 }]);
    const [first] = steps.flatMap((step) => step.alerts);
    expect(first === undefined ? [] : eventsOf(first, { outcome: 'failed', after: 0 })).toHaveLength(1);
    const again = [car(5), car(6)].reduce((now, frame) => advance(now, frame, RULES).state, state);
    expect(again.cooldowns).toMatchObject([{ delivery: 'under way', suppressed: 0 }]);
    expect(again.tracks[0]?.change).toMatchObject({ suppressed_count: 1 });
  });
});

describe('bad input', () => {
  it('is refused if an observation is earlier than the last one, with both times', () => {
    const { state } = advance(initialTrackerState(), car(2), RULES);
    expect(() => advance(state, car(1), RULES)).toThrow(
      new RangeError(`the observation at ${second(1)} follows one at ${second(2)}: expected ascending times`),
    );
  });
  it('is ignored if camera events refer to unknown alerts and changes', () => {
    const event = {
      type: 'alert.failed' as const,
      alertId: 'alr_x',
      cooldownKey: 'gate//appear/9',
      suppressedCount: 1,
    };
    expect(applyEvents(initialTrackerState(), [event, { type: 'change.acknowledged', changeId: 'chg_x' }])).toEqual(
      initialTrackerState(),
    );
  });
});
