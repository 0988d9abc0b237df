/**
 * A camera's turn: the exclusive right to process the camera's earliest frame. One job holds it at a time, as a lock in
 * Redis.
 *
 * The job that holds the turn is responsible for the next frame: if frames wait after its own, it takes the turn again,
 * or releases it and queues a job for them before it ends. A job that finds the turn held may therefore simply end. If
 * the holder's worker dies, the queue gives the same job id to another worker, which takes the turn over; the earlier
 * holder can save nothing more. Steps that must be atomic are Lua scripts: a kill between two commands leaves all of a
 * step or nothing. A frame takes two of them, because each write waits for the disk of Redis.
 */
import type { Redis } from 'ioredis';
import { systemClock } from '../../base/clock.js';
import { ERROR_TYPE_BASE } from '../../base/errors.js';
import { isoTime } from '../../base/wall-clock.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import type { BaselineEvent, CameraState } from '../../camera/state/state.js';
import type { CameraEvent } from '../../schemas/change.js';
import { changeWrites, type TurnChanges } from '../changes/change-writes.js';
import { visitWrites } from '../changes/visits.js';
import { endingWrites } from '../comparisons/result-writes.js';
import { parseRecord, type StoredComparison } from '../comparisons/stored-comparison.js';
import { createTidying } from '../redis/index-tidying.js';
import { KEYS } from '../redis/keys.js';
import { defineScript, type RedisCommand, redisCall } from '../redis/redis.js';
import { type Deaths, IS_GONE } from '../redis/runs.js';
import { readCameraState, writeCameraState } from './camera-state.js';
import type { FrameFailure } from './cameras.js';
import { fieldOfStill } from './standstills.js';

export interface Turn {
  readonly camera: StoredCamera;
  /** undefined before the first frame */
  readonly state: CameraState | undefined;
  /** the comparison of the earliest waiting frame */
  readonly comparisonId: string;
  /** its record; undefined if it has been erased */
  readonly stored: StoredComparison | undefined;
  /** of the camera since its last frame, oldest first; `commit` removes those that were applied */
  readonly events: readonly (CameraEvent | BaselineEvent)[];
  /** number of this try: from 1; tries that a death or a store ended do not count */
  readonly tries: number;
  /** of workers over the frame */
  readonly deaths: Deaths;
  /** value of the lock; opaque */
  readonly held: string;
}

/** held: by another job. empty: no frame waits. */
type TakeResult = Turn | 'held' | 'empty';

export interface TurnResult {
  /** finished or failed */
  readonly stored: StoredComparison;
  /** undefined: unchanged */
  readonly state?: CameraState;
  readonly changes?: TurnChanges;
}

export type TurnStore = ReturnType<typeof createTurnStore>;

/**
 * How a commit ended. saved: everything. final: the comparison was cancelled or erased meanwhile, so only the frame was
 * removed. lost: another job holds the turn. `more`: frames wait, and the turn is still held; otherwise it is free.
 */
export interface CommitResult {
  readonly kind: 'saved' | 'final' | 'lost';
  readonly more: boolean;
}

/** Whether the frame could be fetched and read: a camera that sends none that can is silent. */
const isPicture = ({ comparison: { error } }: StoredComparison): boolean =>
  error === undefined || !/^(?:image|url)-/.test(error.type.slice(ERROR_TYPE_BASE.length));

/** @returns the field that says why the frame failed; '': it did not */
const fieldOfFailure = ({ comparison, request }: StoredComparison): string => {
  if (comparison.error === undefined) return '';
  const at = isoTime(request.turn?.capturedAt ?? request.acceptedAt);
  return JSON.stringify({ at, error: comparison.error.detail } satisfies FrameFailure);
};

type TakeReply = readonly [
  kind: 'taken' | 'held' | 'empty',
  comparisonId: string,
  tries: number,
  deaths: number,
  deathsAlone: number,
  camera: string,
  state: string,
  record: readonly (string | null)[],
  events: readonly string[],
];

