/**
 * Idempotency-Key records in Redis (draft-ietf-httpapi-idempotency-key-header): a key stands for one comparison for 24 h.
 * A replay answers with that comparison as it stands, so a caller whose connection broke still gets the outcome.
 */
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { ScenedeltaError } from '../errors.js';
import { KEYS } from '../stores/keys.js';
import { redisCall } from '../stores/redis.js';

const KEPT_SECONDS = 24 * 3600;
/** A request that has reserved its key for so long and not accepted its comparison has died, and another may take its place. */
const ACCEPTING_SECONDS = 60;

export interface IdempotentRequest {
  readonly apiKeyId: string;
  readonly key: string;
  /** the same for the same request, see fingerprint() */
  readonly fingerprint: string;
  readonly comparisonId: string;
}

export interface IdempotencyRecords {
  /**
   * @returns the comparison that the key already stands for, or undefined: the key is reserved for `request.comparisonId`.
   * @throws ScenedeltaError 'idempotency-mismatch' where it was used with another request, 'idempotency-in-flight' while the first
   * request is still being accepted.
   */
  reserve(request: IdempotentRequest): Promise<{ readonly comparisonId: string } | undefined>;
  /** The comparison has been accepted. Where this fails or is never reached, the comparison itself tells. */
  confirm(request: IdempotentRequest): Promise<void>;
  /** It was not: the key is free again, unless the comparison is there all the same. */
  release(request: IdempotentRequest): Promise<void>;
}

interface Kept {
  readonly fingerprint: string;
  readonly comparisonId: string;
  readonly accepted: boolean;
}

/** KEYS: record. ARGV: the record that must still be there, the one to be written, seconds. */
const REPLACE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1`;

/** KEYS: record, comparison. ARGV: the record that must still be there. */
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
return redis.call('DEL', KEYS[1])`;

export function createIdempotencyRecords(redis: Redis): IdempotencyRecords {
  const name = (r: IdempotentRequest) => KEYS.idempotency(r.apiKeyId, r.key);
  const text = ({ fingerprint, comparisonId }: IdempotentRequest, accepted: boolean) =>
    JSON.stringify({ fingerprint, comparisonId, accepted } satisfies Kept);
  /** @returns whether `expected` was still there: a record that somebody else has taken over is theirs. */
  const replace = async (request: IdempotentRequest, expected: string, record: string): Promise<boolean> =>
    (await redis.eval(REPLACE, 1, name(request), expected, record, KEPT_SECONDS)) === 1;

  return {
    reserve: (request) =>
      redisCall('Reserving the Idempotency-Key', async () => {
        const reserved = await redis.set(name(request), text(request, false), 'EX', KEPT_SECONDS, 'NX');
        if (reserved === 'OK') return undefined;
        const kept = await redis.get(name(request));
        // it expired or was released in this very moment: the caller may simply try again
        if (kept === null) throw inFlight(request.key);
        const { fingerprint, comparisonId, accepted } = JSON.parse(kept) as Kept;
        if (fingerprint !== request.fingerprint) {
          throw new ScenedeltaError(
            'idempotency-mismatch',
            `Idempotency-Key ${JSON.stringify(request.key)} was used with another body within 24 hours, expected a new key for a new request`,
            { field: 'idempotency-key' },
          );
        }
        if (accepted || (await redis.exists(KEYS.comparison(comparisonId))) === 1) return { comparisonId };
        // by Redis's clock, so that API hosts whose clocks differ agree
        const reservedFor = KEPT_SECONDS - (await redis.ttl(name(request)));
        if (reservedFor > ACCEPTING_SECONDS && (await replace(request, kept, text(request, false)))) {
          return undefined;
        }
        throw inFlight(request.key);
      }),
    confirm: (request) =>
      redisCall('Keeping the Idempotency-Key', async () => {
        await replace(request, text(request, false), text(request, true));
      }),
    release: (request) =>
      redisCall('Releasing the Idempotency-Key', async () => {
        const comparison = KEYS.comparison(request.comparisonId);
        await redis.eval(RELEASE, 2, name(request), comparison, text(request, false));
      }),
  };
}

const inFlight = (key: string) =>
  new ScenedeltaError(
    'idempotency-in-flight',
    `A request with Idempotency-Key ${JSON.stringify(key)} is being accepted right now; try again in a second`,
    { field: 'idempotency-key' },
  );

/** @param parts what makes two requests the same, in a fixed order; JSON values. */
export const fingerprint = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
