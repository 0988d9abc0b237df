/** Prometheus metrics of the API process. Labels are route patterns and codes, never ids or cameras. */
import { statfs } from 'node:fs/promises';
import type { QueueName } from '../../jobs/job-states.js';
import { QUEUES } from '../../jobs/queues.js';
import { createMetrics } from '../../process/metrics.js';
import type { Api, ApiDependencies, ApiOptions } from '../dependencies.js';
import type { EventStreams } from '../event-stream.js';
import { PROBLEM_TYPE } from './problems.js';

export type ApiMetrics = ReturnType<typeof useMetrics>;

export function useMetrics(
  app: Api,
  deps: Pick<ApiDependencies, 'queue' | 'clock'> & { streams: Pick<EventStreams, 'size'> },
  { dataDir }: Pick<ApiOptions, 'dataDir'>,
) {
  const { registry, counter, histogram, scraped } = createMetrics();
  const duration = histogram(
    'scenedelta_http_request_duration_seconds',
    'From the first byte of the request to the last of the answer, waiting for a comparison included.',
    ['method', 'route', 'status'],
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1, 2, 5, 10, 30, 60],
  );
  const problems = counter(
    'scenedelta_http_problems_total',
    'Answers of application/problem+json by status.',
    'route',
    'status',
  );
  scraped(
    'scenedelta_queue_jobs',
    'Jobs by queue and state, counted when scraped; absent while Redis is away.',
    ['queue', 'state'],
    async (gauge) => {
      const counts = await deps.queue.counts().catch(() => undefined);
      for (const [queue, states] of Object.entries(counts ?? {})) {
        for (const [state, jobs] of Object.entries(states)) gauge.set({ queue, state }, jobs);
      }
    },
  );
  scraped(
    'scenedelta_queue_oldest_seconds',
    'Time that the oldest waiting job of each queue has waited, 0 without one; absent while Redis is away.',
    ['queue'],
    async (gauge) => {
      const oldest = await deps.queue.oldest().catch(() => undefined);
      if (oldest === undefined) return;
      for (const queue of Object.keys(QUEUES) as QueueName[]) {
        gauge.set({ queue }, Math.max(0, deps.clock() - (oldest[queue] ?? deps.clock())) / 1000);
      }
    },
  );
  scraped(
    'scenedelta_data_bytes',
    'Size of the file system of DATA_DIR, and what is free of it for this process.',
    ['state'],
    async (gauge) => {
      const found = await statfs(dataDir).catch(() => undefined);
      if (found === undefined) return;
      gauge.set({ state: 'size' }, found.blocks * found.bsize);
      gauge.set({ state: 'free' }, found.bavail * found.bsize);
    },
  );
  scraped('scenedelta_event_streams', 'Open server-sent event streams.', [], (gauge) => {
    gauge.set(deps.streams.size);
  });
  app.addHook('onResponse', async (request, reply) => {
    const labels = { route: request.routeOptions.url ?? 'unmatched', status: String(reply.statusCode) };
    duration.observe({ method: request.method, ...labels }, reply.elapsedTime / 1000);
    if (String(reply.getHeader('content-type')).startsWith(PROBLEM_TYPE)) problems.inc(labels);
  });
  app.addHook('onClose', async () => registry.clear());
  return {
    registry,
    accepted: counter('scenedelta_comparisons_accepted_total', 'Comparisons stored and queued.', 'form', 'queue'),
    frameBytes: counter('scenedelta_frame_bytes_total', 'Bytes of uploaded frames.'),
  };
}
