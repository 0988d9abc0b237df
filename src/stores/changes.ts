/**
 * Changes, feedback on them, and alerts: one Redis hash per change, sorted sets as indexes. A camera's turn writes the field `change`
 * and the indexes of its status; the API writes the fields `acknowledged` and `feedback` and their indexes. Neither overwrites the other.
 */
import type { Redis } from 'ioredis';
import { deliveryIdOf } from '../ids.js';
import {
  type AlertIntent,
  type CameraEvent,
  CHANGE_STATUSES,
  type Change,
  type ChangeStatus,
  type ChangeUpdate,
  type Feedback,
  type FoundChange,
} from '../schemas/change.js';
import type { ChangeEvent } from '../schemas/stream-event.js';
import { EVENTS_KEPT, KEYS } from './keys.js';
import { type PageQuery, pageOf } from './pages.js';
import { type RedisCommand, redisCall, repliesOf } from './redis.js';

/** An alert with all that its delivery needs. */
export interface StoredAlert {
  readonly intent: AlertIntent;
  /** of the comparison that caused the alert */
  readonly comparisonId: string;
  /** address from the camera's settings, with query and credentials */
  readonly url: string;
  readonly traceId: string;
  readonly apiKeyId: string;
}

/** Changes and alerts of one turn of a camera. */
export interface TurnChanges {
  readonly camera: string;
  readonly changes: readonly ChangeUpdate[];
  readonly alerts: readonly StoredAlert[];
  /** number of camera events that the turn applied, and that are removed with its commit */
  readonly eventsApplied: number;
}

/** `since` and `until` refer to the time of the confirmation, by the camera's clock. */
export interface ChangeQuery extends PageQuery {
  readonly camera?: string;
  readonly status?: ChangeStatus;
}

export type ChangeStore = ReturnType<typeof createChangeStore>;

/** Retention erases by age. The expiry is later, for a Redis without running workers. */
const EXPIRY_SLACK_MS = 3_600_000;
/** Bound of a camera's events, which are removed only by its next frame. */
const CAMERA_EVENTS_KEPT = 1_000;
const ERASED_AT_ONCE = 500;

/**
 * KEYS: change, camera events, acknowledged of all, acknowledged of the camera, event stream.
 * ARGV: id, time, confirmed (ms), camera event, stream event.
 */
