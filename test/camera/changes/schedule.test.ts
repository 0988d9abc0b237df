import { describe, expect, it } from '@jest/globals';
import { derivedId, isId } from '../../../src/base/ids.js';
import { rulesOf } from '../../../src/camera/changes/rules.js';
import { inWindows, isWatching } from '../../../src/camera/changes/schedule.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';

const at = (iso: string) => Date.parse(iso);

describe('a window of the week', () => {
  const night = [{ days: ['fri' as const], from: '22:00', to: '06:00' }];

  it.each([
    ['2026-01-09T21:59:00Z', false],
    ['2026-01-09T22:00:00Z', true],
    ['2026-01-10T05:59:59Z', true],
    ['2026-01-10T06:00:00Z', false],
    ['2026-01-10T22:30:00Z', false],
    ['2026-01-09T05:00:00Z', false],
  ])('over midnight belongs to the day on which it begins: %s is inside: %s', (iso, inside) => {
    expect(inWindows(at(iso), 'UTC', night)).toBe(inside);
  });

  it('that ends when it begins lasts a whole day', () => {
    const day = [{ days: ['sun' as const], from: '08:00', to: '08:00' }];
    expect(
      ['2026-01-11T07:59:00Z', '2026-01-11T08:00:00Z', '2026-01-12T07:59:00Z', '2026-01-12T08:00:00Z'].map((iso) =>
        inWindows(at(iso), 'UTC', day),
      ),
    ).toEqual([false, true, true, false]);
  });

  it('follows local time through summer time', () => {
    const nine = [{ days: ['sun' as const], from: '09:00', to: '10:00' }];
    expect(inWindows(at('2026-03-22T08:30:00Z'), 'Europe/Berlin', nine)).toBe(true);
    // from this day on local time is an hour further ahead of UTC
    expect(inWindows(at('2026-03-29T08:30:00Z'), 'Europe/Berlin', nine)).toBe(false);
    expect(inWindows(at('2026-03-29T07:30:00Z'), 'Europe/Berlin', nine)).toBe(true);
  });

  it("refers to the day in the camera's time zone", () => {
    const monday = [{ days: ['mon' as const], from: '00:00', to: '01:00' }];
    expect(inWindows(at('2026-01-04T15:30:00Z'), 'Asia/Tokyo', monday)).toBe(true);
    expect(inWindows(at('2026-01-05T00:30:00Z'), 'Asia/Tokyo', monday)).toBe(false);
  });
});

describe('watching', () => {
  it('is suspended before the given time', () => {
    const rules = { schedule: null, suspendUntil: at('2026-01-09T12:00:00Z') };
    expect(isWatching(rules.suspendUntil - 1, rules)).toBe(false);
    expect(isWatching(rules.suspendUntil, rules)).toBe(true);
  });
});

describe('the rules of a camera', () => {
  it('have durations in ms, and put the severity of a zone after the rules, which may make exceptions', () => {
    const square: [number, number][] = [
      [0, 0],
      [1, 0],
      [1, 1],
    ];
    const settings = checkSettings({
      before: 'memory',
      zones: [
        { id: 'door', name: 'the door', type: 'include', polygon: square, severity: 'high' },
        { id: 'yard', type: 'include', polygon: square },
      ],
      suspend_until: '2026-01-09T12:00:00Z',
      memory: { absorb_s: 60 },
      alerts: {
        callback_url: 'https://user.example/hook',
        persist_s: 1.5,
        severity_rules: [{ zone: 'door', kind: 'disappear', severity: 'low' }],
      },
    });
    expect(rulesOf('gate', settings)).toEqual({
      camera: 'gate',
      places: { door: { at: 'at the door', end: 'the door' } },
      before: 'memory',
      confirmFrames: 2,
      persistMs: 1_500,
      settleMs: { scene: 60_000, tamper: 60_000 },
      cooldownMs: 300_000,
      leftAfterMs: 60_000,
      minSeverity: 'low',
      severity: [
        { zone: 'door', kind: 'disappear', severity: 'low' },
        { zone: 'door', severity: 'high' },
      ],
      sentences: [],
      visitSentences: [],
      schedule: null,
      suspendUntil: at('2026-01-09T12:00:00Z'),
      alerting: true,
    });
  });
  it.each([
    ['previous', { scene: 0, tamper: 14_400_000 }],
    ['reference', { scene: null, tamper: null }],
  ])('have settling times by the mode of "before": %s', (before, settleMs) => {
    expect(rulesOf('gate', checkSettings({ before })).settleMs).toEqual(settleMs);
  });
  it('alert without a receiver too, which may be set up later, and not for a recording', () => {
    expect(rulesOf('gate', checkSettings({})).alerting).toBe(true);
    expect(rulesOf('gate', checkSettings({}), false).alerting).toBe(false);
  });
});

describe('a derived id', () => {
  it('is a valid id, sorts by time, and is a function of time and name', () => {
    const ids = [0, 1, 1_700_000_000_000].map((time) => derivedId('chg', time, 'gate'));
    for (const id of ids) expect(isId('chg', id)).toBe(true);
    expect([...ids].sort()).toEqual(ids);
    expect(derivedId('chg', 1, 'gate')).toBe(ids[1]);
    expect(derivedId('chg', 1, 'gatf')).not.toBe(ids[1]);
    expect(new Set(Array.from({ length: 5_000 }, (_, i) => derivedId('chg', 1, `gate\n${i}`))).size).toBe(5_000);
  });
});
