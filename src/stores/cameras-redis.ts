/** Cameras in Redis: a hash each, and a sorted set of those that wait beside it. */
import type { Redis } from 'ioredis';
import { KEYS } from '../jobs/payloads.js';
import { type CameraStore, maskOf, type StoredCamera } from './cameras.js';
import { redisCall } from './redis.js';

const parsed = <T>(json: string | null): T | undefined =>
  json === null ? undefined : (JSON.parse(json) as T);

export function createRedisCameraStore(redis: Redis): CameraStore {
  const read = async (ids: readonly string[]): Promise<StoredCamera[]> => {
    if (ids.length === 0) return [];
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.hget(KEYS.camera(id), 'camera');
    return ((await pipeline.exec()) ?? []).flatMap(([error, json]) => {
      if (error !== null) throw error;
      // erased between the two reads
      return parsed<StoredCamera>(json as string | null) ?? [];
    });
  };
  const get: CameraStore['get'] = (id) => redisCall('reading a camera', async () => (await read([id]))[0]);

  return {
    get,
    put: (camera) =>
      redisCall('saving a camera', async () => {
        const replies = await redis
          .multi()
          .zadd(KEYS.cameras, 0, camera.id)
          .hset(KEYS.camera(camera.id), 'camera', JSON.stringify(camera))
          .exec();
        return replies?.[0]?.[1] === 1;
      }),
    list: ({ after, limit }) =>
      redisCall('listing cameras', async () => {
        const from = after === undefined ? '-' : `(${after}`;
        return read(await redis.zrangebylex(KEYS.cameras, from, '+', 'LIMIT', 0, limit));
      }),
    maskOf: async (id) => {
      const camera = id === null ? undefined : await get(id);
      return camera === undefined ? null : maskOf(camera);
    },
    state: (id) =>
      redisCall("reading a camera's state", async () => parsed(await redis.hget(KEYS.camera(id), 'state'))),
    snapshot: (id) =>
      redisCall("reading a camera's snapshot", async () =>
        parsed(await redis.hget(KEYS.camera(id), 'snapshot')),
      ),
    saveSnapshot: (id, outcome) =>
      redisCall("saving a camera's snapshot", async () => {
        await redis.eval(SAVE_IF_THERE, 1, KEYS.camera(id), 'snapshot', JSON.stringify(outcome));
      }),
    beginPull: (id, token, ttlMs) =>
      redisCall('beginning a snapshot pull', async () => {
        return (await redis.set(KEYS.cameraPull(id), token, 'PX', ttlMs, 'NX')) === 'OK';
      }),
    endPull: (id, token) =>
      redisCall('ending a snapshot pull', async () => {
        await redis.eval(DELETE_IF_SAME, 1, KEYS.cameraPull(id), token);
      }),
    framesErasedUntil: (id) =>
      redisCall("reading a camera's retention", async () =>
        Number(await redis.hget(KEYS.camera(id), 'framesErased')),
      ),
    saveFramesErasedUntil: (id, until) =>
      redisCall("saving a camera's retention", async () => {
        await redis.eval(SAVE_IF_THERE, 1, KEYS.camera(id), 'framesErased', until);
      }),
    addFrame: (id, comparisonId, capturedAt) =>
      redisCall('adding a frame', async () => {
        const keys = [KEYS.camera(id), KEYS.cameraFrames(id)];
        return (await redis.eval(ADD_IF_THERE, keys.length, ...keys, capturedAt, comparisonId)) === 1;
      }),
    waitingFrames: (id) => redisCall('counting frames', () => redis.zcard(KEYS.cameraFrames(id))),
    erase: (id) =>
      redisCall('erasing a camera', async () => {
        const replies = await redis
          .multi()
          .zrem(KEYS.cameras, id)
          .del(KEYS.camera(id), KEYS.cameraFrames(id), KEYS.cameraTries(id), KEYS.cameraTurn(id))
          .del(KEYS.cameraPull(id))
          .exec();
        return replies?.[0]?.[1] === 1;
      }),
  };
}

/** An erased camera does not come back as a hash of one field. */
const SAVE_IF_THERE = `
if redis.call('HEXISTS', KEYS[1], 'camera') == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1`;

/** Nor does a frame that was on its way wait for it for ever. KEYS: camera, frames. ARGV: captured at (ms), comparison id. */
const ADD_IF_THERE = `
if redis.call('HEXISTS', KEYS[1], 'camera') == 0 then return 0 end
redis.call('ZADD', KEYS[2], ARGV[1], ARGV[2])
return 1`;

const DELETE_IF_SAME = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;
