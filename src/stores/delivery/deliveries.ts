/**
 * The log of deliveries: one Redis hash per delivery with a field per attempt, so that recording an attempt twice is
 * harmless.
 */
import type { Redis } from 'ioredis';
import { systemClock } from '../../base/clock.js';
import type { CameraEvent } from '../../schemas/change.js';
import type { Delivery, DeliveryAttempt } from '../../schemas/delivery.js';
import { KEYS } from '../redis/keys.js';
import { earlierThan, type PageQuery, pageOf } from '../redis/pages.js';
import { defineScript, redisCall } from '../redis/redis.js';

/**
 * KEYS: open deliveries, deliveries of the alert, if there is one.
 * ARGV: JSON of the deliveries (id, key, lists, delivery), now (ms), retention (ms).
 * The deliveries of an alert are counted before the first of them can end.
 */
const CREATE_DELIVERIES = `
for _, one in ipairs(cjson.decode(ARGV[1])) do
  if redis.call('EXISTS', one.key) == 0 then
    redis.call('HSET', one.key, 'delivery', one.delivery, 'state', 'pending', 'next', '')
    redis.call('PEXPIRE', one.key, ARGV[3])
    redis.call('ZADD', KEYS[1], ARGV[2], one.id)
    for _, list in ipairs(one.lists) do
      redis.call('ZREMRANGEBYSCORE', list, '-inf', '(' .. (ARGV[2] - ARGV[3]))
      redis.call('ZADD', list, ARGV[2], one.id)
      redis.call('PEXPIRE', list, ARGV[3])
    end
    if KEYS[2] then
      redis.call('SADD', KEYS[2], one.id)
      redis.call('PEXPIRE', KEYS[2], ARGV[3])
    end
  end
end
return 1`;

/**
 * KEYS: delivery, open deliveries; with a camera event also the camera's events, the camera, deliveries of the alert.
 * ARGV: id, attempt's field, attempt, state, next attempt ('' = none), its time in ms, camera event, retention (ms).
 * A final state never changes; a later attempt is logged without effect. The camera event is queued once per alert,
 * unless the camera was erased: with the first delivery that arrives, or with the last one that fails. A delivery that
 * was sent again on request has no camera event.
 */
const RECORD_ATTEMPT = `
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
if state ~= 'pending' then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[4], 'next', ARGV[5])
if ARGV[4] == 'pending' then
  redis.call('ZADD', KEYS[2], ARGV[6], ARGV[1])
  return 1
end
redis.call('ZREM', KEYS[2], ARGV[1])
if not KEYS[3] or redis.call('HEXISTS', KEYS[1], 'resent') == 1 then return 1 end
redis.call('SREM', KEYS[5], ARGV[1])
local arrived = redis.call('SISMEMBER', KEYS[5], 'arrived') == 1
if ARGV[4] == 'delivered' then
  redis.call('SADD', KEYS[5], 'arrived')
  redis.call('PEXPIRE', KEYS[5], ARGV[8])
elseif redis.call('SCARD', KEYS[5]) > 0 then
  return 1
end
if not arrived and redis.call('HEXISTS', KEYS[4], 'camera') == 1 then redis.call('RPUSH', KEYS[3], ARGV[7]) end
return 1`;

