/**
 * Cameras: settings, the state between two frames, and the frames that wait for their turn.
 * One Redis hash per camera, with a sorted set of waiting frames beside it.
 */
import type { Redis } from 'ioredis';
import { notFound, type ScenedeltaError } from '../../base/errors.js';
import type { PrivacyMask } from '../../base/privacy-mask.js';
import { maskOf, type StoredCamera } from '../../camera/settings/camera.js';
import type { BaselineEvent, CameraState } from '../../camera/state/state.js';
import { CAMERA_EVENTS_KEPT, KEYS } from '../redis/keys.js';
import { defineScript, parsedField, redisCall, repliesOf } from '../redis/redis.js';
import { TAKE_LOCK } from '../redis/runs.js';
import { seesCamera, type Visibility } from '../redis/visibility.js';
import { readCameraState } from './camera-state.js';

export const noCamera = (id: string): ScenedeltaError =>
  notFound(`There is no camera ${id}: set it up with PUT /v1/cameras/${id}`);

/** How the last snapshot pull ended. */
export interface SnapshotOutcome {
  readonly at: string;
  /** null: it brought a frame */
  readonly error: string | null;
}

/** Why the camera's last frame failed. */
export interface FrameFailure {
  /** capture time */
  readonly at: string;
  readonly error: string;
}

export interface CameraRecord {
  readonly camera: StoredCamera;
  /** undefined before the first frame */
  readonly state: CameraState | undefined;
  /** undefined before the first snapshot */
  readonly snapshot: SnapshotOutcome | undefined;
  /** undefined: the last frame did not fail */
  readonly failure: FrameFailure | undefined;
}

export type CameraStore = ReturnType<typeof createCameraStore>;

export interface CameraQuery {
  readonly cursor?: string;
  readonly limit: number;
  /** default: everything */
  readonly visibility?: Visibility;
}

/** Cameras that are read at once, and ids, which are short. */
const [PAGE, IDS_AT_ONCE] = [100, 1_000] as const;

const cameraOf = parsedField<StoredCamera>;

