import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type OperatingPoint, thresholdFor } from '../../src/cameras/alarm-budget.js';

describe('the threshold of an alarm budget', () => {
  const POINTS: OperatingPoint[] = [
    { false_alarm_rate: 0.1, threshold: 0.1 },
    { false_alarm_rate: 0.001, threshold: 0.93 },
    { false_alarm_rate: 0.01, threshold: 0.64 },
  ];
  it('passes through the operating points', () => {
    for (const { false_alarm_rate, threshold } of POINTS) {
      const found = thresholdFor(false_alarm_rate * 5000, 5000, POINTS);
      expect(found?.threshold).toBeCloseTo(threshold, 9);
      expect(found?.alarms_per_day).toBeCloseTo(false_alarm_rate * 5000, 9);
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
      alarms_per_day: expect.closeTo(86.4, 6),
    });
    expect(thresholdFor(1000, 1, POINTS)).toMatchObject({ threshold: 0.1 });
    expect(thresholdFor(1, 1, [])).toBeNull();
  });
});
