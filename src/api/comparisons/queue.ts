/** The producer's side of the comparison queues. BullMQ is spoken here and, on the other side, in the workers. */
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { ScenedeltaError } from '../../errors.js';
import {
  COMPARISON_OPTIONS,
  type ComparisonJob,
  KEYS,
  PRIORITY,
  QUEUE_PREFIX,
  QUEUES,
  SNAPSHOT_QUEUE,
  TURN_JOB,
  TURN_OPTIONS,
  type TurnJob,
} from '../../jobs/payloads.js';
import { redisCall } from '../../stores/redis.js';
import { scheduleSnapshots } from '../../stores/snapshot-schedule.js';

export type QueueName = keyof typeof QUEUES;
export type ComparisonQueueName = 'live' | 'archive';

/** Jobs of one queue by state; `prioritized` are the waiting ones that carry a priority, which is how ours wait. */
export interface QueueCounts {
  readonly waiting: number;
  readonly prioritized: number;
  readonly delayed: number;
  readonly active: number;
}

export interface ComparisonQueue {
  /** One job a comparison: its id is the job's. @throws ScenedeltaError 'queue-unavailable' at once where Redis is away. */
  add(job: ComparisonJob, queue: ComparisonQueueName, priority: number): Promise<void>;
  /** Has somebody take the camera's turn. @throws ScenedeltaError 'queue-unavailable' */
  addTurn(camera: string): Promise<void>;
  /** The workers pull a snapshot so often; null: no more. @throws ScenedeltaError 'queue-unavailable' */
  scheduleSnapshots(camera: string, intervalSeconds: number | null): Promise<void>;
  /** Takes the job out if no worker holds it, and tells the worker that does to stop. */
  cancel(comparisonId: string): Promise<void>;
  counts(): Promise<Record<QueueName, QueueCounts>>;
  /** Comparisons that wait for a worker; at most half a second old. */
  waiting(): Promise<number>;
  /** Whether Redis answers. */
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

const COUNTS_MAX_AGE_MS = 500;
const STATES = ['waiting', 'prioritized', 'delayed', 'active'] as const;

/** @param redis a producer's connection (fails fast); shared, and closed by whoever made it. */
export function createComparisonQueue(redis: Redis, clock: () => number): ComparisonQueue {
  const open = (name: string) => {
    const queue = new Queue(name, { connection: redis, prefix: QUEUE_PREFIX });
    // The connection's own listener has logged it; without one here it would end the process.
    queue.on('error', () => {});
    return queue;
  };
  const queues: Record<QueueName, Queue> = {
    live: open(QUEUES.live),
    archive: open(QUEUES.archive),
    delivery: open(QUEUES.delivery),
  };
  const snapshots = open(SNAPSHOT_QUEUE);
  let counted: { at: number; waiting: Promise<number> } | undefined;

  // BullMQ waits for a connection before its first command, and a caller must not.
  const call = <T>(what: string, commands: () => Promise<T>): Promise<T> => {
    if (redis.status === 'ready') return redisCall(what, commands);
    return Promise.reject(
      new ScenedeltaError(
        'queue-unavailable',
        `${what}: Redis cannot be reached (connection ${redis.status})`,
      ),
    );
  };

  const counts = () =>
    call('Counting jobs', async () => {
      const entries = Object.entries(queues).map(async ([name, queue]) => {
        const found = await queue.getJobCounts(...STATES);
        return [name, Object.fromEntries(STATES.map((state) => [state, found[state] ?? 0]))];
      });
      return Object.fromEntries(await Promise.all(entries)) as Record<QueueName, QueueCounts>;
    });
  const backlog = (c: QueueCounts) => c.waiting + c.prioritized + c.delayed;

  return {
    add: (job, queue, priority) =>
      call('Queueing the comparison', async () => {
        await queues[queue].add('compare', job, { ...COMPARISON_OPTIONS, jobId: job.comparisonId, priority });
      }),
    addTurn: (camera) =>
      call("Queueing the camera's turn", async () => {
        await queues.live.add(TURN_JOB, { v: 1, camera } satisfies TurnJob, TURN_OPTIONS);
      }),
    scheduleSnapshots: (camera, intervalSeconds) =>
      call('Scheduling snapshots', () => scheduleSnapshots(snapshots, camera, intervalSeconds)),
    cancel: (comparisonId) =>
      call('Cancelling the comparison', async () => {
        await Promise.all([
          redis.publish(KEYS.cancellations, comparisonId),
          queues.live.remove(comparisonId),
          queues.archive.remove(comparisonId),
        ]);
      }),
    counts,
    waiting: () => {
      if (counted === undefined || clock() - counted.at > COUNTS_MAX_AGE_MS) {
        counted = { at: clock(), waiting: counts().then((all) => backlog(all.live) + backlog(all.archive)) };
        counted.waiting.catch(() => {
          counted = undefined;
        });
      }
      return counted.waiting;
    },
    ping: async () => {
      if (redis.status !== 'ready') return false;
      return redis.ping().then(
        () => true,
        () => false,
      );
    },
    close: async () => {
      await Promise.all([...Object.values(queues), snapshots].map((queue) => queue.close()));
    },
  };
}

/** Lower runs first: nobody waits at the other end of a connection for an outcome that goes to a callback. */
export const priorityOf = (queue: ComparisonQueueName, unattended: boolean): number =>
  queue === 'archive' ? PRIORITY.archive : unattended ? PRIORITY.callback : PRIORITY.live;
