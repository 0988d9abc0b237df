/** Where jobs are: their counts by state, the one that has waited for longest, and the state of single ones. */
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { repliesOf } from '../stores/redis/redis.js';
import { PRIORITY, type QUEUES } from './queues.js';

export type QueueName = keyof typeof QUEUES;
type JobKind = 'comparison' | 'delivery' | 'batch';

/** absent: no such job. held: it waits, is delayed or runs. completed, failed: it ended and is still kept. */
type JobState = 'absent' | 'held' | 'completed' | 'failed';

/** Jobs of one queue by state. `prioritized` are waiting jobs that others precede (PRIORITY in queues.ts). */
export type QueueCounts = Readonly<Record<(typeof COUNTED)[number], number>>;
const COUNTED = ['waiting', 'prioritized', 'delayed', 'active'] as const;
const COUNTS_MAX_AGE_MS = 500;

type ServiceQueues = Readonly<Record<QueueName, Queue>>;

interface StateContext {
  /** queues in which a job of the kind may be */
  readonly queuesOf: Readonly<Record<JobKind, readonly Queue[]>>;
  readonly call: QueueCall;
  /** epoch ms */
  readonly clock: () => number;
}

export function jobStates(redis: Redis, queues: ServiceQueues, { queuesOf, call, clock }: StateContext) {
  let counted: { at: number; backlog: Promise<number> } | undefined;

  const counts = (): Promise<Record<QueueName, QueueCounts>> =>
    call('Counting jobs', async () => {
      const all = Object.entries(queues).map(async ([name, queue]) => {
        const found = await queue.getJobCounts(...COUNTED);
        return [name, Object.fromEntries(COUNTED.map((state) => [state, found[state] ?? 0]))];
      });
      return Object.fromEntries(await Promise.all(all));
    });

  return {
    counts,
    /** @returns epoch ms at which the job was queued that has waited for longest, per queue in which one waits */
    oldest: (): Promise<Partial<Record<QueueName, number>>> =>
      call('Reading the oldest jobs', async () => {
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
        const places = queuesOf[kind];
        for (const id of ids) {
          for (const queue of places) {
            pipeline.exists(queue.toKey(id));
            pipeline.zscore(queue.toKey('failed'), id);
            for (const state of ['prioritized', 'delayed', 'waiting-children']) pipeline.zscore(queue.toKey(state), id);
            for (const state of ['active', 'wait', 'paused']) pipeline.lpos(queue.toKey(state), id);
          }
        }
        const replies = repliesOf(await pipeline.exec());
        return ids.map((_id, i) => {
          const states = places.map((_queue, j): JobState => {
            const [exists, failed, ...lists] = replies.slice(8 * (i * places.length + j)).slice(0, 8);
            if (exists !== 1) return 'absent';
            if (failed !== null) return 'failed';
            // A script of the queue that Redis refused halfway leaves a job in no list at all.
            return lists.some((place) => place !== null) ? 'held' : 'completed';
          });
          return states.find((state) => state !== 'absent') ?? 'absent';
        });
      }),
    /** Removes an ended job, so that its id can be used again. */
    forget: (kind: JobKind, id: string): Promise<void> =>
      call('Forgetting a job', async () => {
        await Promise.all(queuesOf[kind].map((queue) => queue.remove(id)));
      }),
  };
}

/** BullMQ sorts waiting jobs with a priority by priority, and by their order of arrival below that. */
const SCORES_PER_PRIORITY = 2 ** 32;

/** @returns epoch ms at which the longest waiting job was queued; undefined without one. Delayed jobs do not count. */
async function oldestJob(redis: Redis, queue: Queue): Promise<number | undefined> {
  const first = redis.pipeline().lindex(queue.toKey('wait'), -1);
  for (const priority of [PRIORITY.unattended, PRIORITY.archive]) {
    const from = priority * SCORES_PER_PRIORITY;
    first.zrangebyscore(queue.toKey('prioritized'), from, from + SCORES_PER_PRIORITY - 1, 'LIMIT', 0, 1);
  }
  const ids = repliesOf<string | string[] | null>(await first.exec()).flatMap((reply) => reply ?? []);
  const times = redis.pipeline();
  for (const id of ids) times.hget(queue.toKey(id), 'timestamp');
  // A job may have been removed between the two reads.
  const known = repliesOf<string | null>(await times.exec()).flatMap((time) => (time === null ? [] : Number(time)));
  return known.length === 0 ? undefined : Math.min(...known);
}

/** A call of Redis. @param what names it in the error */
export type QueueCall = <T>(what: string, commands: () => Promise<T>) => Promise<T>;
