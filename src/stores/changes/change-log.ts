/**
 * Log of the changes whose searched text was written or erased: a trimmed stream of their ids. Each API process keeps
 * its search index up to date by it.
 */
import type { Redis } from 'ioredis';
import { CHANGE_LOG_KEPT, KEYS } from '../redis/keys.js';
import { type RedisCommand, redisCall } from '../redis/redis.js';

/** Part of the step that writes or erases the change. */
export const logEntry = (changeId: string): RedisCommand => [
  ...(['XADD', KEYS.changeLog, 'MAXLEN', '~', CHANGE_LOG_KEPT, '*', 'id'] as const),
  changeId,
];
/** The same in a Lua script. @param key and id are expressions of Lua */
export const logEntryInLua = (key: string, id: string): string =>
  `redis.call('XADD', ${key}, 'MAXLEN', '~', ${CHANGE_LOG_KEPT}, '*', 'id', ${id})`;

export type ChangeLog = ReturnType<typeof createChangeLog>;

const READ_AT_ONCE = 1_000;

export function createChangeLog(redis: Redis) {
  return {
    /** @returns the present position, which stays readable until it is trimmed */
    mark: (): Promise<string> =>
      redisCall('marking the log of changes', async () => (await redis.call(...logEntry(''))) as string),
    /**
     * Reads on from a position.
     * @returns ids of changes, the earliest write first, possibly repeated; undefined if entries were trimmed or lost
     */
    after: (position: string): Promise<{ ids: string[]; position: string; more: boolean } | undefined> =>
      redisCall('reading the log of changes', async () => {
        const entries = await redis.xrange(KEYS.changeLog, position, '+', 'COUNT', READ_AT_ONCE);
        // The entry of the position is the proof that none after it was trimmed.
        if (entries[0]?.[0] !== position) return undefined;
        const ids = entries.slice(1).flatMap(([, [, id = '']]) => (id === '' ? [] : [id]));
        return { ids, position: entries.at(-1)?.[0] ?? position, more: entries.length === READ_AT_ONCE };
      }),
  };
}
