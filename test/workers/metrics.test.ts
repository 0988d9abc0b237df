import { describe, expect, it } from '@jest/globals';
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
});
