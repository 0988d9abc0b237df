/** Turns in Redis. What has to happen in one step is Lua: a kill between two commands leaves all of it or nothing. */
import type { Redis } from 'ioredis';
import { KEYS } from '../jobs/payloads.js';
import { type RedisCommand, redisCall } from './redis.js';
import type { RedisResultStore } from './results-redis.js';
import type { Taken, Turn, TurnStore } from './turns.js';

/** KEYS: turn, frames, tries, camera. ARGV: job, token, ttl (ms). */
const TAKE = `
local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 1, #ARGV[1] + 1) ~= ARGV[1] .. ':' then return {'held'} end
local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
local camera = redis.call('HGET', KEYS[4], 'camera')
if not first or not camera then
  redis.call('DEL', KEYS[1])
  return {'empty'}
end
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'PX', ARGV[3])
return {'taken', first, redis.call('HINCRBY', KEYS[3], first, 1), camera, redis.call('HGET', KEYS[4], 'state') or ''}`;

/** KEYS: turn. ARGV: held, ttl (ms). */
const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/**
 * KEYS: turn, frames, tries, camera, comparison. ARGV: held, comparison id, state ('' = as it was), further commands as JSON ('' = the
 * frame is only taken out).
 */
const COMMIT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'lost' end
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('HDEL', KEYS[3], ARGV[2])
if ARGV[4] == '' then return 'final' end
local status = redis.call('HGET', KEYS[5], 'status')
if not status or status == 'finished' or status == 'failed' or status == 'cancelled' then return 'final' end
if ARGV[3] ~= '' then redis.call('HSET', KEYS[4], 'state', ARGV[3]) end
for _, command in ipairs(cjson.decode(ARGV[4])) do redis.call(unpack(command)) end
return 'committed'`;

/** KEYS: turn, frames. ARGV: held. Asked in the same step, so that no frame comes in between unseen. */
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'lost' end
redis.call('DEL', KEYS[1])
if redis.call('ZCARD', KEYS[2]) > 0 then return 'more' end
return 'free'`;

interface Scripts {
  sdTake(...args: (string | number)[]): Promise<[string, string, number, string, string]>;
  sdRenew(...args: (string | number)[]): Promise<number>;
  sdCommit(...args: (string | number)[]): Promise<'committed' | 'lost' | 'final'>;
  sdRelease(...args: (string | number)[]): Promise<'free' | 'more' | 'lost'>;
}

export function createRedisTurnStore(
  redis: Redis,
  results: Pick<RedisResultStore, 'endingWrites'>,
): TurnStore {
  redis.defineCommand('sdTake', { lua: TAKE, numberOfKeys: 4 });
  redis.defineCommand('sdRenew', { lua: RENEW, numberOfKeys: 1 });
  redis.defineCommand('sdCommit', { lua: COMMIT, numberOfKeys: 5 });
  redis.defineCommand('sdRelease', { lua: RELEASE, numberOfKeys: 2 });
  const scripts = redis as unknown as Scripts;

  const commit = (
    { camera, comparisonId, held }: Turn,
    state: string,
    commands: readonly RedisCommand[] | null,
  ) =>
    redisCall("saving a camera's turn", () =>
      scripts.sdCommit(
        KEYS.cameraTurn(camera.id),
        KEYS.cameraFrames(camera.id),
        KEYS.cameraTries(camera.id),
        KEYS.camera(camera.id),
        KEYS.comparison(comparisonId),
        held,
        comparisonId,
        state,
        // texts only: Lua would write large numbers with an exponent
        commands === null ? '' : JSON.stringify(commands.map((command) => command.map(String))),
      ),
    );

  return {
    take: (id, { job, token, ttlMs }) =>
      redisCall("taking a camera's turn", async (): Promise<Taken> => {
        const [kind, comparisonId, tries, camera, state] = await scripts.sdTake(
          KEYS.cameraTurn(id),
          KEYS.cameraFrames(id),
          KEYS.cameraTries(id),
          KEYS.camera(id),
          job,
          token,
          ttlMs,
        );
        if (kind !== 'taken') return kind as 'held' | 'empty';
        return {
          camera: JSON.parse(camera),
          state: state === '' ? undefined : JSON.parse(state),
          comparisonId,
          tries,
          held: `${job}:${token}`,
        };
      }),
    renew: ({ camera, held }, ttlMs) =>
      redisCall("renewing a camera's turn", async () => {
        return (await scripts.sdRenew(KEYS.cameraTurn(camera.id), held, ttlMs)) === 1;
      }),
    commit: (turn, { stored, state, also = [] }) =>
      commit(turn, state === undefined ? '' : JSON.stringify(state), [
        ...results.endingWrites(stored),
        ...also,
      ]),
    drop: async (turn) => void (await commit(turn, '', null)),
    release: ({ camera, held }) =>
      redisCall("giving a camera's turn back", () =>
        scripts.sdRelease(KEYS.cameraTurn(camera.id), KEYS.cameraFrames(camera.id), held),
      ),
  };
}
