/** Routes for probes, scrapers and scalers, and the start page. */
import { Type } from 'typebox';
import { clockOffsetMs } from '../../base/clock.js';
import { VERSION } from '../../base/version.js';
import { whilePending } from '../../base/while-pending.js';
import type { QueueCounts, QueueName } from '../../jobs/job-states.js';
import { QUEUES } from '../../jobs/queues.js';
import { count, flag } from '../../schemas/constructors.js';
import type { Api } from '../dependencies.js';
import { json, media, problems } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const tags = ['operations'];
const security: [] = [];
/** With METRICS_AUTH a key, else nothing. */
const keyIfSet = [{}, { bearer: [] }, { apiKey: [] }];
const KEY_IF_SET = 'With METRICS_AUTH=on it needs a key with the scope `metrics`.';
const KEY_PROBLEMS = ['unauthorized', 'forbidden', 'too-many-requests', 'queue-unavailable'] as const;

const ReadySchema = Type.Object({
  ready: Type.Boolean(),
  redis: flag('Redis answers.'),
  writable: flag('Redis takes writes.'),
  disk_full: flag('The disk of the data folder has no space, or no inodes for further files: nothing can be stored.'),
  evicts: flag('Redis may evict keys, and with them accepted work: its maxmemory-policy is not noeviction.'),
  workers: Type.Integer({
    description: 'Live workers whose models are warmed up, and that have not paused because a store refuses writes.',
  }),
  clock_offset_s: Type.Integer({
    description:
      'Seconds that the clock of the host of this process, or of a worker, is ahead of that of Redis: the largest ' +
      'difference. All times are by the clock of Redis, so no work fails by it; the clock should be set.',
  }),
});
const ReadyQuerySchema = Type.Object(
  {
    exclude: Type.Optional(
      Type.Literal('workers', {
        description: 'Ready without a worker too: for a service whose workers are scaled to zero while nothing waits.',
      }),
    ),
  },
  { additionalProperties: false },
);
const ScaleSchema = Type.Object(
  Object.fromEntries(
    Object.keys(QUEUES).map((name) => [
      name,
      Type.Object({
        backlog: count('Sum of the counts below, the number that a scaler should follow.'),
        waiting: count('Waiting without a priority.'),
        prioritized: count('Waiting with a priority.'),
        delayed: count('Waiting for the time of their next attempt.'),
        active: count('Held by a worker.'),
      }),
    ]),
  ),
);

export function operationRoutes(app: Api, deps: RouteContext): void {
  const { options, metrics, startPage } = deps;
  const config = options.metricsAuth ? ({ scope: 'metrics' } as const) : { probe: true };
  const openConfig = { probe: true };
  const livezSchema = {
    operationId: 'livez',
    summary: 'Check whether the process is alive',
    tags,
    security,
    response: { 200: json('It is alive.', Type.Object({ alive: Type.Boolean() })) },
  };
  app.get('/livez', { schema: livezSchema, config: openConfig }, async () => ({ alive: true }));

  const readyzSchema = {
    operationId: 'readyz',
    summary: 'Check whether the service is ready',
    description:
      'Ready when Redis answers, takes writes and evicts nothing, the disk of the data folder has room, and at least ' +
      'one worker has warmed up its models and is not paused.',
    tags,
    security,
    querystring: ReadyQuerySchema,
    response: {
      200: json('It is ready.', ReadySchema),
      503: json('It is not ready; the members give the reason.', ReadySchema),
      ...problems(['invalid-request'], { always: false }),
    },
  };
  const state = whilePending(async () => {
    const redis = await deps.queue.ping();
    const writable = redis && (await deps.queue.takesWrites());
    const evicts = redis && (await deps.queue.mayEvict());
    const disk_full = (await deps.diskShortage()) !== null;
    const live = redis ? await deps.workers.list().catch(() => []) : [];
    const offsets = [clockOffsetMs() / 1000, ...live.map((worker) => worker.clock_offset_s ?? 0)];
    const clock_offset_s = Math.round(offsets.reduce((most, one) => (Math.abs(one) > Math.abs(most) ? one : most)));
    const workers = live.filter((worker) => worker.models.length > 0 && worker.paused !== true).length;
    return { redis, writable, disk_full, evicts, workers, clock_offset_s };
  });
  app.get('/readyz', { schema: readyzSchema, config: openConfig }, async ({ query }, reply) => {
    const found = await state();
    const { writable, disk_full, evicts, workers } = found;
    const ready = writable && !disk_full && !evicts && (workers > 0 || query.exclude === 'workers');
    return reply.code(ready ? 200 : 503).send({ ready, ...found });
  });

  const metricsSchema = {
    operationId: 'metrics',
    summary: 'Prometheus metrics of this process',
    description: KEY_IF_SET,
    tags,
    security: keyIfSet,
    response: {
      200: media('Text exposition format.', { 'text/plain': Type.String() }),
      ...problems(KEY_PROBLEMS, { always: false }),
    },
  };
  const exposition = whilePending(() => metrics.registry.metrics());
  app.get('/metrics', { schema: metricsSchema, config }, async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await exposition()),
  );

  const scaleSchema = {
    operationId: 'scale',
    summary: 'Backlog by queue',
    description: `For KEDA (metrics-api): the wait list alone misses prioritized, delayed and active jobs. ${KEY_IF_SET}`,
    tags,
    security: keyIfSet,
    response: { 200: json('Jobs by state.', ScaleSchema), ...problems(KEY_PROBLEMS, { always: false }) },
  };
  const backlogs = whilePending(async () => {
    const counts = Object.entries(await deps.queue.counts()) as [QueueName, QueueCounts][];
    return Object.fromEntries(
      counts.map(([name, c]) => [name, { backlog: c.waiting + c.prioritized + c.delayed + c.active, ...c }]),
    );
  });
  app.get('/internal/scale', { schema: scaleSchema, config }, backlogs);

  const rootSchema = {
    operationId: 'root',
    summary: 'The console, or links to the documentation and the resources',
    description: 'HTML for browsers (`Accept: text/html`), JSON for other clients.',
    tags,
    security,
    response: {
      200: media('The console; else name, version and addresses.', {
        'application/json': Type.Object({
          name: Type.String(),
          version: Type.String(),
          links: Type.Record(Type.String(), Type.String()),
        }),
        'text/html': Type.String(),
      }),
      ...problems(['too-many-requests'], { always: false }),
    },
  };
  app.get('/', { schema: rootSchema }, async (request, reply) => {
    reply.header('Vary', 'Accept');
    if (startPage !== null && request.headers.accept?.includes('text/html')) return startPage(reply);
    return {
      name: 'scenedelta',
      version: VERSION,
      links: { docs: '/docs', openapi: '/docs/json', models: '/v1/models', comparisons: '/v1/comparisons' },
    };
  });
}
