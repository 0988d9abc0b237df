/**
 * Changes in Redis: a hash each, sorted sets as indexes. A turn writes the field `change` and the indexes of its status, a person the
 * fields `acknowledged` and `feedback` and the index of what is acknowledged: neither can overwrite what the other knows.
 */
import type { Redis } from 'ioredis';
import { type ChangeEvent, EVENTS_KEPT, KEYS } from '../jobs/payloads.js';
import {
  type CameraEvent,
  CHANGE_STATUSES,
  type Change,
  type ChangeStatus,
  type Feedback,
  type FoundChange,
} from '../schemas/change.js';
import type { ChangeStore, StoredAlert } from './changes.js';
import { pageOf } from './pages.js';
import { type RedisCommand, redisCall } from './redis.js';

/** Retention erases by age; the expiry behind it is for a Redis whose workers are gone. */
const EXPIRY_SLACK_MS = 3_600_000;
/** A camera without frames hears no news; what people and deliveries have to say to it must not grow for ever. */
const NEWS_KEPT = 1_000;
const ERASED_AT_ONCE = 500;

/** KEYS: change, news, acknowledged of all, of the camera, events. ARGV: id, time, confirmed (ms), news, event. */
const ACKNOWLEDGE = `
if redis.call('HEXISTS', KEYS[1], 'change') == 0 then return 0 end
if redis.call('HSETNX', KEYS[1], 'acknowledged', ARGV[2]) == 0 then return 1 end
redis.call('RPUSH', KEYS[2], ARGV[4])
redis.call('LTRIM', KEYS[2], -${NEWS_KEPT}, -1)
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
redis.call('ZADD', KEYS[4], ARGV[3], ARGV[1])
redis.call('XADD', KEYS[5], 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', ARGV[5])
return 1`;

/** KEYS: change, with feedback. ARGV: id, feedback, now (ms). */
const GIVE_FEEDBACK = `
if redis.call('HEXISTS', KEYS[1], 'change') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'feedback', ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1`;

interface Scripts {
  sdAcknowledge(...args: (string | number)[]): Promise<number>;
  sdFeedback(...args: (string | number)[]): Promise<number>;
}

