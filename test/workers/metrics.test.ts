import { describe, expect, it } from '@jest/globals';
import { NO_TIME } from '../../src/workers/life-cycle.js';
import { createWorkerMetrics } from '../../src/workers/metrics.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';

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
});
