import { describe, expect, it } from '@jest/globals';
import { frameThreshold } from '../../../src/camera/fold/threshold.js';
import { countConfidence } from '../../../src/camera/settings/rate-ratio.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';

const POINTS = [
  { false_alarm_rate: 0.1, threshold: 0.1 },
  { false_alarm_rate: 0.01, threshold: 0.64 },
  { false_alarm_rate: 0.001, threshold: 0.93 },
];
const MINUTE = 60_000;
const first = { last: null, intervalMs: null };
const later = { last: { at: 0 }, intervalMs: MINUTE };

describe('the threshold of a frame', () => {
  it('is that of the bundle without a threshold and a budget', () => {
    const decided = frameThreshold(checkSettings({}), later, MINUTE, POINTS);
    expect(decided).toEqual({ intervalMs: MINUTE, budget: null, threshold: null });
  });

  it('follows the budget from the second frame on', () => {
    const settings = checkSettings({ false_alarms_per_day: 5 });
    expect(frameThreshold(settings, first, 0, POINTS)).toEqual({ intervalMs: null, budget: null, threshold: null });
    const second = frameThreshold(settings, { ...first, last: { at: 0 } }, MINUTE, POINTS);
    expect(second.intervalMs).toBe(MINUTE);
    expect(second.threshold).toBeGreaterThan(0.64);
    expect(second.threshold).toBe(second.budget?.threshold);
  });

  it('is stricter for a camera whose confidences rise more often than the points say', () => {
    const settings = checkSettings({ false_alarms_per_day: 5 });
    let counts = countConfidence(undefined, null, POINTS);
    for (let frame = 0; frame < 200; frame++) {
      counts = countConfidence(counts, { verdict: 'none', confidence: frame % 2 === 0 ? 0.5 : 0.01 }, POINTS);
    }
    const usual = frameThreshold(settings, later, MINUTE, POINTS).threshold ?? 1;
    expect(frameThreshold(settings, { ...later, counts }, MINUTE, POINTS).threshold).toBeGreaterThan(usual);
  });

  it('ignores a gap in the typical interval', () => {
    const settings = checkSettings({ false_alarms_per_day: 5, gap_s: 600 });
    expect(frameThreshold(settings, later, 3600_000, POINTS).intervalMs).toBe(MINUTE);
  });
});
