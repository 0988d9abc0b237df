/**
 * Descriptions of changes by the describer: one field of the change's hash, the changes that wait for one, and the use
 * of the describer per hour.
 */
import type { Redis } from 'ioredis';
import { HOUR_MS, systemClock } from '../clock.js';
import { derivedId } from '../ids.js';
import type { Change } from '../schemas/change.js';
import type { Description } from '../schemas/description.js';
import { addEvent, EXPIRY_SLACK_MS, eventOf, type StoredAlert, writesOfMessage } from './change-writes.js';
import { KEYS } from './keys.js';
import { defineScript, redisCall } from './redis.js';
import { foundPart } from './stored-change.js';

/** Most requests and tokens per hour. */
export interface UseLimits {
  readonly keyCalls: number;
  readonly keyTokens: number;
  readonly cameraCalls: number;
  readonly cameraTokens: number;
}
/** The API key of the frames, and the camera. */
export interface UsedBy {
  readonly apiKeyId: string;
  readonly camera: string;
}
export type UseLimit = keyof UseLimits;

/**
 * KEYS: change, waiting. ARGV: id, description, further commands as JSON. The first description counts.
 * Returns 1 if this is it.
 */
const DESCRIBE = `
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('HEXISTS', KEYS[1], 'change') == 0 then return 0 end
if redis.call('HSETNX', KEYS[1], 'description', ARGV[2]) == 0 then return 0 end
for _, command in ipairs(cjson.decode(ARGV[3])) do redis.call(unpack(command)) end
return 1`;

/**
 * KEYS: use of the hour. ARGV: lifetime (ms), then per limit its field, its number, and 1 if it counts calls.
 * Counts a call unless a limit is reached. Returns the position of that limit from 1, or 0.
 */
const TAKE_CALL = `
for i = 2, #ARGV, 3 do
  local used = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
  if used >= tonumber(ARGV[i + 1]) then return (i + 1) / 3 end
end
for i = 2, #ARGV, 3 do
  if ARGV[i + 2] == '1' then redis.call('HINCRBY', KEYS[1], ARGV[i], 1) end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0`;

export type DescriptionStore = ReturnType<typeof createDescriptionStore>;

/** @param options.retentionMs time for which a change is kept */
export function createDescriptionStore(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const now = options.now ?? systemClock;
  const runDescribe = defineScript<number>(redis, 'sdDescribe', DESCRIBE);
  const runTakeCall = defineScript<number>(redis, 'sdTakeCall', TAKE_CALL);
  const useKey = () => KEYS.describerUse(Math.floor(now() / HOUR_MS));
  const fields = ({ apiKeyId, camera }: UsedBy): readonly (readonly [UseLimit, field: string])[] => [
    ['keyCalls', `calls key ${apiKeyId}`],
    ['keyTokens', `tokens key ${apiKeyId}`],
    ['cameraCalls', `calls camera ${camera}`],
    ['cameraTokens', `tokens camera ${camera}`],
  ];

  return {
    /**
     * Saves the description, unless there is one. An accepted one is an event and a message to endpoints.
     * @param by of the frame that confirmed the change
     * @returns the message to deliver; null: there is none
     */
    save: (
      change: Change,
      description: Description,
      by: Pick<StoredAlert, 'traceId' | 'traceparent' | 'apiKeyId'>,
    ): Promise<StoredAlert | null> =>
      redisCall('saving a description', async () => {
        const { id } = change;
        const message = description.status === 'accepted' ? messageOf(change, description, by) : null;
        const writes =
          message === null
            ? []
            : [
                addEvent(eventOf(change, 'change.described', description.at)),
                ...writesOfMessage(message, now(), options.retentionMs + EXPIRY_SLACK_MS),
              ];
        const isFirst = await runDescribe(
          [KEYS.change(id), KEYS.descriptionsOpen],
          id,
          JSON.stringify(description),
          // Strings only: Lua would write large numbers with an exponent.
          JSON.stringify(writes.map((command) => command.map(String))),
        );
        return isFirst === 1 ? message : null;
      }),
    /** @returns ids of changes that wait since before `before` (epoch ms), oldest first */
    overdue: (before: number, limit: number): Promise<string[]> =>
      redisCall('listing undescribed changes', () =>
        redis.zrangebyscore(KEYS.descriptionsOpen, '-inf', `(${before}`, 'LIMIT', 0, limit),
      ),
    /** Removes a change from `overdue`: nothing is left to describe. */
    drop: (id: string): Promise<void> =>
      redisCall('dropping an undescribed change', async () => void (await redis.zrem(KEYS.descriptionsOpen, id))),
    /** Counts a request in this hour. @returns null; or the limit that is reached, and nothing was counted */
    takeCall: (by: UsedBy, limits: UseLimits): Promise<UseLimit | null> =>
      redisCall('counting requests to the describer', async () => {
        const all = fields(by);
        const values = all.flatMap(([limit, field]) => [field, limits[limit], limit.endsWith('Calls') ? 1 : 0]);
        const reached = await runTakeCall([useKey()], 2 * HOUR_MS, ...values);
        return all[reached - 1]?.[0] ?? null;
      }),
    addTokens: (by: UsedBy, tokens: number): Promise<void> =>
      redisCall('counting tokens of the describer', async () => {
        const counting = redis.multi();
        for (const [limit, field] of fields(by)) {
          if (limit.endsWith('Tokens')) counting.hincrby(useKey(), field, tokens);
        }
        await counting.pexpire(useKey(), 2 * HOUR_MS).exec();
      }),
  };
}

function messageOf(
  change: Change,
  description: Description,
  by: Pick<StoredAlert, 'traceId' | 'traceparent' | 'apiKeyId'>,
): StoredAlert {
  const at = Date.parse(description.at);
  const type = 'change.described' as const;
  return {
    intent: {
      id: derivedId('alr', at, `${change.id}\n${type}`),
      type,
      change: foundPart(change),
      description,
      suppressedCount: 0,
      cooldownKey: null,
      at,
    },
    comparisonId: change.comparisons.best,
    url: null,
    ...by,
  };
}
