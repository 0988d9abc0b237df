/**
 * Endpoints: one Redis hash per endpoint. Settings and secrets are fields of their own, so that a change of one never
 * undoes a change of the other; the rest is what deliveries have shown about the receiver.
 */
import type { Redis } from 'ioredis';
import { systemClock } from '../../base/clock.js';
import type { EndpointSettings } from '../../endpoints/settings.js';
import { streamEvent } from '../../schemas/stream-event.js';
import { EVENTS_KEPT, KEYS } from '../redis/keys.js';
import { type PageQuery, pageOf } from '../redis/pages.js';
import { defineScript, redisCall, repliesOf } from '../redis/redis.js';
import { createMessageLimits } from './message-limits.js';

export interface StoredEndpoint {
  readonly id: string;
  readonly settings: EndpointSettings;
  /** address as answers and logs show it */
  readonly shownUrl: string;
  /** EndpointSecrets, encrypted (src/endpoints/secrets.ts) */
  readonly sealed: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** the API key that subscribed with it, and its owner; absent: an administrator made it */
  readonly subscriber?: { readonly key: string; readonly owner: string };
}

/** Why an endpoint was stopped. gone: its receiver answered 410. failing: every attempt of FAILING_LIMIT_MS failed. */
export interface EndpointStop {
  readonly at: string;
  readonly reason: 'gone' | 'failing';
  readonly detail: string;
}

/** Answer of a CloudEvents receiver to the question whether it takes deliveries. */
export interface EndpointPermission {
  /** our own name, which was allowed */
  readonly origin: string;
  /** requests per minute; null: any number */
  readonly rate: number | null;
}

export interface EndpointRecord extends StoredEndpoint {
  /** time of the first attempt that failed since the last success; null: the last attempt succeeded */
  readonly failingSince: string | null;
  readonly lastDeliveredAt: string | null;
  readonly lastError: string | null;
  readonly stopped: EndpointStop | null;
  readonly permission: EndpointPermission | null;
  /** messages that its limit has held back so far */
  readonly heldBack: number;
  /** end of the latest brief that was made for it, epoch ms; null: none yet */
  readonly briefUntil: number | null;
}

export type EndpointStore = ReturnType<typeof createEndpointStore>;

/** An endpoint whose every attempt of this time failed is stopped. */
export const FAILING_LIMIT_MS = 5 * 24 * 3_600_000;

/**
 * KEYS: endpoint, event stream.
 * ARGV: now, ok ('1' or ''), error, gone ('1' or ''), limit (ms), now (ms), stop and event of one that is gone, stop
 * and event of one that fails.
 * Returns 1 if this attempt stopped the endpoint.
 */
const NOTE_ATTEMPT = `
if redis.call('HEXISTS', KEYS[1], 'endpoint') == 0 then return 0 end
if ARGV[2] == '1' then
  redis.call('HDEL', KEYS[1], 'failing', 'error')
  redis.call('HSET', KEYS[1], 'delivered', ARGV[1])
  return 0
end
redis.call('HSETNX', KEYS[1], 'failing', ARGV[6])
redis.call('HSET', KEYS[1], 'error', ARGV[3])
if redis.call('HEXISTS', KEYS[1], 'stopped') == 1 then return 0 end
local first = 9
if ARGV[4] == '1' then first = 7
elseif tonumber(ARGV[6]) - tonumber(redis.call('HGET', KEYS[1], 'failing')) < tonumber(ARGV[5]) then return 0 end
redis.call('HSET', KEYS[1], 'stopped', ARGV[first])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', ARGV[first + 1])
return 1`;

/** KEYS: endpoint. ARGV: field, value. Does not bring an erased endpoint back as a hash of one field. */
const SAVE_IF_THERE = `
if redis.call('HEXISTS', KEYS[1], 'endpoint') == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1`;

/**
 * Generic cell rate algorithm by the clock of Redis. The key has the time at which the requests so far would end at an
 * even pace.
 * KEYS: pace. ARGV: interval (ms), burst. Returns ms to wait.
 */