/** KEYS: turn, frames, tries, camera, camera events. ARGV: job, token, ttl (ms), prefix of comparisons, worker. */
const TAKE = `${IS_GONE}
local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 1, #ARGV[1] + 1) ~= ARGV[1] .. ':' then return {'held'} end
local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
local camera, state = unpack(redis.call('HMGET', KEYS[4], 'camera', 'state'))
if not first or not camera then
  redis.call('DEL', KEYS[1])
  return {'empty'}
end
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'PX', ARGV[3])
local by, counted, countedAlone = first .. ':worker', first .. ':deaths', first .. ':deathsAlone'
local begun = redis.call('HMGET', KEYS[3], first, by, counted, countedAlone)
local deaths, deathsAlone = tonumber(begun[3]) or 0, tonumber(begun[4]) or 0
local worker, alone = string.match(begun[2] or '', '^([^!]*)(!?)$')
if worker ~= '' and worker ~= ARGV[5] and isGone(worker) then
  deaths = deaths + 1
  if alone == '!' then deathsAlone = deathsAlone + 1 end
end
redis.call('HSET', KEYS[3], by, ARGV[5], counted, deaths, countedAlone, deathsAlone)
local tries = (tonumber(begun[1]) or 0) + 1
local record = redis.call('HMGET', ARGV[4] .. first, 'comparison', 'frames', 'job')
return {'taken', first, tries, deaths, deathsAlone, camera, state or '', record, redis.call('LRANGE', KEYS[5], 0, -1)}`;

/** KEYS: turn. ARGV: held, ttl (ms). */
const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/**
 * KEYS: turn, frames, tries, camera, comparison.
 * ARGV: held, comparison id, commands as JSON ('' = only remove the frame), then fields of the camera and their values.
 * Returns the kind of a CommitResult, and 1 if frames wait. They are counted in the step that frees the turn, so that
 * none is missed in between.
 */
const COMMIT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'lost', 0} end
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('HDEL', KEYS[3], ARGV[2], ARGV[2] .. ':worker', ARGV[2] .. ':deaths', ARGV[2] .. ':deathsAlone')
local more = redis.call('EXISTS', KEYS[2])
if more == 0 then redis.call('DEL', KEYS[1]) end
if ARGV[3] == '' then return {'final', more} end
local status = redis.call('HGET', KEYS[5], 'status')
if not status or status == 'finished' or status == 'failed' or status == 'cancelled' then return {'final', more} end
redis.call('HSET', KEYS[4], unpack(ARGV, 4))
for _, command in ipairs(cjson.decode(ARGV[3])) do redis.call(unpack(command)) end
return {'saved', more}`;

/** KEYS: turn, frames. ARGV: held. */
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'lost' end
redis.call('DEL', KEYS[1])
if redis.call('ZCARD', KEYS[2]) > 0 then return 'more' end
return 'free'`;

/** KEYS: turn, tries. ARGV: held, comparison id, failed tries. The worker has ended its try. */
const COUNT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('HSET', KEYS[2], ARGV[2], ARGV[3], ARGV[2] .. ':worker', '')`;

/** KEYS: turn, tries. ARGV: held, comparison id, worker. */
const ALONE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('HSET', KEYS[2], ARGV[2] .. ':worker', ARGV[3] .. '!')`;