const ACKNOWLEDGE = `
if redis.call('HEXISTS', KEYS[1], 'change') == 0 then return 0 end
if redis.call('HSETNX', KEYS[1], 'acknowledged', ARGV[2]) == 0 then return 1 end
redis.call('RPUSH', KEYS[2], ARGV[4])
redis.call('LTRIM', KEYS[2], -${CAMERA_EVENTS_KEPT}, -1)
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
export function createChangeStore(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const now = options.now ?? Date.now;
  redis.defineCommand('sdAcknowledge', { lua: ACKNOWLEDGE, numberOfKeys: 5 });
  redis.defineCommand('sdFeedback', { lua: GIVE_FEEDBACK, numberOfKeys: 2 });
  const scripts = redis as unknown as Scripts;

  const read = async (ids: readonly string[]): Promise<(Change | undefined)[]> => {
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.hmget(KEYS.change(id), 'change', 'acknowledged', 'feedback');
    return repliesOf<(string | null)[]>(await pipeline.exec()).map(changeOf);
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
      const delivery = deliveryIdOf(alert);
      erasing.del(KEYS.alert(alert), KEYS.delivery(delivery)).zrem(KEYS.deliveriesOpen, delivery);
    }
    if (change !== undefined) {
      for (const index of allIndexes(change.camera)) erasing.zrem(index, id);
    }
    const [first] = (await erasing.exec()) ?? [];
    return first?.[1] === 1;
  };

  return {
    get: (id: string) => redisCall('reading a change', () => get(id)),
    /** The latest confirmed first. */
    list: (query: ChangeQuery) =>
      redisCall('listing changes', () =>
        pageOf(redis, indexOf(query), query, async (ids) => {
          const found = await read(ids);
          // An acknowledged change stays in the index of the status that its last turn wrote.
          return found.map((change) =>
            query.status === undefined || change?.status === query.status ? change : undefined,
          );
        }),
      ),

    /** The first acknowledgement counts. @returns the change afterwards, undefined if there is none. */
    acknowledge: (id: string): Promise<Change | undefined> =>
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
    /** The last feedback counts. @returns the change afterwards, undefined if there is none. */
    giveFeedback: (id: string, feedback: Omit<Feedback, 'at'>): Promise<Change | undefined> =>
      redisCall('saving feedback', async () => {
        const given: Feedback = { ...feedback, at: new Date(now()).toISOString() };
        const json = JSON.stringify(given);
        await scripts.sdFeedback(KEYS.change(id), KEYS.changesByFeedback, id, json, now());
        return get(id);
      }),
    /** Changes with feedback, the earliest feedback first. @param after how many to skip */
    withFeedback: (after: number, limit: number): Promise<{ items: Change[]; last: boolean }> =>
      redisCall('listing feedback', async () => {
        const ids = await redis.zrange(KEYS.changesByFeedback, String(after), String(after + limit - 1));
        const items = (await read(ids)).filter((change) => change !== undefined);
        return { items, last: ids.length < limit };
      }),

    /** Events of the camera's changes and alerts since its last turn, oldest first. */
    cameraEvents: (camera: string): Promise<CameraEvent[]> =>
      redisCall("reading a camera's events", async () => {
        const events = await redis.lrange(KEYS.news(camera), 0, -1);
        return events.map((json) => JSON.parse(json) as CameraEvent);
      }),
    alert: (id: string): Promise<StoredAlert | undefined> =>
      redisCall('reading an alert', async () => {
        const json = await redis.get(KEYS.alert(id));
        return json === null ? undefined : (JSON.parse(json) as StoredAlert);
      }),
    /** @returns ids of the change's alerts from later frames. @param at epoch ms by the camera's clock */
    alertsAfter: (change: string, at: number): Promise<string[]> =>
      redisCall("listing a change's alerts", () =>
        redis.zrangebyscore(KEYS.alertsOf(change), `(${at}`, '+inf'),
      ),

    /** @returns ids of changes last written before `before` (epoch ms), oldest first. */
    olderThan: (before: number, limit: number): Promise<string[]> =>
      redisCall('listing old changes', () =>
        redis.zrangebyscore(KEYS.changesByWriting, '-inf', `(${before}`, 'LIMIT', 0, limit),
      ),
    /** Erases the camera's changes last written before `before` (epoch ms). @returns how many. */
    eraseOlderOf: (camera: string, before: number): Promise<number> =>
      redisCall("erasing a camera's old changes", async () => {
        let erased = 0;
        // The index is ordered by the camera's clock and retention by ours, so the loop reads all changes of the camera.
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
    /** Erases the change with its alerts and their deliveries, pending ones included. */
    erase: (id: string) => redisCall('erasing a change', () => erase(id)),
    /** Erases everything of a deleted camera. @returns how many changes. */
    eraseOf: (camera: string): Promise<number> =>
      redisCall("erasing a camera's changes", async () => {
        let erased = 0;
        for (;;) {
          const ids = await redis.zrange(KEYS.changesByCamera(camera), '0', String(ERASED_AT_ONCE - 1));
          for (const id of ids) if (await erase(id)) erased++;
          // The camera of an expired hash is unknown, so `erase` leaves its id in this index.
          if (ids.length > 0) await redis.zrem(KEYS.changesByCamera(camera), ...ids);
          if (ids.length < ERASED_AT_ONCE) break;
        }
        await redis.del(KEYS.news(camera));
        return erased;
      }),
  };
}

/**
 * The writes of a camera's turn, as commands of a larger atomic step (stores/turns.ts). Running them twice changes nothing more.
 * @param retentionMs how long a change is kept after its last write, and an alert after it was made.
 */
export function changeWrites(turn: TurnChanges, now: number, retentionMs: number): RedisCommand[] {
  const lifetime = retentionMs + EXPIRY_SLACK_MS;
  return [
    ...turn.changes.flatMap(({ change, event }) => [
      ...writesOfChange(change, now, lifetime),
      ...(event === null ? [] : [eventWrite(change, event)]),
    ]),
    ...turn.alerts.flatMap((alert) => writesOfAlert(alert, now, lifetime)),
    ...(turn.eventsApplied === 0 ? [] : [['LTRIM', KEYS.news(turn.camera), turn.eventsApplied, -1] as const]),
  ];
}

function writesOfChange(change: FoundChange, now: number, lifetime: number): RedisCommand[] {
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

function writesOfAlert(alert: StoredAlert, now: number, lifetime: number): RedisCommand[] {
  const { id, change, at } = alert.intent;
  return [
    ['SET', KEYS.alert(id), JSON.stringify(alert), 'PX', lifetime],
    ['ZADD', KEYS.alertsOf(change.id), at, id],
    ['PEXPIRE', KEYS.alertsOf(change.id), lifetime],
    // Open from now on, so that recovery finds the delivery if a crash prevents its job.
    ['ZADD', KEYS.deliveriesOpen, now, deliveryIdOf(id)],
  ];
}

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

/** Indexes of the statuses that a turn writes. `acknowledged` is written by the API. */
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
