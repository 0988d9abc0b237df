/** The producer of queue jobs, for the API and the workers: adds, cancels, counts and finds jobs in BullMQ. */

import { FlowProducer, type JobsOptions, type Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { systemClock } from '../clock.js';
import { ScenedeltaError } from '../errors.js';
import { KEYS } from '../stores/keys.js';
import { redisCall, repliesOf } from '../stores/redis.js';
import { createFairOrder } from './fair-order.js';
import { oldestJob } from './oldest-job.js';
import { type ComparisonJob, type DeliveryJob, type DescriptionJob, jobPayload } from './payloads.js';
import {
  BATCH_OPTIONS,
  BATCH_QUEUE,
  COMPARISON_OPTIONS,
  DELIVERY_OPTIONS,
  DESCRIPTION_OPTIONS,
  DESCRIPTION_QUEUE,
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

export type QueueName = keyof typeof QUEUES;
type ComparisonQueueName = 'live' | 'archive';
type JobKind = 'comparison' | 'delivery' | 'batch' | 'description';

/** absent: no such job. held: it waits, is delayed or runs. completed, failed: it ended and is still kept. */
type JobState = 'absent' | 'held' | 'completed' | 'failed';

/** Jobs of one queue by state. `prioritized` are waiting jobs with a priority, as comparisons and turns have. */
export type QueueCounts = Readonly<Record<(typeof COUNTED)[number], number>>;
const COUNTED = ['waiting', 'prioritized', 'delayed', 'active'] as const;
const COUNTS_MAX_AGE_MS = 500;

type BatchIds = { readonly id: string; readonly owner: string };
export type JobProducer = ReturnType<typeof createJobProducer>;

/**
 * All methods throw ScenedeltaError 'queue-unavailable' if Redis is away: at once on a producer's connection, which has
 * no offline queue. On a consumer's connection they wait until Redis is back.
 * @param redis shared; the caller closes it
 * @param clock epoch ms
 */
export function createJobProducer(redis: Redis, clock: () => number = systemClock) {
  const [live, archive, fetch, delivery, maintenance, snapshots, batches, descriptions] = [
    QUEUES.live,
    QUEUES.archive,
    QUEUES.fetch,
    QUEUES.delivery,
    MAINTENANCE_QUEUE,
    SNAPSHOT_QUEUE,
    BATCH_QUEUE,
    DESCRIPTION_QUEUE,
  ].map((name) => openQueue(name, redis)) as [Queue, Queue, Queue, Queue, Queue, Queue, Queue, Queue];
  const batchOrder = createFairOrder(redis, batches);
  const flows = new FlowProducer({ connection: redis, prefix: QUEUE_PREFIX });
  flows.on('error', () => {});
  const queuesOf = {
    comparison: [fetch, live, archive],
    delivery: [delivery],
    batch: [batches],
    description: [descriptions],
  } as const;
  let counted: { at: number; backlog: Promise<number> } | undefined;

  const call = <T>(what: string, commands: () => Promise<T>): Promise<T> => {
    // BullMQ waits for a connection before its first command, but a request must not.
    if (redis.options.enableOfflineQueue !== false || redis.status === 'ready') return redisCall(what, commands);
    const message = `${what}: Redis cannot be reached (connection ${redis.status})`;
    return Promise.reject(new ScenedeltaError('queue-unavailable', message));
  };
  const add = (what: string, queue: Queue, name: string, ids: object, options: JobsOptions): Promise<void> =>
    call(`Queueing ${what}`, async () => void (await queue.add(name, jobPayload(ids), options)));

  const counts = (): Promise<Record<QueueName, QueueCounts>> =>
    call('Counting jobs', async () => {
      const [inLive, inArchive, inFetch, inDelivery] = await Promise.all(
        [live, archive, fetch, delivery].map(async (queue) => {
          const found = await queue.getJobCounts(...COUNTED);
          return Object.fromEntries(COUNTED.map((state) => [state, found[state] ?? 0])) as QueueCounts;
        }),
      );
      return { live: inLive, archive: inArchive, fetch: inFetch, delivery: inDelivery } as Record<
        QueueName,
        QueueCounts
      >;
    });

  return {
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
        : add('the comparison', { live, archive }[queue], 'compare', ids, {
            ...COMPARISON_OPTIONS,
            ...options,
          });
    },
    /** Lets a worker take the camera's turn. @param queue fetch: to fetch the frame first */
    addTurn: (camera: string, queue: 'live' | 'fetch' = 'live') =>
      add("the camera's turn", { live, fetch }[queue], TURN_JOB, { camera }, TURN_OPTIONS),
    /** One job per delivery: adding it twice changes nothing. */
    addDelivery: ({ deliveryId, traceId, owner }: Omit<DeliveryJob, 'v'>) => {
      const ids = { deliveryId, traceId, ...(owner === undefined ? {} : { owner }) };
      return add('the delivery', delivery, 'deliver', ids, { ...DELIVERY_OPTIONS, jobId: deliveryId });
    },
    /** One job per change: adding it twice changes nothing. */
    addDescription: ({ changeId, traceId }: Omit<DescriptionJob, 'v'>) =>
      add(
        'the description',
        descriptions,
        'describe',
        { changeId, traceId },
        { ...DESCRIPTION_OPTIONS, jobId: changeId },
      ),
    /** Lets a worker list the inputs of a batch. Adding it twice changes nothing. */
    addBatch: ({ id, owner }: BatchIds): Promise<void> =>
      call('Queueing the batch', async () => {
        const [priority = 0] = await batchOrder.take(owner);
        const options = { ...BATCH_OPTIONS, jobId: planJobId(id), priority };
        await batches.add('plan', jobPayload({ batchId: id, step: 'plan' }), options);
      }),
    /** Notes that a worker runs a job of a batch. @param turn its priority */
    batchJobBegins: (turn: number | undefined): Promise<void> =>
      call('Beginning a job of a batch', () => batchOrder.begin(turn)),
    /**
     * One job per camera of the batch, and a last one when all have ended, however they did. Adding it twice changes
     * nothing.
     * @param cameras indices in the plan
     */
    addBatchRun: (
      { id: batchId, owner }: BatchIds,
      { run, cameras }: { run: number; cameras: readonly number[] },
    ): Promise<void> =>
      call('Queueing the cameras of a batch', async () => {
        const turns = await batchOrder.take(owner, cameras.length);
        const children = cameras.map((camera, i) => ({
          name: 'camera',
          queueName: BATCH_QUEUE,
          data: jobPayload({ batchId, step: 'camera', camera, run }),
          opts: {
            ...{ ...BATCH_OPTIONS, jobId: cameraJobId(batchId, { run, camera }) },
            ...{ ignoreDependencyOnFailure: true, priority: turns[i] as number },
          },
        }));
        // Without a turn it comes before all others: it is short, and its batch has waited.
        const opts = { ...BATCH_OPTIONS, jobId: finishJobId(batchId, run) };
        const data = jobPayload({ batchId, step: 'finish', run });
        await flows.add({ name: 'finish', queueName: BATCH_QUEUE, data, opts, children });
      }),
    /**
     * Removes the ended jobs of a batch, so that they can be added again.
     * @returns false if a worker still holds one of them
     */
    forgetBatch: (batchId: string, { run, cameras }: { run: number; cameras: number }): Promise<boolean> =>
      call('Removing the jobs of a batch', async () => {
        const ofCameras = Array.from({ length: cameras }, (_, camera) => cameraJobId(batchId, { run, camera }));
        for (const id of [finishJobId(batchId, run), planJobId(batchId), ...ofCameras]) {
          const job = await batches.getJob(id);
          if (job === undefined) continue;
          if (await job.isActive()) return false;
          await job.remove({ removeChildren: false });
        }
        return true;
      }),
    /** Signals the workers that hold jobs of the batch to stop. */
    cancelBatch: (batchId: string): Promise<void> =>
      call('Cancelling the batch', async () => void (await redis.publish(KEYS.cancellations, batchId))),
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
    counts,
    /** @returns epoch ms at which the job was queued that has waited for longest, per queue in which one waits */
    oldest: (): Promise<Partial<Record<QueueName, number>>> =>
      call('Reading the oldest jobs', async () => {
        const queues = { live, archive, fetch, delivery };
        const found = await Promise.all(
          Object.entries(queues).map(async ([name, queue]) => [name, await oldestJob(redis, queue)] as const),
        );
        return Object.fromEntries(found.filter(([, at]) => at !== undefined));
      }),
    /** @returns how many comparisons wait for a worker; at most half a second old. */
    waiting: (): Promise<number> => {
      if (counted === undefined || clock() - counted.at > COUNTS_MAX_AGE_MS) {
        const backlogOf = (c: QueueCounts) => c.waiting + c.prioritized + c.delayed;
        counted = {
          at: clock(),
          backlog: counts().then((all) => backlogOf(all.live) + backlogOf(all.archive) + backlogOf(all.fetch)),
        };
        counted.backlog.catch(() => {
          counted = undefined;
        });
      }
      return counted.backlog;
    },
    /** @returns the state of each id, in one round trip. An id is looked up in all queues of its kind. */
    states: (kind: JobKind, ids: readonly string[]): Promise<JobState[]> =>
      call('Reading job states', async () => {
        const pipeline = redis.multi();
        const queues = queuesOf[kind];
        for (const id of ids) {
          for (const queue of queues) {
            pipeline.exists(queue.toKey(id));
            pipeline.zscore(queue.toKey('failed'), id);
            for (const state of ['prioritized', 'delayed', 'waiting-children']) pipeline.zscore(queue.toKey(state), id);
            for (const state of ['active', 'wait', 'paused']) pipeline.lpos(queue.toKey(state), id);
          }
        }
        const replies = repliesOf(await pipeline.exec());
        return ids.map((_id, i) => {
          const states = queues.map((_queue, j): JobState => {
            const [exists, failed, ...places] = replies.slice(8 * (i * queues.length + j)).slice(0, 8);
            if (exists !== 1) return 'absent';
            if (failed !== null) return 'failed';
            // A script of the queue that Redis refused halfway leaves a job in no list at all.
            return places.some((place) => place !== null) ? 'held' : 'completed';
          });
          return states.find((state) => state !== 'absent') ?? 'absent';
        });
      }),
    /** Removes an ended job, so that its id can be used again. */
    forget: (kind: JobKind, id: string): Promise<void> =>
      call('Forgetting a job', async () => {
        await Promise.all(queuesOf[kind].map((queue) => queue.remove(id)));
      }),
    /** @returns whether Redis answers; it never throws. */
    ping: async (): Promise<boolean> =>
      redis.status === 'ready' &&
      redis.ping().then(
        () => true,
        () => false,
      ),
    /** @returns whether Redis takes writes; it never throws. */
    takesWrites: async (): Promise<boolean> =>
      redis.set(KEYS.probe, '1', 'PX', 60_000).then(
        () => true,
        () => false,
      ),
    close: async (): Promise<void> => {
      const queues = [live, archive, fetch, delivery, maintenance, snapshots, batches, descriptions];
      await Promise.all([...queues, flows].map((queue) => queue.close()));
    },
  };
}

export const planJobId = (batchId: string): string => `${batchId}-plan`;
/** The first run has no suffix, as in earlier versions. */
const suffixOf = (run: number): string => (run === 0 ? '' : `-r${run}`);
const cameraJobId = (batchId: string, { run, camera }: { run: number; camera: number }): string =>
  `${batchId}-camera-${camera}${suffixOf(run)}`;
/** Id of the last job of a run. */
export const finishJobId = (batchId: string, run: number): string => `${batchId}-finish${suffixOf(run)}`;

/** Lower runs first: a comparison with a waiting client, like a camera's frame, comes before one that is read later. */
export const priorityOf = (queue: ComparisonQueueName, unattended: boolean): number =>
  queue === 'archive' ? PRIORITY.archive : unattended ? PRIORITY.unattended : PRIORITY.live;