/** KEYS: delivery, open deliveries. ARGV: id, number of attempts so far, now (ms). */
const RESEND_DELIVERY = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'state', 'pending', 'next', '', 'resent', ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1`;

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

/** A delivery before its first attempt. */
export type NewDelivery = Omit<Delivery, 'state' | 'next_attempt_at' | 'attempts' | 'resent_after'>;

/** @param options.retentionMs how long a delivery is kept, from its creation. */
export function createDeliveryStore(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const now = options.now ?? systemClock;
  const runCreate = defineScript(redis, 'sdDeliver', CREATE_DELIVERIES);
  const runRecord = defineScript(redis, 'sdRecord', RECORD_ATTEMPT);
  const runResend = defineScript<number>(redis, 'sdResend', RESEND_DELIVERY);
  const dueAt = (next: string | null) => (next === null ? now() : Date.parse(next));

  const get = async (id: string): Promise<Delivery | undefined> => deliveryOf(await redis.hgetall(KEYS.delivery(id)));
  const listOf = (id: string): Promise<Delivery[]> =>
    redisCall('listing deliveries', async () => {
      const ids = await redis.zrange(KEYS.deliveriesOf(id), '0', '-1');
      const found = await Promise.all(ids.map(get));
      return found.filter((delivery) => delivery !== undefined);
    });

  return {
    /**
     * Creates deliveries in one step, due now. One that exists already stays unchanged.
     * @param alertId of the alert that all of them deliver; its place among the open deliveries is taken by theirs
     */
    create: (deliveries: readonly NewDelivery[], alertId?: string): Promise<void> =>
      redisCall('creating deliveries', async () => {
        const indexes = deliveries.map(({ id, subject, endpoint }) => ({
          id,
          key: KEYS.delivery(id),
          lists: [subject?.id, endpoint].filter((one) => one !== undefined).map(KEYS.deliveriesOf),
        }));
        const created = deliveries.map((delivery, i) => ({ ...indexes[i], delivery: JSON.stringify(delivery) }));
        await runCreate(
          [KEYS.deliveriesOpen, ...(alertId === undefined ? [] : [KEYS.deliveriesOfAlert(alertId)])],
          JSON.stringify(created),
          now(),
          options.retentionMs,
        );
      }),
    get: (id: string) => redisCall('reading a delivery', () => get(id)),
    /**
     * @param cameraEvent queued for the camera in the same step, if this attempt ends the delivery: at once if it has
     *   arrived, and after a failure if no other delivery of the alert has arrived or may still
     */
    record: (
      id: string,
      attempt: DeliveryAttempt,
      state: Delivery['state'],
      nextAttemptAt: string | null,
      cameraEvent?: { camera: string; event: Extract<CameraEvent, { alertId: string }> },
    ): Promise<void> =>
      redisCall('recording a delivery attempt', async () => {
        const keys = [KEYS.delivery(id), KEYS.deliveriesOpen];
        if (cameraEvent !== undefined) {
          const { camera, event } = cameraEvent;
          keys.push(KEYS.cameraEvents(camera), KEYS.camera(camera), KEYS.deliveriesOfAlert(event.alertId));
        }
        await runRecord(
          keys,
          id,
          `attempt:${attempt.attempt}`,
          JSON.stringify(attempt),
          state,
          nextAttemptAt ?? '',
          dueAt(nextAttemptAt),
          cameraEvent === undefined ? '' : JSON.stringify(cameraEvent.event),
          options.retentionMs,
        );
      }),
    /** Makes a delivery due again, with the whole schedule before it. @returns whether it exists. */
    resend: (id: string): Promise<boolean> =>
      redisCall('resending a delivery', async () => {
        const { attempts = [] } = (await get(id)) ?? {};
        return (await runResend([KEYS.delivery(id), KEYS.deliveriesOpen], id, attempts.length, now())) === 1;
      }),
    /** @param id of the comparison, change or visit that the deliveries are about */
    ofSubject: listOf,
    /** The latest created first. */
    ofEndpoint: (endpoint: string, query: PageQuery) =>
      redisCall('listing deliveries', () =>
        pageOf(redis, KEYS.deliveriesOf(endpoint), query, (ids) => Promise.all(ids.map(get))),
      ),
    /**
     * @returns ids of deliveries that were due before `before` (epoch ms), oldest first; some may not be created yet.
     */
    overdue: earlierThan(redis, 'listing overdue deliveries', KEYS.deliveriesOpen),
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
    ...(JSON.parse(hash.delivery) as NewDelivery),
    state: hash.state as Delivery['state'],
    next_attempt_at: hash.next === undefined || hash.next === '' ? null : hash.next,
    ...(hash.resent === undefined ? {} : { resent_after: Number(hash.resent) }),
    attempts,
  };
}
