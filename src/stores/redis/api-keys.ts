/**
 * API keys: one Redis hash with a field per key. Only the SHA-256 of a secret is kept (128+ random bits need no slow
 * hash).
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import { systemClock } from '../../base/clock.js';
import { newId } from '../../base/ids.js';
import { KEYS } from './keys.js';
import { redisCall } from './redis.js';
import type { Scope } from './scopes.js';

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** as stored: a later version may have written scopes that this one does not know */
  readonly scopes: readonly string[];
  /** the comparisons of one owner are visible to all keys of that owner; by default the id of the key */
  readonly owner: string;
  /** ids of the cameras that the key may use, each possibly with a '*' at its end */
  readonly cameras: readonly string[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

/** The properties that the maker of a key chooses. */
export interface NewKey extends Pick<ApiKey, 'name'> {
  readonly scopes: readonly Scope[];
  readonly owner?: string;
  /** default: none */
  readonly cameras?: readonly string[];
}

interface StoredKey extends Omit<ApiKey, 'lastUsedAt' | 'owner'> {
  /** SHA-256 of the secret, hexadecimal */
  readonly hash: string;
  /** undefined: the key is its own owner */
  readonly owner?: string;
}

export type ApiKeyStore = ReturnType<typeof createApiKeyStore>;

/** sd_<random part of the key's id>_<32 random bytes in base64url> */
const SECRET = /^sd_([0-9a-z]{26})_[A-Za-z0-9_-]{43}$/;
/** The precision of `lastUsedAt`: one write per request would be too expensive. */
const LAST_USED_PRECISION_MS = 60_000;
const usedField = (id: string): string => `${id}:used`;

export function createApiKeyStore(redis: Redis, options: { now?: () => number } = {}) {
  const now = options.now ?? systemClock;
  const lastWritten = new Map<string, number>();

  const markUsed = (id: string) => {
    const at = now();
    if (at - (lastWritten.get(id) ?? Number.NEGATIVE_INFINITY) < LAST_USED_PRECISION_MS) return;
    lastWritten.set(id, at);
    // A request is not refused because this bookkeeping failed.
    redis.hset(KEYS.apiKeys, usedField(id), new Date(at).toISOString()).catch(() => lastWritten.delete(id));
  };

  return {
    /** @returns the key and its secret. The secret is not stored, so this is the only time it can be read. */
    create: ({ cameras = [], ...chosen }: NewKey): Promise<{ key: ApiKey; secret: string }> =>
      redisCall('creating an API key', async () => {
        const id = newId('key', now());
        const secret = `sd_${id.slice('key_'.length)}_${randomBytes(32).toString('base64url')}`;
        const hash = hashOf(secret);
        const stored = { id, ...chosen, cameras, createdAt: new Date(now()).toISOString(), hash };
        await redis.hset(KEYS.apiKeys, id, JSON.stringify(stored satisfies StoredKey));
        return { key: publicKey(stored, null), secret };
      }),
    /** @returns all keys, oldest first. */
    list: (): Promise<ApiKey[]> =>
      redisCall('listing API keys', async () => {
        const all = await redis.hgetall(KEYS.apiKeys);
        return Object.entries(all)
          .filter(([field]) => !field.endsWith(':used'))
          .map(([id, json]) => publicKey(JSON.parse(json), all[usedField(id)]))
          .sort((a, b) => a.id.localeCompare(b.id));
      }),
    /** @returns whether there are no keys. */
    isEmpty: (): Promise<boolean> => redisCall('counting API keys', async () => (await redis.hlen(KEYS.apiKeys)) === 0),
    /** @returns whether the key existed. */
    revoke: (id: string): Promise<boolean> =>
      redisCall('revoking an API key', async () => {
        // Two calls, so that the count shows whether the key itself existed.
        const existed = await redis.hdel(KEYS.apiKeys, id);
        await redis.hdel(KEYS.apiKeys, usedField(id));
        return existed === 1;
      }),
    /** @returns undefined if there is no such key, or not any more. */
    get: (id: string): Promise<ApiKey | undefined> =>
      redisCall('reading an API key', async () => {
        const [json, used] = await redis.hmget(KEYS.apiKeys, id, usedField(id));
        return json == null ? undefined : publicKey(JSON.parse(json), used);
      }),
    /** Compares in constant time. @returns undefined if the secret is unknown. */
    authenticate: (secret: string): Promise<ApiKey | undefined> =>
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
    /**
     * Marks a signed token as used.
     * @param forMs how long it would be valid
     * @returns false if it was used before
     */
    spend: (token: string, forMs: number): Promise<boolean> =>
      redisCall(
        'spending a token',
        async () => (await redis.set(KEYS.spentToken(hashOf(token)), '1', 'PX', forMs, 'NX')) !== null,
      ),
    isSpent: (token: string): Promise<boolean> =>
      redisCall('checking a token', async () => (await redis.exists(KEYS.spentToken(hashOf(token)))) === 1),
  };
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const hashOf = (text: string): string => sha256(text).toString('hex');

const publicKey = ({ hash: _hash, ...key }: StoredKey, used: string | null | undefined): ApiKey => ({
  ...key,
  owner: key.owner ?? key.id,
  cameras: key.cameras ?? ['*'],
  lastUsedAt: used ?? null,
});
