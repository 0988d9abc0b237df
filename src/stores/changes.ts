/**
 * Changes, feedback on them, and alerts: one Redis hash per change, sorted sets as indexes. A camera's turn writes the
 * field `change` and the indexes of its status; the API writes the fields `acknowledged` and `feedback` and their
 * indexes. Neither overwrites the other.
 */

import type { Redis } from 'ioredis';
import { systemClock } from '../clock.js';
import { deliveryIdOf, derivedId } from '../ids.js';
import type { CameraEvent, Change, Feedback } from '../schemas/change.js';
import type { SearchVector } from '../schemas/search-vector.js';
import type { BaselineEvent } from '../sequence/state.js';
import { logEntry } from './change-log.js';
import { type ChangeQuery, fitsQuery, indexOf } from './change-query.js';
import { ACKNOWLEDGE, GIVE_FEEDBACK, WITHDRAW_ACKNOWLEDGEMENT, WITHDRAW_FEEDBACK } from './change-scripts.js';
import { decodeVector, VECTOR_FIELD } from './change-vectors.js';
import { allIndexes, EXPIRY_SLACK_MS, eventOf, type StoredAlert, writesOfAlert } from './change-writes.js';
import { eraseEvents } from './erase-events.js';
import { CAMERA_EVENTS_KEPT, KEYS } from './keys.js';
import { idPages, pageOf } from './pages.js';
import { defineScript, redisCall, repliesOf } from './redis.js';
import { CHANGE_FIELDS, changeOf, foundPart } from './stored-change.js';
import { seesCamera } from './visibility.js';

export type ChangeStore = ReturnType<typeof createChangeStore>;

const ERASED_AT_ONCE = 500;