/** All methods throw ScenedeltaError 'queue-unavailable' if Redis is away. */
export function createCameraStore(redis: Redis) {
  const read = async (ids: readonly string[]): Promise<StoredCamera[]> => {
    if (ids.length === 0) return [];
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.hget(KEYS.camera(id), 'camera');
    // A camera may have been erased between the two reads.
    return repliesOf<string | null>(await pipeline.exec()).flatMap((json) => cameraOf(json) ?? []);
  };
  const field = <T>(what: string, id: string, name: string): Promise<T | undefined> =>
    redisCall(what, async () => parsedField<T>(await redis.hget(KEYS.camera(id), name)));
  const saveField = (what: string, id: string, name: string, value: string | number): Promise<void> =>
    redisCall(what, async () => void (await redis.eval(SAVE_IF_THERE, 1, KEYS.camera(id), name, value)));
  const get = (id: string) => field<StoredCamera>('reading a camera', id, 'camera');
  const runAddFrame = defineScript<number>(redis, 'sdAddFrame', ADD_IF_THERE);
  const idsAfter = (after: string | undefined, limit: number): Promise<string[]> =>
    redis.zrangebylex(KEYS.cameras, after === undefined ? '-' : `(${after}`, '+', 'LIMIT', 0, limit);

  return {
    get,
    /** @returns whether the camera is new. */
    put: (camera: StoredCamera): Promise<boolean> =>
      redisCall('saving a camera', async () => {
        const replies = await redis
          .multi()
          .zadd(KEYS.cameras, 0, camera.id)
          .hset(KEYS.camera(camera.id), 'camera', JSON.stringify(camera))
          .exec();
        return replies?.[0]?.[1] === 1;
      }),
    /**
     * Alters a camera, also while another request replaces its settings.
     * @param alter returns the camera to store, or the same one if nothing is to be altered; it may be called again
     * @returns the camera afterwards, undefined if there is none. @throws also what `alter` throws
     */
    alter: async (
      id: string,
      alter: (camera: StoredCamera) => StoredCamera | Promise<StoredCamera>,
    ): Promise<StoredCamera | undefined> => {
      for (;;) {
        const json = await redisCall('reading a camera', () => redis.hget(KEYS.camera(id), 'camera'));
        const camera = cameraOf(json);
        if (json === null || camera === undefined) return undefined;
        const altered = await alter(camera);
        if (altered === camera) return camera;
        const saved = await redisCall('altering a camera', () =>
          redis.eval(REPLACE_IF_SAME, 1, KEYS.camera(id), json, JSON.stringify(altered)),
        );
        if (saved === 1) return altered;
      }
    },
    /**
     * One page of the visible cameras, ordered by id.
     * @param query.cursor the id of the last camera of the page before
     */
    list: ({ cursor, limit, visibility = 'everything' }: CameraQuery) =>
      redisCall('listing cameras', async () => {
        const ids: string[] = [];
        for (let after = cursor; ids.length <= limit; ) {
          const some = await idsAfter(after, IDS_AT_ONCE);
          ids.push(...some.filter((id) => seesCamera(visibility, id)));
          after = some.at(-1);
          if (after === undefined) break;
        }
        const shown = ids.slice(0, limit);
        const nextCursor = ids.length > limit ? (shown.at(-1) ?? null) : null;
        return { items: await read(shown), nextCursor };
      }),
    /** All visible cameras with their states, ordered by id. */
    records: (visibility: Visibility): Promise<CameraRecord[]> =>
      redisCall('reading cameras', async () => {
        const found: CameraRecord[] = [];
        for (let after: string | undefined; ; ) {
          const ids = await idsAfter(after, PAGE);
          const pipeline = redis.pipeline();
          for (const id of ids.filter((one) => seesCamera(visibility, one))) {
            pipeline.hmget(KEYS.camera(id), 'camera', 'state', 'snapshot', 'failure');
          }
          for (const [json, state = null, snapshot, failure] of repliesOf<(string | null)[]>(await pipeline.exec())) {
            const camera = cameraOf(json);
            if (camera === undefined) continue;
            found.push({
              camera,
              state: readCameraState(state, camera.id),
              snapshot: parsedField<SnapshotOutcome>(snapshot),
              failure: parsedField<FrameFailure>(failure),
            });
          }
          after = ids.at(-1);
          if (after === undefined) return found;
        }
      }),
    /** Every camera, ordered by id. */
    async *all(): AsyncGenerator<StoredCamera> {
      for (let after: string | undefined; ; ) {
        const ids = await redisCall('listing cameras', () => idsAfter(after, PAGE));
        yield* await redisCall('reading cameras', () => read(ids));
        after = ids.at(-1);
        if (after === undefined) return;
      }
    },
    /** @returns null if the camera does not exist or has no privacy zones. */
    maskOf: async (id: string | null): Promise<PrivacyMask | null> => {
      const camera = id === null ? undefined : await get(id);
      return camera === undefined ? null : maskOf(camera);
    },
    state: (id: string) =>
      redisCall("reading a camera's state", async () =>
        readCameraState(await redis.hget(KEYS.camera(id), 'state'), id),
      ),
    snapshot: (id: string) => field<SnapshotOutcome>("reading a camera's snapshot", id, 'snapshot'),
    failure: (id: string) => field<FrameFailure>("reading a camera's failure", id, 'failure'),
    saveSnapshot: (id: string, outcome: SnapshotOutcome) =>
      saveField("saving a camera's snapshot", id, 'snapshot', JSON.stringify(outcome)),
    /**
     * Begins a snapshot pull unless another is under way.
     * @param token '<worker>:<anything>': a pull whose worker has gone is replaced
     * @param ttlMs longer than a pull takes.
     * @returns whether it began.
     */
    beginPull: (id: string, token: string, ttlMs: number): Promise<boolean> =>
      redisCall('beginning a snapshot pull', async () => {
        return (await redis.eval(TAKE_LOCK, 1, KEYS.cameraPull(id), token, ttlMs)) === 1;
      }),
    /** Does nothing if the pull now belongs to another token. */
    endPull: (id: string, token: string): Promise<void> =>
      redisCall('ending a snapshot pull', async () => {
        await redis.eval(DELETE_IF_SAME, 1, KEYS.cameraPull(id), token);
      }),
    /**
     * @returns epoch ms before which comparisons have lost their frames by the camera's own retention; 0 if none have.
     */
    framesErasedUntil: async (id: string): Promise<number> =>
      (await field<number>("reading a camera's retention", id, 'framesErased')) ?? 0,
    saveFramesErasedUntil: (id: string, until: number) =>
      saveField("saving a camera's retention", id, 'framesErased', until),
    /**
     * Adds a comparison to the waiting frames; idempotent.
     * @param capturedAt epoch ms.
     * @returns whether the camera exists.
     */
    addFrame: (id: string, comparisonId: string, capturedAt: number): Promise<boolean> =>
      redisCall('adding a frame', async () => {
        return (await runAddFrame([KEYS.camera(id), KEYS.cameraFrames(id)], capturedAt, comparisonId)) === 1;
      }),
    waitingFrames: (id: string): Promise<number> =>
      redisCall('counting frames', () => redis.zcard(KEYS.cameraFrames(id))),
    /** @returns whether the camera exists. */
    orderBaseline: (id: string, event: BaselineEvent): Promise<boolean> =>
      redisCall("replacing a camera's baseline", async () => {
        const keys = [KEYS.camera(id), KEYS.cameraEvents(id)];
        return (await redis.eval(ADD_EVENT_IF_THERE, keys.length, ...keys, JSON.stringify(event))) === 1;
      }),
    /**
     * Erases settings, state and waiting frames. A turn under way can no longer be saved.
     * @returns whether the camera existed.
     */
    erase: (id: string): Promise<boolean> =>
      redisCall('erasing a camera', async () => {
        const replies = await redis
          .multi()
          .zrem(KEYS.cameras, id)
          .del(KEYS.camera(id), KEYS.cameraFrames(id), KEYS.cameraTries(id), KEYS.cameraTurn(id))
          .del(KEYS.cameraPull(id), KEYS.cameraUnseen(id))
          .exec();
        return replies?.[0]?.[1] === 1;
      }),
  };
}

/** Does not bring an erased camera back as a hash of one field. */
const SAVE_IF_THERE = `
if redis.call('HEXISTS', KEYS[1], 'camera') == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1`;

/** KEYS: camera. ARGV: its settings as they were read, and the new ones. */
const REPLACE_IF_SAME = `
if redis.call('HGET', KEYS[1], 'camera') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'camera', ARGV[2])
return 1`;

/** Does not let a frame wait for an erased camera. KEYS: camera, frames. ARGV: captured at (ms), comparison id. */
const ADD_IF_THERE = `
if redis.call('HEXISTS', KEYS[1], 'camera') == 0 then return 0 end
redis.call('ZADD', KEYS[2], ARGV[1], ARGV[2])
return 1`;

/** KEYS: camera, camera events. ARGV: event. */
const ADD_EVENT_IF_THERE = `
if redis.call('HEXISTS', KEYS[1], 'camera') == 0 then return 0 end
redis.call('RPUSH', KEYS[2], ARGV[1])
redis.call('LTRIM', KEYS[2], -${CAMERA_EVENTS_KEPT}, -1)
return 1`;

const DELETE_IF_SAME = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;