/** @param retentionMs how long a change is kept after it was last written, and an alert after it was made. */
export function createRedisChangeStore(
  redis: Redis,
  options: { retentionMs: number; now?: () => number },
): ChangeStore {
  const now = options.now ?? Date.now;
  const lifetime = options.retentionMs + EXPIRY_SLACK_MS;
  redis.defineCommand('sdAcknowledge', { lua: ACKNOWLEDGE, numberOfKeys: 5 });
  redis.defineCommand('sdFeedback', { lua: GIVE_FEEDBACK, numberOfKeys: 2 });
  const scripts = redis as unknown as Scripts;

  const read = async (ids: readonly string[]): Promise<(Change | undefined)[]> => {
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.hmget(KEYS.change(id), 'change', 'acknowledged', 'feedback');
    return ((await pipeline.exec()) ?? []).map(([error, reply]) => {
      if (error !== null) throw error;
      return changeOf(reply as (string | null)[]);
    });
  };
  const get = async (id: string) => (await read([id]))[0];

  const erase = async (id: string): Promise<boolean> => {
    const [change, alerts] = await Promise.all([get(id), redis.zrange(KEYS.alertsOf(id), '0', '-1')]);
    const erasing = redis
      .multi()
      .del(KEYS.change(id))
      .del(KEYS.deliveriesOf(id), KEYS.alertsOf(id))
      .zrem(KEYS.changesByWriting, id)
      .zrem(KEYS.changesByFeedback, id);
    for (const alert of alerts) {
      const delivery = alertDeliveryId(alert);
      erasing.del(KEYS.alert(alert), KEYS.delivery(delivery)).zrem(KEYS.deliveriesOpen, delivery);
    }
    if (change !== undefined) {
      for (const index of allIndexes(change.camera)) erasing.zrem(index, id);
    }
    const [first] = (await erasing.exec()) ?? [];
    return first?.[1] === 1;
  };

  return {
    writes: ({ camera, changes, alerts, newsTaken }) => [
      ...changes.flatMap(({ change, event }) => [
        ...changeWrites(change, now(), lifetime),
        ...(event === null ? [] : [eventWrite(change, event)]),
      ]),
      ...alerts.flatMap((alert) => alertWrites(alert, now(), lifetime)),
      ...(newsTaken === 0 ? [] : [['LTRIM', KEYS.news(camera), newsTaken, -1] as const]),
    ],

    get: (id) => redisCall('reading a change', () => get(id)),
    list: (query) =>
      redisCall('listing changes', () =>
        pageOf(redis, indexOf(query), query, async (ids) => {
          const found = await read(ids);
          // the index of a turn's status still holds what a person has acknowledged since
          return found.map((change) =>
            query.status === undefined || change?.status === query.status ? change : undefined,
          );
        }),
      ),

    acknowledge: (id) =>
      redisCall('acknowledging a change', async () => {
        const change = await get(id);
        if (change === undefined) return undefined;
        const at = new Date(now()).toISOString();
        await scripts.sdAcknowledge(
          KEYS.change(id),
          KEYS.news(change.camera),
          KEYS.changesByStatus('acknowledged'),
          KEYS.changesByStatusAndCamera('acknowledged', change.camera),
          KEYS.events,
          id,
          at,
          Date.parse(change.confirmed_at),
          JSON.stringify({ type: 'change.acknowledged', changeId: id } satisfies CameraEvent),
          JSON.stringify(eventOf(change, 'change.acknowledged', at)),
        );
        return get(id);
      }),
    giveFeedback: (id, feedback) =>
      redisCall('saving feedback', async () => {
        const given: Feedback = { ...feedback, at: new Date(now()).toISOString() };
        const json = JSON.stringify(given);
        await scripts.sdFeedback(KEYS.change(id), KEYS.changesByFeedback, id, json, now());
        return get(id);
      }),
    withFeedback: (after, limit) =>
      redisCall('listing feedback', async () => {
        const ids = await redis.zrange(KEYS.changesByFeedback, String(after), String(after + limit - 1));
        const items = (await read(ids)).filter((change) => change !== undefined);
        return { items, last: ids.length < limit };
      }),

    news: (camera) =>
      redisCall("reading a camera's news", async () => {
        const told = await redis.lrange(KEYS.news(camera), 0, -1);
        return told.map((json) => JSON.parse(json) as CameraEvent);
      }),
    alert: (id) =>
      redisCall('reading an alert', async () => {
        const json = await redis.get(KEYS.alert(id));
        return json === null ? undefined : (JSON.parse(json) as StoredAlert);
      }),
    alertsAfter: (change, at) =>
      redisCall("listing a change's alerts", () =>
        redis.zrangebyscore(KEYS.alertsOf(change), `(${at}`, '+inf'),
      ),

    olderThan: (before, limit) =>
      redisCall('listing old changes', () =>
        redis.zrangebyscore(KEYS.changesByWriting, '-inf', `(${before}`, 'LIMIT', 0, limit),
      ),
    eraseOlderOf: (camera, before) =>
      redisCall("erasing a camera's old changes", async () => {
        let erased = 0;
        // Confirmed by the camera's clock, written by ours: the one does not tell the other, so all of the camera are looked at.
        for (let from = 0; ; ) {
          const ids = await redis.zrange(
            KEYS.changesByCamera(camera),
            String(from),
            String(from + ERASED_AT_ONCE - 1),
          );
          const written = ids.length === 0 ? [] : await redis.zmscore(KEYS.changesByWriting, ...ids);
          const old = ids.filter((_id, i) => written[i] != null && Number(written[i]) < before);
          for (const id of old) if (await erase(id)) erased++;
          if (old.length > 0) await redis.zrem(KEYS.changesByCamera(camera), ...old);
          if (ids.length < ERASED_AT_ONCE) return erased;
          from += ids.length - old.length;
        }
      }),
    erase: (id) => redisCall('erasing a change', () => erase(id)),
    eraseOf: (camera) =>
      redisCall("erasing a camera's changes", async () => {
        let erased = 0;
        for (;;) {
          const ids = await redis.zrange(KEYS.changesByCamera(camera), '0', String(ERASED_AT_ONCE - 1));
          for (const id of ids) if (await erase(id)) erased++;
          // an id whose hash has expired tells no camera, so it is not in `allIndexes` of one
          if (ids.length > 0) await redis.zrem(KEYS.changesByCamera(camera), ...ids);
          if (ids.length < ERASED_AT_ONCE) break;
        }
        await redis.del(KEYS.news(camera));
        return erased;
      }),
  };
}

