/** The producer of queue jobs, for the API and the workers: adds, cancels, counts and finds jobs in BullMQ. */
import { FlowProducer, type JobsOptions, type Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { systemClock } from '../base/clock.js';
import { ScenedeltaError } from '../base/errors.js';
import { KEYS } from '../stores/redis/keys.js';
import { redisCall } from '../stores/redis/redis.js';
import { batchJobs } from './batch-jobs.js';
import { jobStates, type QueueCall } from './job-states.js';
import { type ComparisonJob, type DeliveryJob, jobPayload } from './payloads.js';
import {
  BATCH_QUEUE,
  COMPARISON_OPTIONS,
  DELIVERY_OPTIONS,
  FETCH_OPTIONS,
  MAINTENANCE_QUEUE,
  openQueue,
  PRIORITY,
  QUEUE_PREFIX,
  QUEUES,
  SNAPSHOT_QUEUE,
  TURN_JOB,
  TURN_OPTIONS,
} from './queues.js';
import { reconcileSnapshots, scheduleSnapshots } from './snapshot-schedule.js';

type ComparisonQueueName = 'live' | 'archive';
export type JobProducer = ReturnType<typeof createJobProducer>;

/**
 * All methods throw ScenedeltaError 'queue-unavailable' if Redis is away: at once on a producer's connection, which has
 * no offline queue. On a consumer's connection they wait until Redis is back.
 * @param redis shared; the caller closes it
 * @param clock epoch ms
 */
export function createJobProducer(redis: Redis, clock: () => number = systemClock) {
  const queues = [
    QUEUES.live,
    QUEUES.archive,
    QUEUES.fetch,
    QUEUES.delivery,
    MAINTENANCE_QUEUE,
    SNAPSHOT_QUEUE,
    BATCH_QUEUE,
  ].map((name) => openQueue(name, redis)) as [Queue, Queue, Queue, Queue, Queue, Queue, Queue];
  const [live, archive, fetch, delivery, maintenance, snapshots, batches] = queues;
  const flows = new FlowProducer({ connection: redis, prefix: QUEUE_PREFIX });
  flows.on('error', () => {});
  const queuesOf = { comparison: [fetch, live, archive], delivery: [delivery], batch: [batches] } as const;

  const call: QueueCall = (what, commands) => {
    // BullMQ waits for a connection before its first command, but a request must not.
    if (redis.options.enableOfflineQueue !== false || redis.status === 'ready') return redisCall(what, commands);
    const message = `${what}: Redis cannot be reached (connection ${redis.status})`;
    return Promise.reject(new ScenedeltaError('queue-unavailable', message));
  };
  const add = (what: string, queue: Queue, name: string, ids: object, options: JobsOptions): Promise<void> =>
    call(`Queueing ${what}`, async () => void (await queue.add(name, jobPayload(ids), options)));

  return {
    ...batchJobs(redis, { batches, flows, call }),
    ...jobStates(redis, { live, archive, fetch, delivery }, { queuesOf, call, clock }),
    /** All queues that it adds to, for the page that shows them. */
    queues: queues as readonly Queue[],
    /**
     * One job per comparison: adding it twice changes nothing.
     * @param options.fetch whether frames must be fetched first; then `queue` comes after the queue of fetches
     */
    addComparison: (
      { comparisonId, traceId }: Omit<ComparisonJob, 'v'>,
      {
        queue = 'live',
        priority = PRIORITY.unattended,
        fetch: fetchFirst = false,
      }: { queue?: ComparisonQueueName; priority?: number; fetch?: boolean } = {},
    ) => {
      const ids = { comparisonId, traceId };
      const options = { jobId: comparisonId, priority };
      return fetchFirst
        ? add('the comparison', fetch, queue, ids, { ...FETCH_OPTIONS, ...options })
        : add('the comparison', { live, archive }[queue], 'compare', ids, { ...COMPARISON_OPTIONS, ...options });
    },
    /** Lets a worker take the camera's turn. @param queue fetch: to fetch the frame first */
    addTurn: (camera: string, queue: 'live' | 'fetch' = 'live') =>
      add("the camera's turn", { live, fetch }[queue], TURN_JOB, { camera }, TURN_OPTIONS),
    /** One job per delivery: adding it twice changes nothing. */
    addDelivery: ({ deliveryId, traceId, owner }: Omit<DeliveryJob, 'v'>) => {
      const ids = { deliveryId, traceId, ...(owner === undefined ? {} : { owner }) };
      return add('the delivery', delivery, 'deliver', ids, { ...DELIVERY_OPTIONS, jobId: deliveryId });
    },
    /** @param intervalSeconds time between two snapshot pulls; null: no pulls */
    scheduleSnapshots: (camera: string, intervalSeconds: number | null): Promise<void> =>
      call('Scheduling snapshots', () => scheduleSnapshots(snapshots, camera, intervalSeconds)),
    /**
     * Corrects schedules that a crash between a camera's settings and its schedule left.
     * @param wanted seconds by camera
     */
    reconcileSnapshots: (wanted: ReadonlyMap<string, number>): Promise<void> =>
      call('Scheduling snapshots', () => reconcileSnapshots(snapshots, wanted)),
    /** Runs each task periodically, on one worker of all. */
    scheduleMaintenance: (tasks: Readonly<Record<string, { everyMs: number }>>): Promise<void> =>
      call('Scheduling maintenance', async () => {
        for (const [name, { everyMs }] of Object.entries(tasks)) {
          const opts = { removeOnComplete: true, removeOnFail: { count: 20 } };
          await maintenance.upsertJobScheduler(name, { every: everyMs }, { name, opts });
        }
      }),
    /** Removes the job if no worker holds it, and signals the worker that does to stop. */
    cancel: (comparisonId: string): Promise<void> =>
      call('Cancelling the comparison', async () => {
        await Promise.all([
          redis.publish(KEYS.cancellations, comparisonId),
          ...queuesOf.comparison.map((queue) => queue.remove(comparisonId)),
        ]);
      }),
    /** @returns whether Redis answers; it never throws. */
    ping: async (): Promise<boolean> => redis.status === 'ready' && succeeds(redis.ping()),
    /** @returns whether Redis takes writes; it never throws. */
    takesWrites: (): Promise<boolean> => succeeds(redis.set(KEYS.probe, '1', 'PX', 60_000)),
    /** @returns whether Redis may evict keys and lose accepted work; false if it does not say. It never throws. */
    mayEvict: async (): Promise<boolean> =>
      redis.info('memory').then(
        (info) => !/^maxmemory_policy:noeviction\r?$/m.test(info) && info.includes('maxmemory_policy:'),
        () => false,
      ),
    close: async (): Promise<void> => {
      await Promise.all([...queues, flows].map((queue) => queue.close()));
    },
  };
}

/** Lower runs first: a comparison with a waiting client, like a camera's frame, comes before one that is read later. */
export const priorityOf = (queue: ComparisonQueueName, unattended: boolean): number =>
  queue === 'archive' ? PRIORITY.archive : unattended ? PRIORITY.unattended : PRIORITY.live;

const succeeds = (command: Promise<unknown>): Promise<boolean> =>
  command.then(
    () => true,
    () => false,
  );
