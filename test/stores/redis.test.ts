import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { createLogger } from '../../src/process/logger.js';
import { connectRedis, redisCall } from '../../src/stores/redis/redis.js';
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

  it.each([
    ['a connection', (redis: Redis) => redis],
    ['one duplicated from it', (redis: Redis) => redis.duplicate()],
  ])('connects %s again if a failover is announced while it connects, until it is closed', async (_name, of) => {
    const first = connectRedis(server.url, { role: 'consumer', logger });
    const redis = of(first);
    await redis.ping();
    const ended = new Promise((done) => redis.once('end', done));
    // The detector of ioredis, which listens to the sentinels, closes the connector under the connection.
    const { connector } = redis as unknown as { connector: { disconnect(): void } };
    redis.once('connecting', () => connector.disconnect());
    redis.disconnect(true);
    await ended;
    expect(await redis.ping()).toBe('PONG');
    const closed = new Promise((done) => redis.once('end', done));
    redis.disconnect();
    first.disconnect();
    await closed;
    expect(redis.status).toBe('end');
  });

  it('gives a producer queue-unavailable at once while Redis is away', async () => {
    const redis = connectRedis('unix:///nonexistent/redis.sock', { role: 'producer', logger });
    await expect(redisCall('test', () => redis.get('x'))).rejects.toMatchObject({
      name: 'ScenedeltaError',
      code: 'queue-unavailable',
    });
    redis.disconnect();
  });

  it('throws on a reply that is caused by a bug', async () => {
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
    const writes: [string, () => Promise<unknown>][] = [
      ['a command', () => redis.set('big', 'x')],
      ['a transaction', () => redis.multi().incr('big').expire('big', 10).exec()],
      ['a script', () => redis.eval("return redis.call('SET', KEYS[1], 'x')", 1, 'big')],
    ];
    const codes: unknown[] = [];
    for (const [what, write] of writes) {
      codes.push([what, await redisCall('test', write).catch((thrown) => thrown.code)]);
    }
    await redis.config('SET', 'maxmemory', '0');
    redis.disconnect();
    expect(codes).toEqual(writes.map(([what]) => [what, 'queue-unavailable']));
  });

  it.each([
    [
      "ERR Error running script (call to f_0a): @user_script:3: @user_script: 3: -OOM command not allowed when used memory > 'maxmemory'. ",
      'queue-unavailable',
    ],
    [
      'EXECABORT Transaction discarded because of: MISCONF Redis is configured to save RDB snapshots',
      'queue-unavailable',
    ],
    ['ERR Error running script (call to f_0a): @user_script:3: WRONGTYPE Operation against a key', 'ReplyError'],
    ['EXECABORT Transaction discarded because of previous errors.', 'ReplyError'],
  ])('knows of the reply %j whether Redis cannot serve or we are wrong', async (message, expected) => {
    const reply = Object.assign(new Error(message), { name: 'ReplyError', previousErrors: [] });
    const thrown = await redisCall('test', () => Promise.reject(reply)).catch((err) => err);
    expect(thrown.code ?? thrown.name).toBe(expected);
  });

  it.each(['localhost:6379', '/tmp/redis.sock', 'http://x', 'unix://relative.sock', ''])(
    'refuses the address %j and says what it expects',
    (url) => {
      expect(() => connectRedis(url, { role: 'producer', logger })).toThrow(/REDIS_URL=.*expected redis:\/\//);
    },
  );
});
