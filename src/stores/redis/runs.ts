/**
 * Work that has begun: which worker runs an item, and how many workers have died meanwhile, with and without other
 * items. A worker is present while it listens on a channel of its name: its connection ends with its process, whatever
 * ends that.
 */
import type { Redis } from 'ioredis';
import { DAY_MS, HOUR_MS } from '../../base/clock.js';
import { KEYS } from './keys.js';
import { defineScript, redisCall } from './redis.js';

/** Time in which living workers reach a Redis that has started or become the primary: they try every 2 s. */
export const RETURN_S = 10;

/**
 * Lua: whether a worker of this name has gone. A server of Redis that is asked for the first time takes absent workers
 * for living ones for RETURN_S: they may not have reached it yet. The first server of all may be asked at once.
 * `servedSince` is '<id of the server's process>:<seconds of its clock>'.
 */
export const IS_GONE = `
local function isGone(worker)
  if redis.call('PUBSUB', 'NUMSUB', '${KEYS.presence('')}' .. worker)[2] > 0 then return false end
  local server = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  local now = tonumber(redis.call('TIME')[1])
  local known, since = string.match(redis.call('GET', '${KEYS.servedSince}') or server .. ':0', '^(%x+):(%d+)$')
  -- A clock that was set back must not make this server young for as long.
  if known ~= server or tonumber(since) > now then since = now end
  redis.call('SET', '${KEYS.servedSince}', server .. ':' .. since)
  return now - since >= ${RETURN_S}
end`;

/** A lock that a worker loses with its life. KEYS: lock. ARGV: '<worker>:<anything>', lifetime (ms). */
export const TAKE_LOCK = `${IS_GONE}
local held = redis.call('GET', KEYS[1])
if held and not isGone(string.match(held, '^[^:]*')) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/**
 * KEYS: run. ARGV: worker, progress, lifetime (ms), exclusive ('1' or ''), alone ('1' or ''). Returns the deaths and
 * those of them while the item ran alone; -1 and 0 if another worker runs the item and it is exclusive. Deaths before
 * the last progress do not count.
 */
const BEGIN = `${IS_GONE}
local run = redis.call('HMGET', KEYS[1], 'worker', 'progress', 'deaths', 'deathsAlone', 'alone')
local same = run[2] == ARGV[2]
local deaths, deathsAlone = same and tonumber(run[3]) or 0, same and tonumber(run[4]) or 0
if run[1] and run[1] ~= '' and run[1] ~= ARGV[1] then
  if isGone(run[1]) then
    deaths = deaths + 1
    if run[5] == '1' then deathsAlone = deathsAlone + 1 end
  elseif ARGV[4] == '1' then return {-1, 0} end
end
redis.call('HSET', KEYS[1], 'worker', ARGV[1], 'progress', ARGV[2], 'deaths', deaths, 'deathsAlone', deathsAlone,
  'alone', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {deaths, deathsAlone}`;

/** KEYS: run. ARGV: worker, lifetime (ms). The deaths stay, because a job that failed may be tried again. */
const END = `
if redis.call('HGET', KEYS[1], 'worker') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'worker', '')
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** A job that no worker has taken up for so long has been recovered otherwise. */
const KEPT_MS = HOUR_MS;
/** While an item runs, its record must outlive a jump of the clock of Redis by a day. */
const KEPT_RUNNING_MS = 2 * DAY_MS;

/** Workers that died while they ran an item, and those of them that ran nothing else. */
export interface Deaths {
  readonly deaths: number;
  readonly deathsAlone: number;
}

export type RunStore = ReturnType<typeof createRunStore>;

/** @param worker name of this process, which `listen` makes present */
export function createRunStore(redis: Redis, worker: string) {
  const runBegin = defineScript<[deaths: number, alone: number]>(redis, 'sdRunBegin', BEGIN);
  const runEnd = defineScript<number>(redis, 'sdRunEnd', END);
  return {
    worker,
    /** Makes the worker present until the connection ends. @returns how to end it */
    listen: async (): Promise<{ close(): Promise<void> }> => {
      const connection = redis.duplicate();
      // The other connections of this process log an outage.
      connection.on('error', () => {});
      // Notes the first server, so that a later one is known as such.
      await redisCall('presence of a worker', () => redis.eval(`${IS_GONE} return isGone('')`, 0));
      await redisCall('presence of a worker', () => connection.subscribe(KEYS.presence(worker)));
      return { close: async () => connection.disconnect() };
    },
    /**
     * @param options.progress changes whenever the item has gone on
     * @param options.exclusive the item must not run twice at a time
     * @param options.alone no other item runs in this worker meanwhile
     * @returns number of workers that died while they ran the item, since its last progress, and those of them that ran
     * it
     *   alone; undefined: another worker runs it
     */
    begin: (
      item: string,
      {
        progress = '',
        exclusive = false,
        alone = false,
      }: { progress?: string | undefined; exclusive?: boolean; alone?: boolean } = {},
    ): Promise<Deaths | undefined> =>
      redisCall('beginning a job', async () => {
        const flags = [exclusive, alone].map((flag) => (flag ? '1' : ''));
        const [deaths, deathsAlone] = await runBegin([KEYS.run(item)], worker, progress, KEPT_RUNNING_MS, ...flags);
        return deaths < 0 ? undefined : { deaths, deathsAlone };
      }),
    /** @returns whether this worker is the one that runs the item */
    holds: (item: string): Promise<boolean> =>
      redisCall('reading who runs a job', async () => (await redis.hget(KEYS.run(item), 'worker')) === worker),
    end: (item: string): Promise<void> =>
      redisCall('ending a job', async () => void (await runEnd([KEYS.run(item)], worker, KEPT_MS))),
  };
}
