/**
 * Search vectors as vector sets of Redis 8, one per bundle. The element of a change is its id. The vector in the hash
 * of the change stays the one that counts: elements have 8 bits per number and choose candidates only. A turn writes
 * the element in its atomic step, and an erasure removes it.
 */
import type { Redis } from 'ioredis';
import { ScenedeltaError } from '../errors.js';
import type { Logger } from '../logger.js';
import type { FoundChange } from '../schemas/change.js';
import type { SearchVector } from '../schemas/search-vector.js';
import { encodeVector, VECTOR_FIELD } from './change-vectors.js';
import { KEYS } from './keys.js';
import { connectRedis, defineScript, type RedisCommand, redisCall } from './redis.js';
import { elementAttributes } from './vector-filter.js';

type Place = Pick<FoundChange, 'id' | 'camera' | 'zone' | 'confirmed_at'>;

/** Changes whose elements are checked or written in one pipeline. */
const AT_ONCE = 100;
/** Digits after the point; the 8 bits of an element resolve two. */
const DIGITS = 5;
/**
 * Nodes that VADD looks at for the neighbours of an element; 200 by default. Searches look at 1,000 and more, so a
 * lower effort costs them nothing that was measured, and an addition takes a quarter less time.
 */
const BUILD_EFFORT = 100;
const NEEDED = ['VADD', 'VSIM', 'VREM', 'VISMEMBER'] as const;

const setOf = ({ bundle, values }: SearchVector): string => KEYS.vectorSet(bundle, values.length);

const addition = ({ id, camera, zone, confirmed_at }: Place, vector: SearchVector): RedisCommand => [
  ...(['VADD', setOf(vector), 'VALUES', vector.values.length] as const),
  ...Array.from(vector.values, (value) => Number(value.toFixed(DIGITS))),
  id,
  'EF',
  BUILD_EFFORT,
  'SETATTR',
  elementAttributes({ camera, zone, confirmed: Date.parse(confirmed_at) }),
];

/** Part of the step that writes the vector of the change. It also replaces the element. */
export const writesOfElement = (change: Place, vector: SearchVector): RedisCommand[] => [
  addition(change, vector),
  ['SADD', KEYS.vectorSets, setOf(vector)],
];

/** KEYS: vector sets. ARGV: id. Without vector sets it sends no command that Redis 7 does not know. */
const ERASE = `
for _, set in ipairs(redis.call('SMEMBERS', KEYS[1])) do redis.call('VREM', set, ARGV[1]) end
return 1`;

/** Part of the step that erases the change, whatever SEARCH_VECTORS is now. */
export const eraseElement = (id: string): RedisCommand => ['EVAL', ERASE, 1, KEYS.vectorSets, id];

/** KEYS: a vector set per id. ARGV: ids. Returns 1 per id that the set has. */
const PRESENT = `
local present = {}
for i, set in ipairs(KEYS) do present[i] = redis.call('VISMEMBER', set, ARGV[i]) end
return present`;

/**
 * KEYS: change, vector set, vector sets. ARGV: id, stored vector, command that adds the element as JSON.
 * An element is added only beside its stored vector, which may have been erased or replaced meanwhile. Returns 1 if it
 * was added.
 */
const FILL = `
if redis.call('HGET', KEYS[1], '${VECTOR_FIELD}') ~= ARGV[2] then return 0 end
if redis.call('VISMEMBER', KEYS[2], ARGV[1]) == 1 then return 0 end
redis.call(unpack(cjson.decode(ARGV[3])))
redis.call('SADD', KEYS[3], KEYS[2])
return 1`;

/**
 * KEYS: vector set, then changes. ARGV: bundle, then ids. Removes elements whose change has no vector of the bundle.
 */
const PRUNE = `
local removed = 0
for i = 2, #KEYS do
  local vector = redis.call('HGET', KEYS[i], '${VECTOR_FIELD}')
  if not vector or string.sub(vector, 1, #ARGV[1]) ~= ARGV[1] then
    removed = removed + redis.call('VREM', KEYS[1], ARGV[i])
  end
end
return removed`;

