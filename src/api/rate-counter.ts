/** Counter of requests per API key and time window in Redis, so that all API processes share one quota. */
import type { Redis } from 'ioredis';
import { KEYS } from '../stores/keys.js';
import { redisCall } from '../stores/redis.js';

export interface RateCounter {
  /**
   * Counts one request.
   * @param window number of the window since the epoch
   * @returns the requests of the window so far, this one included
   * @throws ScenedeltaError 'queue-unavailable'
   */
  count(apiKeyId: string, window: number, windowSeconds: number): Promise<number>;
}

export function createRateCounter(redis: Redis): RateCounter {
  return {
    count: (apiKeyId, window, windowSeconds) =>
      redisCall('Counting requests', async () => {
        const key = KEYS.rate(apiKeyId, window);
        const replies = await redis
          .multi()
          .incr(key)
          .expire(key, windowSeconds * 2)
          .exec();
        const [err, count] = replies?.[0] ?? [new Error('MULTI was discarded')];
        if (err) throw err;
        return Number(count);
      }),
  };
}
