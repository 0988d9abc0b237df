/** One day of a camera: its changes, and the spans in which it showed nothing. */
import type { Redis } from 'ioredis';
import type { UnseenSpan } from '../../camera/state/state.js';
import type { Change } from '../../schemas/change.js';
import { KEYS, UNSEEN_KEPT } from '../redis/keys.js';
import { redisCall } from '../redis/redis.js';
import { readerOf } from './stored-change.js';

/** Half-open, epoch ms by the camera's clock. */
export interface DaySpan {
  readonly from: number;
  readonly until: number;
}

export type DayStore = ReturnType<typeof createDayStore>;

/** A change is confirmed after it was first seen: `persist_s` is a day at most, and the frames take their time. */
const LATEST_CONFIRMATION_MS = 2 * 86_400_000;
const READ_AT_ONCE = 500;

/** All methods throw ScenedeltaError 'queue-unavailable' if Redis is away. */
export function createDayStore(redis: Redis) {
  const readSome = readerOf(redis);
  const read = async (ids: readonly string[]): Promise<Change[]> => {
    const found: Change[] = [];
    for (let i = 0; i < ids.length; i += READ_AT_ONCE) {
      const some = await readSome(ids.slice(i, i + READ_AT_ONCE));
      found.push(...some.filter((change) => change !== undefined));
    }
    return found;
  };

  return {
    /**
     * The changes that were there at some time of the day. Changes that ended before this version wrote their end are
     * read only if they were confirmed on the day.
     * @param limit of each index that is read
     * @returns in no order; whether the limit left some out
     */
    changesOf: (camera: string, { from, until }: DaySpan, limit: number) =>
      redisCall("reading a day's changes", async () => {
        const confirmedUntil = `(${until + LATEST_CONFIRMATION_MS}`;
        const latest = (key: string, least: string, most: string) =>
          redis.zrevrangebyscore(key, most, least, 'LIMIT', 0, limit + 1);
        const found = await Promise.all([
          latest(KEYS.changesByCamera(camera), String(from), confirmedUntil),
          // Some ended on a later day, so that they were there on this one. The first ones count.
          redis.zrangebyscore(KEYS.changesByEnd(camera), from, '+inf', 'LIMIT', 0, limit + 1),
          latest(KEYS.changesByStatusAndCamera('opened', camera), '-inf', confirmedUntil),
          latest(KEYS.changesByStatusAndCamera('persisting', camera), '-inf', confirmedUntil),
        ]);
        const ids = new Set(found.flatMap((some) => some.slice(0, limit)));
        const changes = (await read([...ids])).filter(
          ({ first_seen, reverted_at }) =>
            Date.parse(first_seen) < until && (reverted_at === null || Date.parse(reverted_at) >= from),
        );
        return { changes, truncated: found.some((some) => some.length > limit) };
      }),
    /** The recorded spans that overlap the day, in the order of their end. */
    unseenOf: (camera: string, { from, until }: DaySpan): Promise<UnseenSpan[]> =>
      redisCall("reading a camera's unseen spans", async () => {
        const spans = await redis.zrangebyscore(KEYS.cameraUnseen(camera), `(${from}`, '+inf', 'LIMIT', 0, UNSEEN_KEPT);
        return spans.map((json) => JSON.parse(json) as UnseenSpan).filter((span) => span.from < until);
      }),
  };
}
