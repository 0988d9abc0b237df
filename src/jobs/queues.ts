/** Names, priorities and job options of the BullMQ queues. */
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

/**
 * Live and archive work wait in separate queues, so that re-processing an archive never delays a camera. Frames
 * given by an address are first fetched in a queue of their own, so that one that hangs holds no slot of the others.
 */
export const QUEUES = { live: 'comparisons', archive: 'archive', fetch: 'fetches', delivery: 'deliveries' } as const;
/** Clean-up and recovery: job schedulers, so that one worker of all runs each task. The jobs carry no data. */
export const MAINTENANCE_QUEUE = 'maintenance';
/** Batches of footage: a job that plans, then a flow of one job per camera and a last one for the results. */
export const BATCH_QUEUE = 'batches';
/** Snapshot pulls: one job scheduler per camera, with the camera's id as its key. Payloads are of TurnJobSchema. */
export const SNAPSHOT_QUEUE = 'snapshots';
/** Questions of the API that a worker answers at once (questions.ts). */
export const QUESTION_QUEUE = 'questions';
/** BullMQ's own key prefix. */
export const QUEUE_PREFIX = 'sd:q';
/** Lower runs first. Jobs of priority 0 wait in a list, which costs Redis fewer commands than the sorted others. */
export const PRIORITY = { live: 0, unattended: 5, archive: 100 } as const;
/** Name of the jobs of TurnJobSchema, which wait among the live comparisons or among the fetches. */
export const TURN_JOB = 'turn';

const BACKOFF = { type: 'exponential', delay: 1_000 } as const;
/** Ended jobs stay visible to operators for this long (s). Idempotency and results do not depend on it. */
const KEPT = { removeOnComplete: { age: 3_600, count: 1_000 }, removeOnFail: { age: 86_400 } } as const;

/**
 * `attempts` counts errors of ours, such as an unreachable Redis. The tries of a delivery and of a camera's frame are
 * counted by the delivery's log and by the camera's turn.
 */
export const COMPARISON_OPTIONS = { ...KEPT, backoff: BACKOFF, attempts: 3 } as const;
/** The tries of a step. A repeated step goes on after its last chunk of frames. */
export const BATCH_OPTIONS = { ...KEPT, backoff: BACKOFF, attempts: 10 } as const;
/** A fetch job is followed by a comparison job of the same id. */
export const FETCH_OPTIONS = { ...COMPARISON_OPTIONS, removeOnComplete: true } as const;
export const DELIVERY_OPTIONS = { ...KEPT, backoff: BACKOFF, attempts: 5 } as const;
/** A person waits for the reply, so a question is neither tried again nor kept. */
export const QUESTION_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;
export const TURN_OPTIONS = {
  attempts: 5,
  backoff: BACKOFF,
  removeOnComplete: true,
  removeOnFail: { age: 86_400 },
  priority: PRIORITY.live,
} as const;

/** @param redis shared; the caller closes it */
export function openQueue(name: string, redis: Redis): Queue {
  const queue = new Queue(name, { connection: redis, prefix: QUEUE_PREFIX });
  // The connection's own listener logs errors; without any listener here an error would end the process.
  queue.on('error', () => {});
  return queue;
}
