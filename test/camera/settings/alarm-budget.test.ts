import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { describeBudget, thresholdFor } from '../../../src/camera/settings/alarm-budget.js';
import type { OperatingPoint } from '../../../src/camera/settings/operating-points.js';

const POINTS: OperatingPoint[] = [
  { false_alarm_rate: 0.1, threshold: 0.1 },
  { false_alarm_rate: 0.001, threshold: 0.93 },
  { false_alarm_rate: 0.01, threshold: 0.64 },
];

describe('the threshold of a false-alarm budget', () => {
  it('passes through the operating points', () => {
    for (const { false_alarm_rate, threshold } of POINTS) {
      const found = thresholdFor(false_alarm_rate * 5000, 5000, POINTS);
      expect(found?.threshold).toBeCloseTo(threshold, 9);
      expect(found?.false_alarms_per_day).toBeCloseTo(false_alarm_rate * 5000, 9);
    }
  });

  it('never falls as the budget falls', () => {
    const alarms = fc.double({ min: 0.01, max: 1000, noNaN: true });
    fc.assert(
      fc.property(alarms, alarms, fc.integer({ min: 1, max: 90_000 }), (a, b, frames) => {
        const [few, many] = [Math.min(a, b), Math.max(a, b)];
        const strict = thresholdFor(few, frames, POINTS)?.threshold ?? 0;
        expect(strict).toBeGreaterThanOrEqual((thresholdFor(many, frames, POINTS)?.threshold ?? 1) - 1e-12);
      }),
    );
  });

  it('is that of the nearest operating point outside of the measured range, with the alarms expected there', () => {
    expect(thresholdFor(1, 86_400, POINTS)).toEqual({
      threshold: 0.93,
      false_alarms_per_day: expect.closeTo(86.4, 6),
    });
    expect(thresholdFor(1000, 1, POINTS)).toMatchObject({ threshold: 0.1 });
    expect(thresholdFor(1, 1, [])).toBeNull();
  });
});

describe('the description of a false-alarm budget', () => {
  const SECOND = 1_000;
  const NEEDS =
    '2 per day can be met with one frame every 43 s or less often (strictest rate: 0.1 % of frames, as measured with the bundle)';
  const settings = (change: object = {}) => ({ false_alarms_per_day: 2, snapshot: null, ...change });

  it('states the expected alarms of a budget that is met', () => {
    expect(describeBudget(settings(), { intervalMs: 60 * SECOND }, POINTS)).toEqual({
      threshold: expect.any(Number),
      false_alarms_per_day: expect.closeTo(2, 6),
      met: true,
      rate_ratio: 1,
      frames: 0,
      detail: '2 false alarms per day are expected before confirmation',
    });
  });

  it('states which rate of frames would meet a budget that is not met', () => {
    const budget = describeBudget(settings(), { intervalMs: 5 * SECOND }, POINTS);
    expect(budget).toMatchObject({ threshold: 0.93, false_alarms_per_day: expect.closeTo(17.28, 6), met: false });
    expect(budget?.detail).toBe(
      `17 false alarms per day are expected before confirmation, and no stricter threshold was measured: ${NEEDS}`,
    );
  });

  it('is met at a higher rate of frames by a camera whose own frames look changed less often', () => {
    const counts = { low: 0.1, high: 0.93, frames: 10_000, risen: 9, above: false };
    const history = { intervalMs: 5 * SECOND, counts };
    const [budget, measured] = [POINTS, null].map((points) => describeBudget(settings(), history, points));
    expect(budget).toMatchObject({ met: true, false_alarms_per_day: expect.closeTo(2, 6), frames: 10_000 });
    expect(budget?.rate_ratio).toBeLessThan(0.02);
    expect(budget?.threshold).toBeLessThan(0.93);
    expect(measured).toMatchObject({ met: null, rate_ratio: 1, frames: 0 });
  });

  it('names the own frames if they are the reason why it is not met', () => {
    const counts = { low: 0.1, high: 0.93, frames: 2_000, risen: 400, above: false };
    const budget = describeBudget(settings(), { intervalMs: 60 * SECOND, counts }, POINTS);
    expect(budget).toMatchObject({ threshold: 0.93, met: false });
    expect(budget?.detail).toContain('2 times that of the bundle, by 2000 own frames');
  });

  it('uses the interval of the snapshots, which is known before any frame', () => {
    const snapshot = { url: 'https://cam.example/a.jpg', interval_s: 5 };
    expect(describeBudget(settings({ snapshot }), { intervalMs: null }, POINTS)).toMatchObject({ met: false });
  });

  it.each([
    ['before the second frame', null, POINTS, null, NEEDS],
    ['without a worker that has the bundle', 5 * SECOND, null, null, 'no worker has the bundle yet'],
    ['of a bundle without operating points', 5 * SECOND, [], false, 'no measured false-alarm rates'],
  ])('names no threshold %s', (_when, intervalMs, points, met, detail) => {
    const budget = describeBudget(settings(), { intervalMs }, points);
    expect(budget).toMatchObject({ threshold: null, false_alarms_per_day: null, met });
    expect(budget?.detail).toContain(detail);
    expect(budget?.detail).toContain('the threshold of the bundle applies');
  });
});
