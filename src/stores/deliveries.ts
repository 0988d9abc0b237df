/**
 * The log of deliveries: one Redis hash per delivery with a field per attempt, so that recording an attempt twice is
 * harmless.
 */

import type { Redis } from 'ioredis';
import { systemClock } from '../clock.js';
import { signalSubject } from '../schemas/camera-signal.js';
import type { CameraEvent } from '../schemas/change.js';
import type { Delivery, DeliveryAttempt } from '../schemas/delivery.js';
import { CREATE_DELIVERIES, RECORD_ATTEMPT, RESEND_DELIVERY } from './delivery-scripts.js';
import { KEYS } from './keys.js';
import { type PageQuery, pageOf } from './pages.js';
import { defineScript, redisCall } from './redis.js';

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
        const indexes = deliveries.map(({ id, comparison, change, visit, camera, endpoint }) => ({
          id,
          key: KEYS.delivery(id),
          lists: [change ?? visit ?? (camera && signalSubject(camera)) ?? comparison, endpoint]
            .filter((one) => one !== undefined)
            .map(KEYS.deliveriesOf),
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
    /** @returns the deliveries of the comparison itself. Alerts belong to their change. */
    ofComparison: listOf,
    ofChange: listOf,
    /** The latest created first. */
    ofEndpoint: (endpoint: string, query: PageQuery) =>
      redisCall('listing deliveries', () =>
        pageOf(redis, KEYS.deliveriesOf(endpoint), query, (ids) => Promise.all(ids.map(get))),
      ),
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
    ...(JSON.parse(hash.delivery) as NewDelivery),
    state: hash.state as Delivery['state'],
    next_attempt_at: hash.next === undefined || hash.next === '' ? null : hash.next,
    ...(hash.resent === undefined ? {} : { resent_after: Number(hash.resent) }),
    attempts,
  };
}
