/** The workers' own producing side: deliveries, jobs put back by recovery, and the clock of maintenance. */
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import {
  COMPARISON_OPTIONS,
  type ComparisonJob,
  DELIVERY_OPTIONS,
  type DeliveryJob,
  MAINTENANCE_QUEUE,
  PRIORITY,
  QUEUE_PREFIX,
  QUEUES,
  SNAPSHOT_QUEUE,
  TURN_JOB,
  TURN_OPTIONS,
  type TurnJob,
} from '../jobs/payloads.js';
import { reconcileSnapshots } from '../stores/snapshot-schedule.js';

/** absent: no such job; held: it waits, is delayed or runs; completed, failed: it ended and is still remembered. */
export type JobState = 'absent' | 'held' | 'completed' | 'failed';

export interface WorkerQueues {
  addDelivery(job: DeliveryJob): Promise<void>;
  /** Puts a comparison back that has no job. */
  addComparison(job: ComparisonJob): Promise<void>;
  /** Has somebody take the camera's turn: at once, among the live comparisons. */
  addTurn(camera: string): Promise<void>;
  /** Puts right what a crash between a camera's settings and its schedule left. @param wanted seconds by camera */
  reconcileSnapshots(wanted: ReadonlyMap<string, number>): Promise<void>;
  /** For each id, in one round trip; an id is looked for in all queues of its kind. */
  states(kind: 'comparison' | 'delivery', ids: readonly string[]): Promise<JobState[]>;
  /** Forgets an ended job, so that its id can be used again. */
  forget(kind: 'comparison' | 'delivery', id: string): Promise<void>;
  /** Has each task run by one worker of all, every so often. */
  schedule(tasks: Readonly<Record<string, { everyMs: number }>>): Promise<void>;
  close(): Promise<void>;
}

/** @param redis shared, and closed by whoever made it */
export function createWorkerQueues(redis: Redis): WorkerQueues {
  const open = (name: string) => {
    const queue = new Queue(name, { connection: redis, prefix: QUEUE_PREFIX });
    // The connection's own listener has logged it; without one here it would end the process.
    queue.on('error', () => {});
    return queue;
  };
  const live = open(QUEUES.live);
  const archive = open(QUEUES.archive);
  const delivery = open(QUEUES.delivery);
  const maintenance = open(MAINTENANCE_QUEUE);
  const snapshots = open(SNAPSHOT_QUEUE);
  const queuesOf = { comparison: [live, archive], delivery: [delivery] } as const;

  return {
    async addDelivery(job) {
      await delivery.add('deliver', job, { ...DELIVERY_OPTIONS, jobId: job.deliveryId });
    },
    async addComparison(job) {
      await live.add('compare', job, {
        ...COMPARISON_OPTIONS,
        jobId: job.comparisonId,
        priority: PRIORITY.callback,
      });
    },
    async addTurn(camera) {
      await live.add(TURN_JOB, { v: 1, camera } satisfies TurnJob, TURN_OPTIONS);
    },
    reconcileSnapshots: (wanted) => reconcileSnapshots(snapshots, wanted),
    async states(kind, ids) {
      const pipeline = redis.pipeline();
      const queues = queuesOf[kind];
      for (const id of ids) {
        for (const queue of queues) {
          pipeline.exists(queue.toKey(id));
          pipeline.zscore(queue.toKey('completed'), id);
          pipeline.zscore(queue.toKey('failed'), id);
        }
      }
      const replies = ((await pipeline.exec()) ?? []).map(([error, reply]) => {
        if (error !== null) throw error;
        return reply;
      });
      return ids.map((_id, i) => {
        const states = queues.map((_queue, j): JobState => {
          const [exists, completed, failed] = replies.slice(3 * (i * queues.length + j));
          if (exists !== 1) return 'absent';
          if (failed !== null) return 'failed';
          return completed !== null ? 'completed' : 'held';
        });
        return states.find((state) => state !== 'absent') ?? 'absent';
      });
    },
    async forget(kind, id) {
      await Promise.all(queuesOf[kind].map((queue) => queue.remove(id)));
    },
    async schedule(tasks) {
      for (const [name, { everyMs }] of Object.entries(tasks)) {
        const opts = { removeOnComplete: true, removeOnFail: { count: 20 } };
        await maintenance.upsertJobScheduler(name, { every: everyMs }, { name, opts });
      }
    },
    async close() {
      await Promise.all([live, archive, delivery, maintenance, snapshots].map((queue) => queue.close()));
    },
  };
}
