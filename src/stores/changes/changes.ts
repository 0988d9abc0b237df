/**
 * Changes, feedback on them, and alerts: one Redis hash per change, sorted sets as indexes. A camera's turn writes the
 * field `change` and the indexes of its status; the API writes the fields `acknowledged` and `feedback` and their
 * indexes. Neither overwrites the other.
 */

import type { Redis } from 'ioredis';
import { systemClock } from '../../base/clock.js';
import type { BaselineEvent } from '../../camera/state/state.js';
import type { CameraEvent, Change } from '../../schemas/change.js';
import { type ChangeStatus, type FilterKind, hasKind, type Severity } from '../../schemas/kinds.js';
import type { SearchVector } from '../../schemas/search-vector.js';
import { EXPIRY_SLACK_MS } from '../redis/index-tidying.js';
import { KEYS } from '../redis/keys.js';
import { countsOf, idPages, type PageQuery, pageOf } from '../redis/pages.js';
import { redisCall, repliesOf, runInOneStep } from '../redis/redis.js';
import { fewCameras, seesCamera, type Visibility } from '../redis/visibility.js';
import { erasureOf } from './change-erasure.js';
import { judgementsOf } from './change-judgements.js';
import { decodeVector, VECTOR_FIELD } from './change-vectors.js';
import { type StoredMessage, writesOfMessage } from './change-writes.js';
import { readerOf } from './stored-change.js';

export type ChangeStore = ReturnType<typeof createChangeStore>;

export function createChangeStore(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const read = readerOf(redis);
  const get = async (id: string) => (await read([id]))[0];
  return {
    ...judgementsOf(redis, options),
    ...erasureOf(redis),
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
        const few = fewCameras(visibility, camera);
        const index = few?.map((one) => indexOf({ ...query, camera: one })) ?? indexOf(query);
        return pageOf(redis, index, query, async (ids) => {
          const found = await read(ids);
          return found.map((change) => {
            const listed = change !== undefined && fitsQuery(change, query) && seesCamera(visibility, change.camera);
            return listed ? change : undefined;
          });
        });
      }),

    /**
     * Number of changes confirmed in each of several spans that follow each other.
     * @param cameras null: all
     * @param bounds epoch ms, ascending: one more than there are spans
     */
    counts: (cameras: readonly string[] | null, bounds: readonly number[]): Promise<number[]> =>
      redisCall('counting changes', async () => {
        const indexes = cameras === null ? [KEYS.changesByTime] : cameras.map((camera) => KEYS.changesByCamera(camera));
        return countsOf(redis, indexes, bounds);
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
    /** An alert or another message. */
    alert: (id: string): Promise<StoredMessage | undefined> =>
      redisCall('reading an alert', async () => {
        const json = await redis.get(KEYS.alert(id));
        return json === null ? undefined : (JSON.parse(json) as StoredMessage);
      }),
    /** Saves a message that no change or camera causes; its deliveries are open from then on. */
    saveMessage: (stored: StoredMessage): Promise<void> =>
      redisCall('saving a message', async () => {
        const now = (options.now ?? systemClock)();
        await runInOneStep(redis.multi(), writesOfMessage(stored, now, options.retentionMs + EXPIRY_SLACK_MS));
      }),
    /** Pages of the ids of all alerts made from `since` on (epoch ms), the oldest first. */
    alertsSince: (since: number, pageSize: number): AsyncGenerator<string[]> =>
      idPages(redis, KEYS.alertsByTime, since, pageSize),
    /** @returns ids of messages about a change or visit from later frames. @param at epoch ms by the camera's clock */
    alertsAfter: (subject: string, at: number): Promise<string[]> =>
      redisCall("listing a change's alerts", () => redis.zrangebyscore(KEYS.alertsOf(subject), `(${at}`, '+inf')),
  };
}

/** `since` and `until` refer to the time of the confirmation, by the camera's clock. */
export interface ChangeQuery extends PageQuery {
  readonly camera?: string;
  readonly status?: ChangeStatus;
  readonly zone?: string;
  readonly kind?: FilterKind;
  readonly severity?: Severity;
  /** default: everything */
  readonly visibility?: Visibility;
}

/** The sorted set that has the changes of this camera and status. */
function indexOf({ camera, status }: { camera?: string; status?: ChangeStatus }): string {
  if (status === undefined) return camera === undefined ? KEYS.changesByTime : KEYS.changesByCamera(camera);
  return camera === undefined ? KEYS.changesByStatus(status) : KEYS.changesByStatusAndCamera(status, camera);
}

/**
 * An acknowledged change stays in the index of the status that its last turn wrote, and a reverted one in the index of
 * the acknowledged ones.
 */
const hasStatus = (change: Change, status: ChangeStatus): boolean =>
  status === 'acknowledged' ? change.acknowledged_at !== null : change.status === status;

/** Whether the change has the status, zone, kind and severity that the query asks for. */
export const fitsQuery = (
  change: Change,
  { status, zone, kind, severity }: Pick<ChangeQuery, 'status' | 'zone' | 'kind' | 'severity'>,
): boolean =>
  (status === undefined || hasStatus(change, status)) &&
  (zone === undefined || change.zone === zone) &&
  (kind === undefined || hasKind(change, kind)) &&
  (severity === undefined || change.severity === severity);
