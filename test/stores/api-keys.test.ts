import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { createLogger } from '../../src/process/logger.js';
import { createApiKeyStore } from '../../src/stores/redis/api-keys.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

const logger = createLogger({ level: 'silent', name: 'test' });
let server: TestRedis;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, { role: 'consumer', logger });
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

describe('API keys', () => {
  it('authenticate with the secret that creation gave, and only with it', async () => {
    const keys = createApiKeyStore(redis);
    const { key, secret } = await keys.create({ name: 'gate', scopes: ['compare'] });
    expect(secret).toMatch(/^sd_[0-9a-z]{26}_[A-Za-z0-9_-]{43}$/);
    expect(await keys.authenticate(secret)).toMatchObject({ id: key.id, name: 'gate', scopes: ['compare'] });
    const flipped = secret.slice(0, -2) + (secret.at(-2) === 'A' ? 'B' : 'A') + secret.at(-1);
    for (const wrong of ['', 'sd_', flipped, `${secret}x`, secret.toUpperCase(), key.id]) {
      expect(await keys.authenticate(wrong)).toBeUndefined();
    }
  });

  it('keep neither the secret nor a part of it', async () => {
    const { secret } = await createApiKeyStore(redis).create({ name: 'gate', scopes: ['admin'] });
    expect(JSON.stringify(await redis.hgetall(KEYS.apiKeys))).not.toContain(secret.slice(-43));
  });

  it('lets one use of a signed token through, and drops the mark when the token would have expired', async () => {
    const keys = createApiKeyStore(redis);
    expect(await keys.isSpent('token')).toBe(false);
    expect(await Promise.all([keys.spend('token', 60_000), keys.spend('token', 60_000)])).toEqual([true, false]);
    expect(await keys.isSpent('token')).toBe(true);
    const [mark = ''] = await redis.keys('sd:spent:*');
    expect(mark).not.toContain('token');
    expect(await redis.pttl(mark)).toBeGreaterThan(0);
  });

  it('are listed by age without their hashes, and stop working once revoked', async () => {
    let now = Date.now();
    const keys = createApiKeyStore(redis, { now: () => now++ });
    const first = await keys.create({ name: 'first', scopes: ['compare'] });
    const second = await keys.create({ name: 'second', scopes: ['compare', 'admin'] });
    expect(await keys.list()).toEqual([first.key, second.key]);
    expect(await keys.revoke(first.key.id)).toBe(true);
    expect(await keys.revoke(first.key.id)).toBe(false);
    expect(await keys.authenticate(first.secret)).toBeUndefined();
    expect(await keys.list()).toEqual([second.key]);
  });

  it('have an owner and cameras: by default their own id and none', async () => {
    const keys = createApiKeyStore(redis);
    const scopes = ['compare'] as const;
    const plain = await keys.create({ name: 'plain', scopes });
    const scoped = await keys.create({ name: 'scoped', scopes, owner: 'police', cameras: ['gate-*'] });
    expect(await keys.authenticate(plain.secret)).toMatchObject({ owner: plain.key.id, cameras: [] });
    expect(await keys.authenticate(scoped.secret)).toMatchObject({ owner: 'police', cameras: ['gate-*'] });
  });

  it('store the time of their last use, to the minute', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const keys = createApiKeyStore(redis, { now: () => now });
    const { secret } = await keys.create({ name: 'gate', scopes: ['compare'] });
    const used = async (at: string) => {
      now = Date.parse(at);
      await keys.authenticate(secret);
      await redis.ping(); // the mark was sent before this command
      return (await keys.list())[0]?.lastUsedAt;
    };
    expect(await used('2026-01-01T00:00:00Z')).toBe('2026-01-01T00:00:00.000Z');
    expect(await used('2026-01-01T00:00:59Z')).toBe('2026-01-01T00:00:00.000Z');
    expect(await used('2026-01-01T00:01:00Z')).toBe('2026-01-01T00:01:00.000Z');
  });
});
