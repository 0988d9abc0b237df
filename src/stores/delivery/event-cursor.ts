/** Reader of the event stream from a position that the caller keeps, with one blocking connection of its own. */
import type { Redis } from 'ioredis';
import { KEYS } from '../redis/keys.js';
import { redisCall } from '../redis/redis.js';
import { type StreamedEvent, streamed } from './events.js';

export type EventCursor = ReturnType<typeof createEventCursor>;

/** Longest wait in Redis, ms; a connection that died unnoticed is given up after twice that. */
const BLOCK_MS = 2_000;

/** All methods throw ScenedeltaError 'queue-unavailable' if Redis is away. */
export function createEventCursor(redis: Redis) {
  const blocking = redis.duplicate({
    enableOfflineQueue: true,
    maxRetriesPerRequest: 1,
    commandTimeout: undefined,
    blockingTimeout: BLOCK_MS,
    blockingTimeoutGrace: BLOCK_MS,
  });
  // connectRedis logs the outages of `redis`, which is on the same server.
  blocking.on('error', () => {});
  const idAt = async (order: 'first' | 'last'): Promise<string | null> => {
    const entries =
      order === 'first'
        ? await redis.xrange(KEYS.events, '-', '+', 'COUNT', 1)
        : await redis.xrevrange(KEYS.events, '+', '-', 'COUNT', 1);
    return entries[0]?.[0] ?? null;
  };
  return {
    /** @returns the id of the latest event, '0-0' if there was none */
    last: (): Promise<string> => redisCall('reading events', async () => (await idAt('last')) ?? '0-0'),
    /** @returns the id of the earliest event that the stream still has; null: it is empty */
    first: (): Promise<string | null> => redisCall('reading events', () => idAt('first')),
    /**
     * Waits for events if there are none.
     * @param after id of an event, exclusive
     * @returns at most `count` events, oldest first; none after two seconds
     */
    next: (after: string, count: number): Promise<StreamedEvent[]> =>
      redisCall('reading events', async () => {
        const reply = await blocking.xread('COUNT', count, 'BLOCK', BLOCK_MS, 'STREAMS', KEYS.events, after);
        return (reply?.[0]?.[1] ?? []).map(streamed);
      }),
    /** Ends a wait at once; it then throws. */
    close: (): void => blocking.disconnect(),
  };
}
