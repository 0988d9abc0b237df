/** The job of a queue that has waited for longest. */
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { repliesOf } from '../stores/redis.js';
import { PRIORITY } from './queues.js';

/** BullMQ sorts waiting jobs with a priority by priority, and by their order of arrival below that. */
const SCORES_PER_PRIORITY = 2 ** 32;

/** @returns epoch ms at which the job was queued; undefined if none waits. Delayed jobs do not count. */
export async function oldestJob(redis: Redis, queue: Queue): Promise<number | undefined> {
  const first = redis.pipeline().lindex(queue.toKey('wait'), -1);
  for (const priority of Object.values(PRIORITY)) {
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