export type VectorSets = ReturnType<typeof createVectorSets>;

export function createVectorSets(redis: Redis) {
  const runPresent = defineScript<(0 | 1)[]>(redis, 'sdElements', PRESENT);
  const runFill = defineScript<0 | 1>(redis, 'sdFillElement', FILL);
  const runPrune = defineScript<number>(redis, 'sdPruneElements', PRUNE);

  const fillPart = async (part: readonly { readonly change: Place; readonly vector: SearchVector }[]) => {
    const present = await runPresent(
      part.map(({ vector }) => setOf(vector)),
      ...part.map(({ change }) => change.id),
    );
    const missing = part.filter((_one, i) => present[i] === 0);
    const added = await Promise.all(
      missing.map(({ change, vector }) =>
        runFill(
          [KEYS.change(change.id), setOf(vector), KEYS.vectorSets],
          change.id,
          encodeVector(vector),
          JSON.stringify(addition(change, vector).map(String)),
        ),
      ),
    );
    return added.filter((one) => one === 1).length;
  };

  return {
    /**
     * Adds the elements that are missing. Several processes may do so at once: each element is added once.
     * @param all changes with their vectors as they were read
     * @returns number of elements that were added
     */
    fill: (all: readonly { readonly change: Place; readonly vector: SearchVector }[]): Promise<number> =>
      redisCall('filling a vector set', async () => {
        let added = 0;
        for (let from = 0; from < all.length; from += AT_ONCE) added += await fillPart(all.slice(from, from + AT_ONCE));
        return added;
      }),
    /**
     * @param count number of elements that are wanted
     * @param filter expression of vector-filter.ts; undefined: all
     * @returns ids with the cosine to about 0.01, the nearest first; fewer than `count`: the engine found no more
     */
    similar: (
      vector: SearchVector,
      { count, filter }: { count: number; filter?: string | undefined },
    ): Promise<{ id: string; cosine: number }[]> =>
      redisCall('comparing search vectors', async () => {
        const { buffer, byteOffset, byteLength } = vector.values;
        const reply = (await redis.call(
          ...(['VSIM', setOf(vector), 'FP32', Buffer.from(buffer, byteOffset, byteLength)] as const),
          ...['WITHSCORES', 'COUNT', count],
          ...(filter === undefined ? [] : ['FILTER', filter]),
        )) as string[];
        // The score is (1 + cosine) / 2.
        return Array.from({ length: reply.length >> 1 }, (_, i) => ({
          id: reply[2 * i] as string,
          cosine: 2 * Number(reply[2 * i + 1]) - 1,
        }));
      }),
    /** Removes those of the elements whose change expired, or has a vector of another bundle. @returns how many */
    prune: (vector: SearchVector, ids: readonly string[]): Promise<number> =>
      redisCall('removing elements of a vector set', async () =>
        ids.length === 0 ? 0 : runPrune([setOf(vector), ...ids.map(KEYS.change)], vector.bundle, ...ids),
      ),
  };
}

/**
 * Waits for Redis, if it is away.
 * @throws ScenedeltaError 'invalid-request' with the version of a server without vector sets
 */
export async function assertVectorSets(url: string, logger: Logger): Promise<void> {
  // Commands of this role wait for the connection.
  const redis = connectRedis(url, { role: 'consumer', logger });
  try {
    const found = (await redis.call('COMMAND', 'INFO', ...NEEDED)) as unknown[];
    if (found.every((command) => command !== null)) return;
    const [, version = 'unknown'] = /^redis_version:(\S+)/m.exec(await redis.info('server')) ?? [];
    throw new ScenedeltaError(
      'invalid-request',
      `SEARCH_VECTORS="redis": Redis is version ${version}, expected one with vector sets (version 8 or newer)`,
      { field: 'SEARCH_VECTORS' },
    );
  } finally {
    redis.disconnect();
  }
}
