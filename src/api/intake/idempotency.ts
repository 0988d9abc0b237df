/**
 * Idempotency-Key records in Redis (draft-ietf-httpapi-idempotency-key-header): a key identifies one comparison or one
 * batch for 24 h. A replay answers with its current state, so a caller whose connection broke still gets the outcome.
 */
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { ScenedeltaError } from '../../base/errors.js';
import type { IncomingFrame } from '../../frames/keep.js';
import { KEYS, resourceKey } from '../../stores/redis/keys.js';
import { redisCall } from '../../stores/redis/redis.js';

const KEPT_SECONDS = 24 * 3600;
/** Age from which a reservation without an accepted resource counts as dead: another request may take the key. */
export const ACCEPTING_SECONDS = 60;

interface IdempotentRequest {
  readonly apiKeyId: string;
  readonly key: string;
  /** equal for equal requests, see fingerprint() */
  readonly fingerprint: string;
  /** of the new comparison or batch */
  readonly id: string;
}

export type IdempotencyRecords = ReturnType<typeof createIdempotencyRecords>;

interface Kept {
  readonly fingerprint: string;
  /** id of the comparison or the batch; the name is that of the stored format */
  readonly comparisonId: string;
  readonly accepted: boolean;
}

/** KEYS: record. ARGV: the expected record, the new record, seconds. */
const REPLACE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1`;

/** KEYS: record, resource. ARGV: the expected record. */
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
return redis.call('DEL', KEYS[1])`;

export function createIdempotencyRecords(redis: Redis) {
  const name = (r: IdempotentRequest) => KEYS.idempotency(r.apiKeyId, r.key);
  const text = ({ fingerprint, id }: IdempotentRequest, accepted: boolean) =>
    JSON.stringify({ fingerprint, comparisonId: id, accepted } satisfies Kept);
  /** @returns whether the record was still `expected`; else another request owns the key. */
  const replace = async (request: IdempotentRequest, expected: string, record: string): Promise<boolean> =>
    (await redis.eval(REPLACE, 1, name(request), expected, record, KEPT_SECONDS)) === 1;

  return {
    /**
     * Reserves the key for `request.id`.
     * @returns undefined if it is reserved, else the id that the key already identifies
     * @throws ScenedeltaError 'idempotency-mismatch' if the key was used with another request, 'idempotency-in-flight'
     *   while the first request is still being accepted
     */
    reserve: (request: IdempotentRequest): Promise<{ readonly id: string } | undefined> =>
      redisCall('Reserving the Idempotency-Key', async () => {
        const reserved = await redis.set(name(request), text(request, false), 'EX', KEPT_SECONDS, 'NX');
        if (reserved === 'OK') return undefined;
        const kept = await redis.get(name(request));
        // It expired or was released at this moment, so another attempt will succeed.
        if (kept === null) throw inFlight(request.key);
        // The connection was lost before the answer, and the client has sent the command again.
        if (kept === text(request, false)) return undefined;
        const { fingerprint, comparisonId: id, accepted } = JSON.parse(kept) as Kept;
        if (fingerprint !== request.fingerprint) {
          throw new ScenedeltaError(
            'idempotency-mismatch',
            `Idempotency-Key ${JSON.stringify(request.key)} was used with another body within 24 ` +
              'hours, expected a new key for a new request',
            { field: 'idempotency-key' },
          );
        }
        if (accepted || (await redis.exists(resourceKey(id))) === 1) return { id };
        // By the clock of Redis, because the clocks of API hosts may differ.
        const left = await redis.ttl(name(request));
        // Reserved while the clock of Redis was ahead, which has been set back: its age counts from now.
        if (left > KEPT_SECONDS) await redis.expire(name(request), KEPT_SECONDS);
        const reservedFor = KEPT_SECONDS - left;
        if (reservedFor > ACCEPTING_SECONDS && (await replace(request, kept, text(request, false)))) {
          return undefined;
        }
        throw inFlight(request.key);
      }),
    /** Marks the resource as accepted. If this fails or never happens, the existence of the resource decides. */
    confirm: (request: IdempotentRequest): Promise<void> =>
      redisCall('Keeping the Idempotency-Key', async () => {
        await replace(request, text(request, false), text(request, true));
      }),
    /** Frees the key after a failed acceptance, unless the resource exists nevertheless. */
    release: (request: IdempotentRequest): Promise<void> =>
      redisCall('Releasing the Idempotency-Key', async () => {
        await redis.eval(RELEASE, 2, name(request), resourceKey(request.id), text(request, false));
      }),
  };
}

const inFlight = (key: string) =>
  new ScenedeltaError(
    'idempotency-in-flight',
    `A request with Idempotency-Key ${JSON.stringify(key)} is being accepted right now; try again in a second`,
    { field: 'idempotency-key' },
  );

/** Fingerprint of a request for comparisons: frames by content, options by value. @param route method and path */
export const fingerprintOf = (route: string, frames: readonly IncomingFrame[], options: object): string => {
  const contents = frames.map((frame) => (frame.from === 'bytes' ? ['bytes', frame.sha256] : frame));
  return fingerprint([route, ...contents, Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))]);
};

/** @param parts JSON values in a fixed order; two requests are the same if all of them are equal */
export const fingerprint = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
