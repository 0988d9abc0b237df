/** Counter of requests per API key and time window in Redis, so that all API processes share one quota. */
import type { Redis } from 'ioredis';
import { KEYS } from '../stores/redis/keys.js';
import { defineScript, redisCall } from '../stores/redis/redis.js';

/** KEYS: counter. ARGV: seconds that it is kept. */
const COUNT = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return count`;

export type RateCounter = ReturnType<typeof createRateCounter>;

export function createRateCounter(redis: Redis) {
  const runCount = defineScript<number>(redis, 'sdCount', COUNT);
  return {
    /**
     * Counts one request.
     * @param window number of the window since the epoch
     * @returns the requests of the window so far, this one included
     * @throws ScenedeltaError 'queue-unavailable'
     */
    count: (apiKeyId: string, window: number, windowSeconds: number): Promise<number> =>
      redisCall('Counting requests', () => runCount([KEYS.rate(apiKeyId, window)], windowSeconds * 2)),
  };
}
