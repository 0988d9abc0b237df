import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OperatingPoint } from '../../../src/camera/settings/operating-points.js';
import {
  type ConfidenceCounts,
  countConfidence,
  rateRatio,
  scaledPoints,
} from '../../../src/camera/settings/rate-ratio.js';

const POINTS: OperatingPoint[] = [
  { false_alarm_rate: 0.1, threshold: 0.2 },
  { false_alarm_rate: 0.001, threshold: 0.9 },
];

const compared = (confidence: number | null) => (confidence === null ? null : { verdict: 'none' as const, confidence });
const countAll = (confidences: readonly (number | null)[], points = POINTS) =>
  confidences.reduce<ConfidenceCounts | undefined>(
    (counts, one) => countConfidence(counts, compared(one), points),
    undefined,
  );

describe('the counts of a camera', () => {
  it('are of frames that begin to have a confidence between the loosest and the strictest operating point', () => {
    expect(countAll([0.01, 0.2, 0.5, 0.01, 0.89, 0.9, 0.3, 0.05])).toEqual({
      low: 0.2,
      high: 0.9,
      frames: 8,
      risen: 2,
      above: false,
    });
  });

  it('leave out what fades from a sure change, and see a quiet frame as the examined one before', () => {
    expect(countAll([0.99, 0.5, 0.5])).toMatchObject({ frames: 3, risen: 0, above: true });
    expect(countAll([0.5, null, null, 0.6])).toMatchObject({ frames: 4, risen: 1, above: true });
    expect(countAll([null, 0.01, null, 0.6])).toMatchObject({ frames: 4, risen: 1 });
  });

  it('leave out the confidence of a tampered view, which is not that of a change', () => {
    const counts = countConfidence(undefined, { verdict: 'tamper', confidence: 0.5 }, POINTS);
    expect(counts).toMatchObject({ frames: 1, risen: 0, above: false });
  });

  it('start again with other operating points, and do not exist without a range of them', () => {
    const counts = countAll([0.5, 0.01, 0.5]);
    const others = [{ false_alarm_rate: 0.1, threshold: 0.3 }, POINTS[1] as OperatingPoint];
    expect(countConfidence(counts, compared(0.01), others)).toMatchObject({ low: 0.3, frames: 1, risen: 0 });
    expect(rateRatio(counts, others)).toEqual({ ratio: 1, frames: 0 });
    expect(countConfidence(counts, compared(0.5), POINTS.slice(1))).toBeUndefined();
    expect(rateRatio(counts, [])).toEqual({ ratio: 1, frames: 0 });
    const equal = POINTS.map((point) => ({ ...point, threshold: 0.5 }));
    expect(countConfidence(undefined, compared(0.5), equal)).toBeUndefined();
  });

  it('stay within a bound, and let old frames count less', () => {
    let counts: ConfidenceCounts | undefined;
    for (let frame = 0; frame < 40_000; frame++)
      counts = countConfidence(counts, compared(frame % 2 === 0 ? 0.5 : 0.1), POINTS);
    expect(counts).toMatchObject({ frames: 20_000, risen: 10_000 });
  });
});

describe('the rate ratio', () => {
  it('is 1 without frames, and the observed ratio after many', () => {
    expect(rateRatio(undefined, POINTS)).toEqual({ ratio: 1, frames: 0 });
    const many = { low: 0.2, high: 0.9, frames: 100_000, risen: 19_800, above: false };
    expect(rateRatio(many, POINTS).ratio).toBeCloseTo(2, 2);
  });

  it('grows with the counted frames and falls with those that stay low', () => {
    const confidence = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 60 });
    fc.assert(
      fc.property(confidence, (confidences) => {
        const counts = countAll([...confidences, 0]);
        const { ratio } = rateRatio(counts, POINTS);
        expect(rateRatio(countConfidence(counts, compared(0.5), POINTS), POINTS).ratio).toBeGreaterThan(ratio);
        expect(rateRatio(countConfidence(counts, compared(0.1), POINTS), POINTS).ratio).toBeLessThan(ratio);
        expect(rateRatio(countConfidence(counts, compared(null), POINTS), POINTS).ratio).toBeLessThan(ratio);
      }),
    );
  });

  it('scales the rates of the operating points and leaves their thresholds', () => {
    expect(scaledPoints(POINTS, { ratio: 3, frames: 9 })).toEqual([
      { false_alarm_rate: expect.closeTo(0.3, 9), threshold: 0.2 },
      { false_alarm_rate: expect.closeTo(0.003, 9), threshold: 0.9 },
    ]);
  });
});