function changeWrites(change: FoundChange, now: number, lifetime: number): RedisCommand[] {
  const { id, camera, status } = change;
  const at = Date.parse(change.confirmed_at);
  const current = statusIndexes(status, camera);
  const left = turnStatuses(camera).filter((index) => !current.includes(index));
  return [
    ['HSET', KEYS.change(id), 'change', JSON.stringify(change)],
    ['PEXPIRE', KEYS.change(id), lifetime],
    ['ZADD', KEYS.changesByWriting, now, id],
    ...left.map((index) => ['ZREM', index, id] as const),
    ...[KEYS.changesByTime, KEYS.changesByCamera(camera), ...current].map(
      (index) => ['ZADD', index, at, id] as const,
    ),
  ];
}

function alertWrites(alert: StoredAlert, now: number, lifetime: number): RedisCommand[] {
  const { id, change, at } = alert.intent;
  return [
    ['SET', KEYS.alert(id), JSON.stringify(alert), 'PX', lifetime],
    ['ZADD', KEYS.alertsOf(change.id), at, id],
    ['PEXPIRE', KEYS.alertsOf(change.id), lifetime],
    // open from now on: a crash before the delivery is queued cannot lose it
    ['ZADD', KEYS.deliveriesOpen, now, alertDeliveryId(id)],
  ];
}

/** One delivery an alert: its id follows from the alert's, so that a turn that was announced twice cannot make a second one. */
export const alertDeliveryId = (alertId: string): string => alertId.replace(/^alr_/, 'dlv_');
export const alertIdOf = (deliveryId: string): string => deliveryId.replace(/^dlv_/, 'alr_');

const eventWrite = (change: FoundChange, type: ChangeEvent['type']): RedisCommand => {
  const at = type === 'change.reverted' ? (change.reverted_at ?? change.last_seen) : change.last_seen;
  const event = JSON.stringify(eventOf(change, type, at));
  return ['XADD', KEYS.events, 'MAXLEN', '~', EVENTS_KEPT, '*', 'event', event];
};
const eventOf = (change: FoundChange, type: ChangeEvent['type'], at: string): ChangeEvent => ({
  type,
  changeId: change.id,
  camera: change.camera,
  zone: change.zone,
  kind: change.kind,
  severity: change.severity,
  at,
});

/** What a turn says of a change; a person says that it is acknowledged. */
const turnStatuses = (camera: string): string[] =>
  CHANGE_STATUSES.filter((status) => status !== 'acknowledged').flatMap((status) =>
    statusIndexes(status, camera),
  );
const statusIndexes = (status: ChangeStatus, camera: string): string[] => [
  KEYS.changesByStatus(status),
  KEYS.changesByStatusAndCamera(status, camera),
];
const allIndexes = (camera: string): string[] => [
  KEYS.changesByTime,
  KEYS.changesByCamera(camera),
  ...CHANGE_STATUSES.flatMap((status) => statusIndexes(status, camera)),
];

function indexOf({ camera, status }: { camera?: string; status?: ChangeStatus }): string {
  if (status === undefined) return camera === undefined ? KEYS.changesByTime : KEYS.changesByCamera(camera);
  return camera === undefined ? KEYS.changesByStatus(status) : KEYS.changesByStatusAndCamera(status, camera);
}

function changeOf([json, acknowledged, feedback]: (string | null)[]): Change | undefined {
  if (json == null) return undefined;
  const found = JSON.parse(json) as FoundChange;
  return {
    ...found,
    status: acknowledged == null ? found.status : 'acknowledged',
    acknowledged_at: acknowledged ?? null,
    feedback: feedback == null ? null : (JSON.parse(feedback) as Feedback),
  };
}
