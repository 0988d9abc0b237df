/** API keys in Redis: one hash, a field a key. Only the secret's SHA-256 is kept. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import { newId } from '../ids.js';
import { KEYS } from '../jobs/payloads.js';
import type { ApiKey, ApiKeyStore } from './api-keys.js';
import { redisCall } from './redis.js';

interface StoredKey extends Omit<ApiKey, 'lastUsedAt'> {
  /** SHA-256 of the secret, hex */
  readonly hash: string;
}

/** sd_<random part of the key's id>_<32 random bytes> */
const SECRET = /^sd_([0-9a-z]{26})_[A-Za-z0-9_-]{43}$/;
/** `lastUsedAt` is this exact: a write a request would cost more than the knowledge is worth. */
const LAST_USED_EXACT_TO_MS = 60_000;
const usedField = (id: string): string => `${id}:used`;

export function createRedisApiKeyStore(redis: Redis, options: { now?: () => number } = {}): ApiKeyStore {
  const now = options.now ?? Date.now;
  const lastWritten = new Map<string, number>();

  const markUsed = (id: string) => {
    const at = now();
    if (at - (lastWritten.get(id) ?? Number.NEGATIVE_INFINITY) < LAST_USED_EXACT_TO_MS) return;
    lastWritten.set(id, at);
    // only book-keeping: a request is not refused because it could not be written
    redis.hset(KEYS.apiKeys, usedField(id), new Date(at).toISOString()).catch(() => lastWritten.delete(id));
  };

  return {
    create: (name, scopes) =>
      redisCall('creating an API key', async () => {
        const id = newId('key', now());
        const secret = `sd_${id.slice('key_'.length)}_${randomBytes(32).toString('base64url')}`;
        const key = { id, name, scopes, createdAt: new Date(now()).toISOString() };
        await redis.hset(KEYS.apiKeys, id, JSON.stringify({ ...key, hash: sha256(secret).toString('hex') }));
        return { key: { ...key, lastUsedAt: null }, secret };
      }),
    list: () =>
      redisCall('listing API keys', async () => {
        const all = await redis.hgetall(KEYS.apiKeys);
        return Object.entries(all)
          .filter(([field]) => !field.endsWith(':used'))
          .map(([id, json]) => publicKey(JSON.parse(json), all[usedField(id)]))
          .sort((a, b) => a.id.localeCompare(b.id));
      }),
    revoke: (id) =>
      redisCall('revoking an API key', async () => {
        // the key and its mark separately: the count says whether the key itself was there
        const existed = await redis.hdel(KEYS.apiKeys, id);
        await redis.hdel(KEYS.apiKeys, usedField(id));
        return existed === 1;
      }),
    authenticate: (secret) =>
      redisCall('checking an API key', async () => {
        const part = SECRET.exec(secret)?.[1];
        if (part === undefined) return undefined;
        const id = `key_${part}`;
        const [json, used] = await redis.hmget(KEYS.apiKeys, id, usedField(id));
        if (json == null) return undefined;
        const stored = JSON.parse(json) as StoredKey;
        if (!timingSafeEqual(sha256(secret), Buffer.from(stored.hash, 'hex'))) return undefined;
        markUsed(id);
        return publicKey(stored, used);
      }),
  };
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

const publicKey = ({ hash: _kept, ...key }: StoredKey, used: string | null | undefined): ApiKey => ({
  ...key,
  lastUsedAt: used ?? null,
});
