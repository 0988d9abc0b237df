/**
 * The log of webhook deliveries: one Redis hash per delivery with a field per attempt, so that recording an attempt
 * twice is harmless.
 */
import type { Redis } from 'ioredis';
import { type Static, Type } from 'typebox';
import type { CameraEvent } from '../schemas/change.js';
import { KEYS } from './keys.js';
import { defineScript, redisCall } from './redis.js';

const DeliveryAttemptSchema = Type.Object({
  attempt: Type.Integer({ minimum: 1 }),
  at: Type.String({ format: 'date-time' }),
  status: Type.Union([Type.Integer(), Type.Null()], {
    description: 'HTTP status of the receiver; null if there was no answer.',
  }),
  error: Type.Union([Type.String(), Type.Null()], {
    description: "Reason of the failure, in the service's own words (never the receiver's body).",
  }),
  duration_ms: Type.Number(),
});

export const DeliverySchema = Type.Object(
  {
    id: Type.String({
      pattern: '^dlv_[0-9a-z]{26}$',
      description: 'Also the webhook-id, the same at every attempt.',
    }),
    comparison: Type.String({ description: 'The comparison that is delivered, or that caused the alert.' }),
    change: Type.Optional(Type.String({ description: 'The change that the alert reports.' })),
    url: Type.String({ description: 'Without query and credentials.' }),
    state: Type.Unsafe<'pending' | 'delivered' | 'failed'>(Type.String({ enum: ['pending', 'delivered', 'failed'] })),
    next_attempt_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    attempts: Type.Array(DeliveryAttemptSchema),
  },
  { $id: 'Delivery' },
);
export type Delivery = Static<typeof DeliverySchema>;
export type DeliveryAttempt = Static<typeof DeliveryAttemptSchema>;
export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

/**
 * KEYS: delivery, open deliveries, deliveries of the comparison or change.
 * ARGV: id, delivery, state, next attempt, due (ms), now (ms), retention (ms).
 */
const CREATE = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'delivery', ARGV[2], 'state', ARGV[3], 'next', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[7])
redis.call('ZADD', KEYS[2], ARGV[5], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[6], ARGV[1])
redis.call('PEXPIRE', KEYS[3], ARGV[7])
return 1`;

/**
 * KEYS: delivery, open deliveries; if there is a camera event: the camera's events and the camera.
 * ARGV: id, attempt's field, attempt, state, next attempt ('' = none), its time in ms, camera event.
 * A final state never changes; a later attempt is logged without effect. The camera event is queued once, unless the
 * camera was erased.
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

/** @param options.retentionMs how long a delivery is kept, from its creation. */
export function createDeliveryStore(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const now = options.now ?? Date.now;
  const runCreate = defineScript(redis, 'sdDeliver', CREATE);
  const runRecord = defineScript(redis, 'sdRecord', RECORD);
  const dueAt = (next: string | null) => (next === null ? now() : Date.parse(next));

  const get = async (id: string): Promise<Delivery | undefined> => deliveryOf(await redis.hgetall(KEYS.delivery(id)));
  const listOf = (id: string): Promise<Delivery[]> =>
    redisCall('listing deliveries', async () => {
      const ids = await redis.zrange(KEYS.deliveriesOf(id), '0', '-1');
      const found = await Promise.all(ids.map(get));
      return found.filter((delivery) => delivery !== undefined);
    });

  return {
    /** Does nothing if the delivery exists already. */
    create: (delivery: Delivery): Promise<void> =>
      redisCall('creating a delivery', async () => {
        const { attempts: _none, state, next_attempt_at, ...rest } = delivery;
        const { change, comparison } = delivery;
        await runCreate(
          [KEYS.delivery(delivery.id), KEYS.deliveriesOpen, KEYS.deliveriesOf(change ?? comparison)],
          delivery.id,
          JSON.stringify(rest),
          state,
          next_attempt_at ?? '',
          dueAt(next_attempt_at),
          now(),
          options.retentionMs,
        );
      }),
    get: (id: string) => redisCall('reading a delivery', () => get(id)),
    /** @param cameraEvent queued for the camera in the same step, if this attempt ends the delivery. */
    record: (
      id: string,
      attempt: DeliveryAttempt,
      state: Delivery['state'],
      nextAttemptAt: string | null,
      cameraEvent?: { camera: string; event: CameraEvent },
    ): Promise<void> =>
      redisCall('recording a delivery attempt', async () => {
        const keys = [
          KEYS.delivery(id),
          KEYS.deliveriesOpen,
          ...(cameraEvent === undefined
            ? []
            : [KEYS.cameraEvents(cameraEvent.camera), KEYS.camera(cameraEvent.camera)]),
        ];
        await runRecord(
          keys,
          id,
          `attempt:${attempt.attempt}`,
          JSON.stringify(attempt),
          state,
          nextAttemptAt ?? '',
          dueAt(nextAttemptAt),
          cameraEvent === undefined ? '' : JSON.stringify(cameraEvent.event),
        );
      }),
    /** @returns the deliveries of the comparison itself. Alerts belong to their change. */
    ofComparison: listOf,
    ofChange: listOf,
    /**
     * @returns ids of deliveries that were due before `before` (epoch ms), oldest first; some may not be created yet.
     */
    overdue: (before: number, limit: number): Promise<string[]> =>
      redisCall('listing overdue deliveries', () =>
        redis.zrangebyscore(KEYS.deliveriesOpen, '-inf', `(${before}`, 'LIMIT', 0, limit),
      ),
    /** Removes an id from `overdue`, because nothing is left to deliver. */
    forget: (id: string): Promise<void> =>
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