/** @param options.retentionMs how long a comparison and a change are kept, from their creation and last write. */
export function createTurnStore(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const now = options.now ?? systemClock;
  const isDue = createTidying();
  const runTake = defineScript<TakeReply>(redis, 'sdTake', TAKE);
  const runRenew = defineScript<number>(redis, 'sdRenew', RENEW);
  const runCommit = defineScript<[CommitResult['kind'], 0 | 1]>(redis, 'sdCommit', COMMIT);
  const runCount = defineScript<number>(redis, 'sdCount', COUNT);
  const runAlone = defineScript<number>(redis, 'sdAlone', ALONE);
  const runRelease = defineScript<'free' | 'more' | 'lost'>(redis, 'sdRelease', RELEASE);
  const keysOf = (camera: string) => [
    KEYS.cameraTurn(camera),
    KEYS.cameraFrames(camera),
    KEYS.cameraTries(camera),
    KEYS.camera(camera),
  ];

  const fieldsOf = (turn: Turn, stored: StoredComparison, state: CameraState | undefined) => ({
    state: state === undefined ? undefined : writeCameraState(state),
    seen: isPicture(stored) ? now() : undefined,
    still: state === undefined ? undefined : fieldOfStill(turn.state, state, now()),
    failure: fieldOfFailure(stored),
  });

  /** @param fields of the camera's hash; those that are undefined stay as they are */
  const commit = (
    { camera, comparisonId, held }: Turn,
    fields: Readonly<Record<string, string | number | undefined>>,
    commands: readonly RedisCommand[] | null,
  ): Promise<CommitResult> =>
    redisCall("saving a camera's turn", async () => {
      const [kind, more] = await runCommit(
        [...keysOf(camera.id), KEYS.comparison(comparisonId)],
        held,
        comparisonId,
        // Strings only: Lua would write large numbers with an exponent.
        commands === null ? '' : JSON.stringify(commands.map((command) => command.map(String))),
        ...Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
      );
      return { kind, more: more === 1 };
    });

  return {
    /**
     * @param holder.job id of the queue's job: the same job may take its own turn again.
     * @param holder.token a new text at every call.
     * @param holder.ttlMs how long the turn stays held without `renew`.
     * @param holder.worker name of this process (stores/redis/runs.ts)
     */
    take: (
      id: string,
      { job, token, ttlMs, worker = '' }: { job: string; token: string; ttlMs: number; worker?: string },
    ): Promise<TakeResult> =>
      redisCall("taking a camera's turn", async () => {
        const keys = [...keysOf(id), KEYS.cameraEvents(id)];
        const reply = await runTake(keys, job, token, ttlMs, KEYS.comparison(''), worker);
        const [kind, comparisonId, tries, deaths, deathsAlone, camera, state, record, events] = reply;
        if (kind !== 'taken') return kind;
        return {
          camera: JSON.parse(camera),
          state: readCameraState(state, id),
          comparisonId,
          stored: parseRecord(record),
          events: events.map((json) => JSON.parse(json)),
          tries,
          deaths: { deaths, deathsAlone },
          held: `${job}:${token}`,
        };
      }),
    /** @returns false if the turn was lost: the caller should stop. */
    renew: ({ camera, held }: Turn, ttlMs: number): Promise<boolean> =>
      redisCall("renewing a camera's turn", async () => {
        return (await runRenew([KEYS.cameraTurn(camera.id)], held, ttlMs)) === 1;
      }),
    /** Saves everything or nothing, and removes the frame from the waiting ones. Frees the turn if it was the last. */
    commit: (turn: Turn, { stored, state, changes }: TurnResult): Promise<CommitResult> =>
      commit(turn, fieldsOf(turn, stored, state), [
        ...endingWrites(stored, now(), { retentionMs: options.retentionMs, isDue }),
        ...(changes === undefined ? [] : changeWrites(changes, now(), options.retentionMs)),
        ...visitWrites(changes?.visits ?? [], now(), options.retentionMs),
      ]),
    /** As `commit`, without saving a comparison. */
    drop: (turn: Turn): Promise<CommitResult> => commit(turn, {}, null),
    /** Ends a try that did not end the frame. @param failed tries of the frame that have failed, this one included */
    count: async ({ camera, comparisonId, held }: Turn, failed: number): Promise<void> =>
      redisCall("counting a camera's tries", async () => {
        const keys = [KEYS.cameraTurn(camera.id), KEYS.cameraTries(camera.id)];
        await runCount(keys, held, comparisonId, failed);
      }),
    /** Notes that the worker runs nothing but this frame from now on. */
    alone: async ({ camera, comparisonId, held }: Turn, worker: string): Promise<void> =>
      redisCall("beginning a camera's frame alone", async () => {
        await runAlone([KEYS.cameraTurn(camera.id), KEYS.cameraTries(camera.id)], held, comparisonId, worker);
      }),
    /**
     * Gives the turn back.
     * @returns more: frames wait, so the caller must queue another job. lost: another job holds the turn.
     */
    release: ({ camera, held }: Turn) =>
      redisCall("releasing a camera's turn", () =>
        runRelease([KEYS.cameraTurn(camera.id), KEYS.cameraFrames(camera.id)], held),
      ),
  };
}
