/** Webhook deliveries in Redis: a hash each, with one field an attempt, so that an attempt recorded twice is one. */
import type { Redis } from 'ioredis';
import { KEYS } from '../jobs/payloads.js';
import type { Delivery, DeliveryAttempt, DeliveryStore } from './deliveries.js';
import { redisCall } from './redis.js';

export interface RedisDeliveryStore extends DeliveryStore {
  /** Ids of deliveries that should have moved on before `before` (epoch ms), oldest first; some may not be created yet. */
  overdue(before: number, limit: number): Promise<string[]>;
  /** Gives up an id of `overdue` that has nothing to deliver any more. */
  forget(id: string): Promise<void>;
}

/** KEYS: delivery, open deliveries, deliveries of the comparison or change. ARGV: id, delivery, state, next attempt, due (ms), now (ms), retention (ms). */
const CREATE = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'delivery', ARGV[2], 'state', ARGV[3], 'next', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[7])
redis.call('ZADD', KEYS[2], ARGV[5], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[6], ARGV[1])
redis.call('PEXPIRE', KEYS[3], ARGV[7])
return 1`;

/**
 * KEYS: delivery, open deliveries, news of the camera and the camera (where there are any). ARGV: id, attempt's field, attempt, state, next attempt
 * ('' = none), its time in ms, news. A final state stays, and is told once, unless the camera was erased; the attempt is logged all the same.
 */
const RECORD = `
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
if state ~= 'pending' then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[4], 'next', ARGV[5])
if ARGV[4] == 'pending' then
  redis.call('ZADD', KEYS[2], ARGV[6], ARGV[1])
else
  redis.call('ZREM', KEYS[2], ARGV[1])
  if KEYS[3] and redis.call('HEXISTS', KEYS[4], 'camera') == 1 then redis.call('RPUSH', KEYS[3], ARGV[7]) end
end
return 1`;

interface Scripts {
  sdDeliver(keys: number, ...args: (string | number)[]): Promise<number>;
  sdRecord(keys: number, ...args: (string | number)[]): Promise<number>;
}

/** @param retentionMs how long a delivery is kept after its creation. */
export function createRedisDeliveryStore(
  redis: Redis,
  options: { retentionMs: number; now?: () => number },
): RedisDeliveryStore {
  const now = options.now ?? Date.now;
  redis.defineCommand('sdDeliver', { lua: CREATE });
  redis.defineCommand('sdRecord', { lua: RECORD });
  const scripts = redis as unknown as Scripts;

  const get = async (id: string): Promise<Delivery | undefined> =>
    deliveryOf(await redis.hgetall(KEYS.delivery(id)));
  const listOf = (id: string) =>
    redisCall('listing deliveries', async () => {
      const ids = await redis.zrange(KEYS.deliveriesOf(id), '0', '-1');
      const found = await Promise.all(ids.map(get));
      return found.filter((delivery) => delivery !== undefined);
    });

  return {
    /** Does nothing where the delivery exists already. */
    create: (delivery) =>
      redisCall('creating a delivery', async () => {
        const { attempts: _none, state, next_attempt_at, ...rest } = delivery;
        await scripts.sdDeliver(
          3,
          KEYS.delivery(delivery.id),
          KEYS.deliveriesOpen,
          KEYS.deliveriesOf(delivery.change ?? delivery.comparison),
          delivery.id,
          JSON.stringify(rest),
          state,
          next_attempt_at ?? '',
          next_attempt_at === null ? now() : Date.parse(next_attempt_at),
          now(),
          options.retentionMs,
        );
      }),
    get: (id) => redisCall('reading a delivery', () => get(id)),
    record: (id, attempt, state, nextAttemptAt, tell) =>
      redisCall('recording a delivery attempt', async () => {
        const keys = [
          KEYS.delivery(id),
          KEYS.deliveriesOpen,
          ...(tell === undefined ? [] : [KEYS.news(tell.camera), KEYS.camera(tell.camera)]),
        ];
        await scripts.sdRecord(
          keys.length,
          ...keys,
          id,
          `attempt:${attempt.attempt}`,
          JSON.stringify(attempt),
          state,
          nextAttemptAt ?? '',
          nextAttemptAt === null ? now() : Date.parse(nextAttemptAt),
          tell === undefined ? '' : JSON.stringify(tell.news),
        );
      }),
    ofComparison: listOf,
    ofChange: listOf,
    overdue: (before, limit) =>
      redisCall('listing overdue deliveries', () =>
        redis.zrangebyscore(KEYS.deliveriesOpen, '-inf', `(${before}`, 'LIMIT', 0, limit),
      ),
    forget: (id) =>
      redisCall('forgetting a delivery', async () => {
        await redis.zrem(KEYS.deliveriesOpen, id);
      }),
  };
}

function deliveryOf(hash: Record<string, string>): Delivery | undefined {
  if (hash.delivery === undefined) return undefined;
  const attempts = Object.entries(hash)
    .filter(([field]) => field.startsWith('attempt:'))
    .map(([, json]) => JSON.parse(json) as DeliveryAttempt)
    .sort((a, b) => a.attempt - b.attempt);
  return {
    ...(JSON.parse(hash.delivery) as Pick<Delivery, 'id' | 'comparison' | 'change' | 'url'>),
    state: hash.state as Delivery['state'],
    next_attempt_at: hash.next === undefined || hash.next === '' ? null : hash.next,
    attempts,
  };
}