export function createChangeStore(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const now = options.now ?? systemClock;
  const runAcknowledge = defineScript<number>(redis, 'sdAcknowledge', ACKNOWLEDGE);
  const runFeedback = defineScript(redis, 'sdFeedback', GIVE_FEEDBACK);
  const runUnacknowledge = defineScript(redis, 'sdUnacknowledge', WITHDRAW_ACKNOWLEDGEMENT);
  const runNoFeedback = defineScript(redis, 'sdNoFeedback', WITHDRAW_FEEDBACK);
  const acknowledgementKeys = ({ id, camera }: Change) => [
    KEYS.change(id),
    KEYS.cameraEvents(camera),
    KEYS.changesByStatus('acknowledged'),
    KEYS.changesByStatusAndCamera('acknowledged', camera),
    KEYS.events,
  ];

  const feedbackKeys = (id: string) => [KEYS.change(id), KEYS.changesByFeedback, KEYS.changeLog];

  const read = async (ids: readonly string[]): Promise<(Change | undefined)[]> => {
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.hmget(KEYS.change(id), ...CHANGE_FIELDS);
    return repliesOf<(string | null)[]>(await pipeline.exec()).map(changeOf);
  };
  const get = async (id: string) => (await read([id]))[0];

  const erase = async (id: string): Promise<boolean> => {
    const [change, alerts, deliveries] = await Promise.all([
      get(id),
      redis.zrange(KEYS.alertsOf(id), '0', '-1'),
      redis.zrange(KEYS.deliveriesOf(id), '0', '-1'),
    ]);
    const erasing = redis
      .multi()
      .del(KEYS.change(id))
      .del(KEYS.deliveriesOf(id), KEYS.alertsOf(id))
      .zrem(KEYS.changesByWriting, id)
      .zrem(KEYS.changesByFeedback, id)
      .zrem(KEYS.descriptionsOpen, id)
      .call(...logEntry(id));
    for (const alert of alerts) {
      erasing.del(KEYS.alert(alert), KEYS.deliveriesOfAlert(alert)).zrem(KEYS.alertsByTime, alert);
    }
    for (const delivery of new Set([...deliveries, ...alerts.map(deliveryIdOf)])) {
      erasing.del(KEYS.delivery(delivery)).zrem(KEYS.deliveriesOpen, delivery);
    }
    if (change !== undefined) {
      for (const index of allIndexes(change.camera)) erasing.zrem(index, id);
    }
    const [first] = (await erasing.exec()) ?? [];
    return first?.[1] === 1;
  };

  /** @param select chooses from each page of the camera's changes, in the order of their confirmation */
  const eraseSelected = async (camera: string, select: (ids: string[]) => Promise<string[]>) => {
    const index = KEYS.changesByCamera(camera);
    let erased = 0;
    for (let from = 0; ; ) {
      const ids = await redis.zrange(index, String(from), String(from + ERASED_AT_ONCE - 1));
      const selected = await select(ids);
      for (const id of selected) if (await erase(id)) erased++;
      // The camera of an expired hash is unknown to `erase`, which leaves its id in this index.
      if (selected.length > 0) await redis.zrem(index, ...selected);
      if (ids.length < ERASED_AT_ONCE) return erased;
      from += ids.length - selected.length;
    }
  };

  return {
    get: (id: string) => redisCall('reading a change', () => get(id)),
    /** @returns in the order of the ids; undefined for a change that does not exist */
    many: (ids: readonly string[]): Promise<(Change | undefined)[]> =>
      redisCall('reading changes', async () => (ids.length === 0 ? [] : read(ids))),
    /** @returns in the order of the ids; undefined for a change without one */
    vectors: (ids: readonly string[]): Promise<(SearchVector | undefined)[]> =>
      redisCall('reading search vectors', async () => {
        const pipeline = redis.pipeline();
        for (const id of ids) pipeline.hget(KEYS.change(id), VECTOR_FIELD);
        return ids.length === 0 ? [] : repliesOf<string | null>(await pipeline.exec()).map(decodeVector);
      }),
    /** The latest confirmed first. */
    list: (query: ChangeQuery) =>
      redisCall('listing changes', async () => {
        const { camera, visibility = 'everything' } = query;
        const none = visibility !== 'everything' && visibility.cameras.length === 0;
        if (none || (camera !== undefined && !seesCamera(visibility, camera))) {
          return { items: [], nextCursor: null };
        }
        return pageOf(redis, indexOf(query), query, async (ids) => {
          const found = await read(ids);
          return found.map((change) => {
            const listed = change !== undefined && fitsQuery(change, query) && seesCamera(visibility, change.camera);
            return listed ? change : undefined;
          });
        });
      }),

    /**
     * The first acknowledgement counts. It is an alert if the change was alerted.
     * @returns the change afterwards, and the alert that was made; undefined if there is no such change
     */
    acknowledge: (
      id: string,
      by: Pick<StoredAlert, 'traceId' | 'apiKeyId'>,
    ): Promise<{ change: Change; alert: StoredAlert | null } | undefined> =>
      redisCall('acknowledging a change', async () => {
        const change = await get(id);
        if (change === undefined) return undefined;
        const at = new Date(now()).toISOString();
        const alert = acknowledgedAlert(change, Date.parse(at), by);
        const lifetime = options.retentionMs + EXPIRY_SLACK_MS;
        const writes = alert === null ? [] : writesOfAlert(alert, now(), lifetime);
        const isFirst = await runAcknowledge(
          acknowledgementKeys(change),
          id,
          at,
          Date.parse(change.confirmed_at),
          JSON.stringify({ type: 'change.acknowledged', changeId: id } satisfies CameraEvent),
          JSON.stringify(eventOf(change, 'change.acknowledged', at)),
          // Strings only: Lua would write large numbers with an exponent.
          JSON.stringify(writes.map((command) => command.map(String))),
        );
        const after = await get(id);
        return after && { change: after, alert: isFirst === 1 ? alert : null };
      }),
    /** Alerts about the change may follow again. @returns the change afterwards, undefined if there is none. */
    withdrawAcknowledgement: (id: string): Promise<Change | undefined> =>
      redisCall('withdrawing an acknowledgement', async () => {
        const change = await get(id);
        if (change === undefined) return undefined;
        const at = new Date(now()).toISOString();
        await runUnacknowledge(
          acknowledgementKeys(change),
          id,
          JSON.stringify({ type: 'change.unacknowledged', changeId: id } satisfies CameraEvent),
          JSON.stringify(eventOf(change, 'change.unacknowledged', at)),
        );
        return get(id);
      }),
    /** The change settles with the next frame that shows it. */
    makeNormal: ({ id, camera }: Pick<Change, 'id' | 'camera'>): Promise<void> =>
      redisCall('making a change normal', async () => {
        const event: CameraEvent = { type: 'change.normal', changeId: id };
        const events = KEYS.cameraEvents(camera);
        await redis.multi().rpush(events, JSON.stringify(event)).ltrim(events, -CAMERA_EVENTS_KEPT, -1).exec();
      }),
    /** The last feedback counts. @returns the change afterwards, undefined if there is none. */
    giveFeedback: (id: string, feedback: Omit<Feedback, 'at'>): Promise<Change | undefined> =>
      redisCall('saving feedback', async () => {
        const given: Feedback = { ...feedback, at: new Date(now()).toISOString() };
        const json = JSON.stringify(given);
        await runFeedback(feedbackKeys(id), id, json, now());
        return get(id);
      }),
    /** @returns the change afterwards, undefined if there is none. */
    withdrawFeedback: (id: string): Promise<Change | undefined> =>
      redisCall('withdrawing feedback', async () => {
        await runNoFeedback(feedbackKeys(id), id);
        return get(id);
      }),
    /**
     * Number of changes confirmed in each of several spans that follow each other.
     * @param cameras null: all
     * @param bounds epoch ms, ascending: one more than there are spans
     */
    counts: (cameras: readonly string[] | null, bounds: readonly number[]): Promise<number[]> =>
      redisCall('counting changes', async () => {
        const indexes = cameras === null ? [KEYS.changesByTime] : cameras.map((camera) => KEYS.changesByCamera(camera));
        const spans = bounds.slice(1);
        const pipeline = redis.pipeline();
        for (const [i, until] of spans.entries()) {
          for (const index of indexes) pipeline.zcount(index, bounds[i] as number, `(${until}`);
        }
        const found = repliesOf<number>(await pipeline.exec());
        return spans.map((_until, i) =>
          found.slice(i * indexes.length, (i + 1) * indexes.length).reduce((sum, count) => sum + count, 0),
        );
      }),
    /** Changes with feedback, the earliest feedback first. @param after how many to skip */
    withFeedback: (after: number, limit: number): Promise<{ items: Change[]; last: boolean }> =>
      redisCall('listing feedback', async () => {
        const ids = await redis.zrange(KEYS.changesByFeedback, String(after), String(after + limit - 1));
        const items = (await read(ids)).filter((change) => change !== undefined);
        return { items, last: ids.length < limit };
      }),

    /** Events of the camera's changes, alerts and baseline since its last turn, oldest first. */
    cameraEvents: (camera: string): Promise<(CameraEvent | BaselineEvent)[]> =>
      redisCall("reading a camera's events", async () => {
        const events = await redis.lrange(KEYS.cameraEvents(camera), 0, -1);
        return events.map((json) => JSON.parse(json) as CameraEvent | BaselineEvent);
      }),
    alert: (id: string): Promise<StoredAlert | undefined> =>
      redisCall('reading an alert', async () => {
        const json = await redis.get(KEYS.alert(id));
        return json === null ? undefined : (JSON.parse(json) as StoredAlert);
      }),
    /** Pages of the ids of all alerts made from `since` on (epoch ms), the oldest first. */
    alertsSince: (since: number, pageSize: number): AsyncGenerator<string[]> =>
      idPages(redis, KEYS.alertsByTime, since, pageSize),
    /** @returns ids of the change's alerts from later frames. @param at epoch ms by the camera's clock */
    alertsAfter: (change: string, at: number): Promise<string[]> =>
      redisCall("listing a change's alerts", () => redis.zrangebyscore(KEYS.alertsOf(change), `(${at}`, '+inf')),

    /** @returns ids of changes last written before `before` (epoch ms), oldest first. */
    olderThan: (before: number, limit: number): Promise<string[]> =>
      redisCall('listing old changes', () =>
        redis.zrangebyscore(KEYS.changesByWriting, '-inf', `(${before}`, 'LIMIT', 0, limit),
      ),
    /** Erases the camera's changes last written before `before` (epoch ms). @returns how many. */
    eraseOlderOf: (camera: string, before: number): Promise<number> =>
      redisCall("erasing a camera's old changes", () =>
        // The index is ordered by the camera's clock and retention by ours, so all changes of the camera are read.
        eraseSelected(camera, async (ids) => {
          const written = ids.length === 0 ? [] : await redis.zmscore(KEYS.changesByWriting, ...ids);
          return ids.filter((_id, i) => written[i] != null && Number(written[i]) < before);
        }),
      ),
    /** Erases the change with its alerts and their deliveries, pending ones included. */
    erase: (id: string) => redisCall('erasing a change', () => erase(id)),
    /** Erases everything of a deleted camera, and all events of it. @returns how many changes. */
    eraseOf: (camera: string): Promise<number> =>
      redisCall("erasing a camera's changes", async () => {
        const erased = await eraseSelected(camera, async (ids) => ids);
        await redis.del(KEYS.cameraEvents(camera));
        await eraseEvents(redis, (event) => event.camera === camera);
        return erased;
      }),
  };
}

/** @returns null if the change was not alerted, or is over. @param now epoch ms */
function acknowledgedAlert(
  change: Change,
  now: number,
  by: Pick<StoredAlert, 'traceId' | 'apiKeyId'>,
): StoredAlert | null {
  if (change.alerted_at === null || change.status === 'reverted') return null;
  // Later than every alert of the change, also if the clock of the camera is ahead.
  const at = Math.max(now, Date.parse(change.last_seen) + 1);
  const type = 'change.acknowledged' as const;
  return {
    intent: {
      id: derivedId('alr', at, `${change.id}\n${type}`),
      type,
      change: { ...foundPart(change), status: 'acknowledged' },
      suppressedCount: 0,
      cooldownKey: null,
      at,
    },
    comparisonId: change.comparisons.last,
    url: null,
    ...by,
  };
}
