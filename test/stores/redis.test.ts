import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../src/logger.js';
import { connectRedis, redisCall } from '../../src/stores/redis.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

const logger = createLogger({ level: 'silent', name: 'test' });
let server: TestRedis;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

describe('connectRedis', () => {
  it('gives a consumer the answer after Redis was killed and came back, and keeps what was acknowledged', async () => {
    const redis = connectRedis(server.url, { role: 'consumer', logger });
    await redis.set('kept', '1');
    await server.kill9();
    const waiting = redis.get('kept');
    await server.restart();
    expect(await waiting).toBe('1');
    redis.disconnect();
  });

  it('gives a producer queue-unavailable at once while Redis is away', async () => {
    const redis = connectRedis('unix:///nonexistent/redis.sock', { role: 'producer', logger });
    await expect(redisCall('test', () => redis.get('x'))).rejects.toMatchObject({
      name: 'ScenedeltaError',
      code: 'queue-unavailable',
    });
    redis.disconnect();
  });

  it('passes on a reply that tells of a bug', async () => {
    const redis = connectRedis(server.url, { role: 'consumer', logger });
    await redis.set('text', 'x');
    await expect(redisCall('test', () => redis.hgetall('text'))).rejects.toMatchObject({
      name: 'ReplyError',
    });
    redis.disconnect();
  });

  it('turns a full Redis into queue-unavailable', async () => {
    const redis = connectRedis(server.url, { role: 'consumer', logger });
    await redis.config('SET', 'maxmemory', '1');
    await expect(redisCall('test', () => redis.set('big', 'x'))).rejects.toMatchObject({
      code: 'queue-unavailable',
    });
    await redis.config('SET', 'maxmemory', '0');
    redis.disconnect();
  });

  it.each(['localhost:6379', '/tmp/redis.sock', 'http://x', 'unix://relative.sock', ''])(
    'refuses the address %j and says what it expects',
    (url) => {
      expect(() => connectRedis(url, { role: 'producer', logger })).toThrow(
        /REDIS_URL=.*expected redis:\/\//,
      );
    },
  );
});