const TAKE_PLACE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
-- Written before the clock was set back.
if ends - now > ARGV[1] * ARGV[2] then ends = now end
local wait = ends - now - ARGV[1] * (ARGV[2] - 1)
if wait > 0 then return wait end
redis.call('SET', KEYS[1], string.format('%.0f', ends + ARGV[1]), 'PX', ends + ARGV[1] - now)
return 0`;

/** All methods throw ScenedeltaError 'queue-unavailable' if Redis is away. */
export function createEndpointStore(redis: Redis, options: { now?: () => number } = {}) {
  const now = options.now ?? systemClock;
  const runNote = defineScript<number>(redis, 'sdEndpointAttempt', NOTE_ATTEMPT);
  const runPace = defineScript<number>(redis, 'sdEndpointPace', TAKE_PLACE);
  const runSave = defineScript<number>(redis, 'sdEndpointSave', SAVE_IF_THERE);
  /** @returns whether the endpoint exists */
  const save = (what: string, id: string, field: string, value: string): Promise<boolean> =>
    redisCall(what, async () => (await runSave([KEYS.endpoint(id)], field, value)) === 1);

  const read = async (ids: readonly string[]): Promise<(EndpointRecord | undefined)[]> => {
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.hgetall(KEYS.endpoint(id));
    return repliesOf<Record<string, string>>(await pipeline.exec()).map(recordOf);
  };

  const erase = async (id: string): Promise<boolean> => {
    const keys = [KEYS.endpoint(id), KEYS.deliveriesOf(id), KEYS.endpointPace(id), KEYS.heldBack(id)];
    const erasing = redis.multi().zrem(KEYS.endpoints, id);
    const [existed] = repliesOf<number>(await erasing.del(...keys).exec());
    return existed === 1;
  };

  /** @returns those whose API key has been revoked */
  const withoutKey = async (endpoints: readonly EndpointRecord[]): Promise<EndpointRecord[]> => {
    const keys = endpoints.flatMap(({ subscriber }) => subscriber?.key ?? []);
    if (keys.length === 0) return [];
    const kept = await redis.hmget(KEYS.apiKeys, ...keys);
    const revoked = new Set(keys.filter((_key, i) => kept[i] === null));
    return endpoints.filter(({ subscriber }) => subscriber !== undefined && revoked.has(subscriber.key));
  };

  return {
    limits: createMessageLimits(redis, now),
    create: ({ sealed, ...endpoint }: StoredEndpoint): Promise<void> =>
      redisCall('saving an endpoint', async () => {
        await redis
          .multi()
          .hset(KEYS.endpoint(endpoint.id), 'endpoint', JSON.stringify(endpoint), 'sealed', sealed)
          .zadd(KEYS.endpoints, Date.parse(endpoint.created_at), endpoint.id)
          .exec();
      }),
    /**
     * Replaces settings and shown address.
     * @param change.sealed undefined: the secrets stay
     * @param change.again whether the receiver is asked again and its earlier attempts do not count
     * @returns whether the endpoint exists
     */
    update: (
      endpoint: Omit<StoredEndpoint, 'sealed'>,
      { sealed, again }: { sealed?: string; again: boolean },
    ): Promise<boolean> =>
      redisCall('saving an endpoint', async () => {
        const key = KEYS.endpoint(endpoint.id);
        if ((await runSave([key], 'endpoint', JSON.stringify(endpoint))) === 0) return false;
        if (sealed !== undefined) await runSave([key], 'sealed', sealed);
        if (again) await redis.hdel(key, 'stopped', 'failing', 'error', 'permission');
        return true;
      }),
    saveSecrets: (id: string, sealed: string) => save("saving an endpoint's secrets", id, 'sealed', sealed),
    get: (id: string): Promise<EndpointRecord | undefined> =>
      redisCall('reading an endpoint', async () => (await read([id]))[0]),
    /** The latest created first. */
    list: (query: PageQuery) =>
      redisCall('listing endpoints', () => pageOf(redis, KEYS.endpoints, query, (ids) => read(ids))),
    /** All of them. A subscription ends with its API key: it is erased here. */
    all: (): Promise<EndpointRecord[]> =>
      redisCall('reading endpoints', async () => {
        const ids = await redis.zrange(KEYS.endpoints, '0', '-1');
        const found = ids.length === 0 ? [] : (await read(ids)).filter((one) => one !== undefined);
        const ended = await withoutKey(found);
        for (const { id } of ended) await erase(id);
        return found.filter((one) => !ended.includes(one));
      }),
    /** Erases the endpoint and the list of its deliveries. @returns whether it existed. */
    erase: (id: string): Promise<boolean> => redisCall('erasing an endpoint', () => erase(id)),
    /**
     * Notes how an attempt ended, and stops an endpoint that is gone or has failed for too long.
     * @param outcome.error null: it succeeded
     * @returns the stop that this attempt caused
     */
    noteAttempt: (
      id: string,
      { error, gone }: { error: string | null; gone: boolean },
    ): Promise<EndpointStop | undefined> =>
      redisCall("noting an endpoint's attempt", async () => {
        const at = new Date(now()).toISOString();
        const stops = (['gone', 'failing'] as const).map((reason) => ({ at, reason, detail: detailOf(reason, error) }));
        const subject = { kind: 'endpoint', id } as const;
        const events = stops.map(({ reason, detail }) =>
          streamEvent({ type: 'endpoint.disabled', camera: null, at, subject, data: { reason, detail } }),
        );
        const json = stops.flatMap((stop, i) => [JSON.stringify(stop), JSON.stringify(events[i])]);
        const stopped = await runNote(
          [KEYS.endpoint(id), KEYS.events],
          ...[at, error === null ? '1' : '', error ?? '', gone ? '1' : '', FAILING_LIMIT_MS, now(), ...json],
        );
        return stopped === 1 ? stops[gone ? 0 : 1] : undefined;
      }),
    /** @param until end of the brief that was made, epoch ms */
    noteBrief: (id: string, until: number) => save("noting an endpoint's brief", id, 'brief', String(until)),
    savePermission: (id: string, permission: EndpointPermission) =>
      save("saving an endpoint's permission", id, 'permission', JSON.stringify(permission)),
    /**
     * Takes the next place under a limit of requests, for all workers together.
     * @param rate.burst requests that may follow at once
     * @returns ms to wait; 0: now
     */
    pace: (id: string, { perMinute, burst }: { perMinute: number; burst: number }): Promise<number> =>
      redisCall("pacing an endpoint's deliveries", () =>
        runPace([KEYS.endpointPace(id)], Math.ceil(60_000 / perMinute), burst),
      ),
  };
}

const detailOf = (reason: EndpointStop['reason'], error: string | null): string =>
  reason === 'gone'
    ? 'the receiver answered 410 Gone: it wants nothing more'
    : `every attempt has failed for 5 days; the last one: ${error}`;

function recordOf(hash: Record<string, string>): EndpointRecord | undefined {
  if (hash.endpoint === undefined) return undefined;
  const { failing, delivered, error, stopped, permission, held, brief } = hash;
  return {
    ...(JSON.parse(hash.endpoint) as Omit<StoredEndpoint, 'sealed'>),
    sealed: hash.sealed ?? '',
    failingSince: failing === undefined ? null : new Date(Number(failing)).toISOString(),
    lastDeliveredAt: delivered ?? null,
    lastError: error ?? null,
    stopped: stopped === undefined ? null : (JSON.parse(stopped) as EndpointStop),
    permission: permission === undefined ? null : (JSON.parse(permission) as EndpointPermission),
    heldBack: Number(held ?? 0),
    briefUntil: brief === undefined ? null : Number(brief),
  };
}
