/**
 * Locks that would outlive their workers. They expire by the clock of Redis: if it was ahead when one was taken, and is
 * set back, the lock of a worker that has died meanwhile would hold its job for as long as the clock was ahead.
 */
import type { Redis } from 'ioredis';
import type { Logger } from '../process/logger.js';
import { KEYS } from '../stores/redis/keys.js';
import { defineScript, redisCall } from '../stores/redis/redis.js';
import { BATCH_QUEUE, MAINTENANCE_QUEUE, QUESTION_QUEUE, QUEUE_PREFIX, QUEUES, SNAPSHOT_QUEUE } from './queues.js';

const EVERY_MS = 10_000;
/** Longer than any lock is taken for: the most that JOB_LOCK_MS may be. */
const LONGEST_MS = 600_000;

/** KEYS: set of the workers, then per queue its active jobs and the lock of its check. ARGV: longest, new lifetime. */
const SHORTEN = `
local function shorten(key)
  if redis.call('PTTL', key) > tonumber(ARGV[1]) then redis.call('PEXPIRE', key, ARGV[2]) end
end
for _, worker in ipairs(redis.call('SMEMBERS', KEYS[1])) do shorten('${KEYS.worker('')}' .. worker) end
for i = 2, #KEYS, 2 do
  shorten(KEYS[i + 1])
  local prefix = string.sub(KEYS[i], 1, -#'active' - 1)
  for _, id in ipairs(redis.call('LRANGE', KEYS[i], 0, -1)) do shorten(prefix .. id .. ':lock') end
end
return 1`;

/**
 * Shortens such locks from now on, every 10 s.
 * @param options.lockMs lifetime of a shortened lock
 * @returns how to stop
 */
export function shortenOverlongLocks(
  redis: Redis,
  { lockMs, logger }: { lockMs: number; logger: Logger },
): { close(): void; once(): Promise<void> } {
  const run = defineScript(redis, 'sdShorten', SHORTEN);
  const names = [...Object.values(QUEUES), BATCH_QUEUE, MAINTENANCE_QUEUE, QUESTION_QUEUE, SNAPSHOT_QUEUE];
  const keys = names.flatMap((name) => ['active', 'stalled-check'].map((of) => `${QUEUE_PREFIX}:${name}:${of}`));
  const once = () =>
    redisCall('shortening locks', async () => void (await run([KEYS.workers, ...keys], LONGEST_MS, lockMs)));
  const timer = setInterval(() => {
    once().catch((err) => logger.debug({ err }, 'locks not shortened'));
  }, EVERY_MS).unref();
  return { close: () => clearInterval(timer), once };
}
