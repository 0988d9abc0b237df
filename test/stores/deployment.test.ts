/** Processes on one Redis that cannot work with each other: another store of frames, records of another version. */
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { ScenedeltaError } from '../../src/base/errors.js';
import { VERSION } from '../../src/base/version.js';
import { MemoryBlobs } from '../../src/footage/run/memory-blobs.js';
import { createLogger } from '../../src/process/logger.js';
import { createDeployment } from '../../src/stores/redis/deployment.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, { role: 'consumer', logger: createLogger({ level: 'silent', name: 'test' }) });
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const never = () => {
  throw new Error('the frames are there');
};

it('lets a worker begin before any API, and with the frames of the API', async () => {
  const blobs = new MemoryBlobs();
  await createDeployment(redis, blobs).untilVisible(never);
  await createDeployment(redis, blobs).announce();
  await createDeployment(redis, blobs).untilVisible(never);
});

it('makes a worker wait whose store has not the frames of the API, until it has', async () => {
  const [ofApi, ofWorker] = [new MemoryBlobs(), new MemoryBlobs()];
  await createDeployment(redis, ofApi).announce();
  let said = 0;
  await createDeployment(redis, {
    put: ofWorker.put.bind(ofWorker),
    get: (key) => (said === 0 ? ofWorker : ofApi).get(key),
  }).untilVisible(() => said++);
  expect(said).toBe(1);
});

it('marks a new store of frames again when the API starts with it', async () => {
  await createDeployment(redis, new MemoryBlobs()).announce();
  const blobs = new MemoryBlobs();
  await createDeployment(redis, blobs).announce();
  await createDeployment(redis, blobs).untilVisible(never);
});

it.each([2, 4])(
  'refuses records of format %j in one line that says what to do, for API and workers',
  async (format) => {
    const blobs = new MemoryBlobs();
    await createDeployment(redis, blobs, format).announce();
    const refusal = {
      code: 'invalid-request',
      message:
        `Redis has records of version ${VERSION} (format ${format}); version ${VERSION} reads format 3: ` +
        `install ${VERSION}, or start with an empty Redis and an empty DATA_DIR`,
    };
    await expect(createDeployment(redis, blobs).announce()).rejects.toMatchObject(refusal);
    await expect(createDeployment(redis, blobs).untilVisible(never)).rejects.toMatchObject(refusal);
  },
);

it('announces when the store takes it, and leaves an unreachable one to the guard of the jobs', async () => {
  const blobs = new MemoryBlobs();
  const away = new ScenedeltaError('storage-unavailable', 'away');
  let tries = 0;
  const late = {
    get: () => Promise.reject(away),
    put: async (key: string, bytes: Uint8Array) => {
      if (tries++ === 0) throw away;
      await blobs.put(key, bytes);
    },
  };
  await createDeployment(redis, late).announce();
  expect(tries).toBe(2);
  await createDeployment(redis, late).untilVisible(never);
});
