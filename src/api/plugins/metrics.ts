/** Prometheus metrics of the API process. Labels are route patterns and codes, never ids or cameras. */
import { statfs } from 'node:fs/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { QueueName } from '../../jobs/job-states.js';
import { QUEUES } from '../../jobs/queues.js';
import type { Api, ApiDependencies, ApiOptions } from '../dependencies.js';
import type { EventStreams } from '../event-stream.js';
import { PROBLEM_TYPE } from './problems.js';

export interface ApiMetrics {
  readonly registry: Registry;
  readonly accepted: Counter<'form' | 'queue'>;
  readonly frameBytes: Counter;
}

export function useMetrics(
  app: Api,
  deps: Pick<ApiDependencies, 'queue' | 'clock'> & { streams: Pick<EventStreams, 'size'> },
  { dataDir }: Pick<ApiOptions, 'dataDir'>,
): ApiMetrics {
  const registry = new Registry();
  // Dashboards and alert rules expect the names process_* and nodejs_*, without a prefix.
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const duration = new Histogram({
    name: 'scenedelta_http_request_duration_seconds',
    help: 'From the first byte of the request to the last of the answer, waiting for a comparison included.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1, 2, 5, 10, 30, 60],
    registers,
  });
  const problems = new Counter({
    name: 'scenedelta_http_problems_total',
    help: 'Answers of application/problem+json by status.',
    labelNames: ['route', 'status'],
    registers,
  });
  new Gauge({
    name: 'scenedelta_queue_jobs',
    help: 'Jobs by queue and state, counted when scraped; absent while Redis is away.',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      this.reset();
      const counts = await deps.queue.counts().catch(() => undefined);
      for (const [queue, states] of Object.entries(counts ?? {})) {
        for (const [state, jobs] of Object.entries(states)) this.set({ queue, state }, jobs);
      }
    },
  });
  new Gauge({
    name: 'scenedelta_queue_oldest_seconds',
    help: 'Time that the oldest waiting job of each queue has waited, 0 without one; absent while Redis is away.',
    labelNames: ['queue'],
    registers,
    async collect() {
      this.reset();
      const oldest = await deps.queue.oldest().catch(() => undefined);
      if (oldest === undefined) return;
      for (const queue of Object.keys(QUEUES) as QueueName[]) {
        this.set({ queue }, Math.max(0, deps.clock() - (oldest[queue] ?? deps.clock())) / 1000);
      }
    },
  });
  new Gauge({
    name: 'scenedelta_data_bytes',
    help: 'Size of the file system of DATA_DIR, and what is free of it for this process.',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset();
      const found = await statfs(dataDir).catch(() => undefined);
      if (found === undefined) return;
      this.set({ state: 'size' }, found.blocks * found.bsize);
      this.set({ state: 'free' }, found.bavail * found.bsize);
    },
  });
  new Gauge({
    name: 'scenedelta_event_streams',
    help: 'Open server-sent event streams.',
    registers,
    collect() {
      this.set(deps.streams.size);
    },
  });
  app.addHook('onResponse', async (request, reply) => {
    const labels = { route: request.routeOptions.url ?? 'unmatched', status: String(reply.statusCode) };
    duration.observe({ method: request.method, ...labels }, reply.elapsedTime / 1000);
    if (String(reply.getHeader('content-type')).startsWith(PROBLEM_TYPE)) problems.inc(labels);
  });
  app.addHook('onClose', async () => registry.clear());
  return {
    registry,
    accepted: new Counter({
      name: 'scenedelta_comparisons_accepted_total',
      help: 'Comparisons stored and queued.',
      labelNames: ['form', 'queue'],
      registers,
    }),
    frameBytes: new Counter({
      name: 'scenedelta_frame_bytes_total',
      help: 'Bytes of uploaded frames.',
      registers,
    }),
  };
}
