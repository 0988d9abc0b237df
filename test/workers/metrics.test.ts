import { describe, expect, it } from '@jest/globals';
import { checkSettings } from '../../src/camera/settings/settings.js';
import { NO_TIME } from '../../src/workers/life-cycle.js';
import { createWorkerMetrics } from '../../src/workers/metrics.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';

const NONE = { sent: 0, suppressed: 0 };

describe('the metrics of a worker', () => {
  it('hold times only of stages that a comparison went through', async () => {
    const metrics = createWorkerMetrics();
    // Identical frames are decoded, but no model runs.
    const timings_ms = { ...NO_TIME, fetch: 0, decode: 0.5, queue: 0, total: 2 };
    const comparison = { ...finished(acceptedComparison().comparison), timings_ms };
    metrics.comparison('live', { kind: 'finished', comparison });
    const histogram = await metrics.registry.getSingleMetric('scenedelta_stage_duration_seconds')?.get();
    const counts = (histogram?.values ?? []).filter(
      (one) => 'metricName' in one && String(one.metricName).endsWith('_count'),
    );
    expect(counts.map(({ labels }) => labels.stage).sort()).toEqual(['decode', 'fetch', 'queue', 'total']);
  });

  it('count frames and alerts per camera, and all cameras beyond the first 500 together', async () => {
    const metrics = createWorkerMetrics();
    const { comparison } = acceptedComparison();
    const outcome = { kind: 'finished', comparison: finished(comparison) } as const;
    for (let i = 0; i < 510; i++) metrics.frame({ camera: `cam-${i}`, outcome, alerts: NONE });
    metrics.frame({ camera: 'cam-3', outcome: { kind: 'skipped', why: 'final' }, alerts: NONE });
    metrics.frame({ camera: 'cam-3', outcome, alerts: { sent: 1, suppressed: 2 } });
    const text = await metrics.registry.metrics();
    expect(text).toContain('scenedelta_camera_frames_total{camera="cam-3",verdict="change"} 2\n');
    expect(text).toContain('scenedelta_camera_frames_total{camera="cam-3",verdict="skipped"} 1\n');
    expect(text).toContain('scenedelta_camera_frames_total{camera="(other)",verdict="change"} 10\n');
    expect(text).toContain('scenedelta_alerts_total{camera="cam-3",outcome="sent"} 1\n');
    expect(text).toContain('scenedelta_alerts_total{camera="cam-3",outcome="suppressed"} 2\n');
    expect(text).not.toContain('cam-505');
  });

  it('count tampered frames by their most probable kind, and note when the last frame ended', async () => {
    const metrics = createWorkerMetrics();
    const tamper = [
      { name: 'darkened' as const, score: 0.9 },
      { name: 'blocked' as const, score: 0.6 },
    ];
    const comparison = { ...finished(acceptedComparison().comparison), verdict: 'tamper' as const, tamper };
    const before = Date.now() / 1000;
    metrics.frame({ camera: 'gate', outcome: { kind: 'finished', comparison }, alerts: NONE });
    const text = await metrics.registry.metrics();
    expect(text).toContain('scenedelta_camera_tampered_frames_total{camera="gate",tamper="darkened"} 1\n');
    expect(text).not.toContain('tamper="blocked"');
    const [, at] = /scenedelta_camera_last_frame_timestamp_seconds\{camera="gate"\} (\S+)/.exec(text) ?? [];
    expect(Number(at)).toBeGreaterThanOrEqual(before);
    expect(Number(at)).toBeLessThanOrEqual(Date.now() / 1000);
  });

  it('have the false-alarm budget of each camera that exists, and none while the cameras cannot be read', async () => {
    let cameras = ['gate', 'yard'];
    let away = false;
    const metrics = createWorkerMetrics(async function* () {
      if (away) await new Promise(() => {});
      for (const id of cameras) yield { id, settings: checkSettings(id === 'gate' ? { false_alarms_per_day: 2 } : {}) };
    });
    const budgets = async () =>
      (await metrics.registry.metrics()).match(/^scenedelta_camera_false_alarms_per_day\{.*$/gm) ?? [];
    const gate = 'scenedelta_camera_false_alarms_per_day{camera="gate"} 2';
    expect(await budgets()).toEqual([gate, 'scenedelta_camera_false_alarms_per_day{camera="yard"} 0']);
    cameras = ['gate'];
    expect(await budgets()).toEqual([gate]);
    away = true;
    expect(await budgets()).toEqual([]);
  });
});
