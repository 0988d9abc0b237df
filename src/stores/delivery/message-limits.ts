/**
 * The limit of an endpoint: messages about one camera in any span of a time. Messages beyond it are held back and
 * counted, and a digest reports them, at most one in that time.
 */
import type { Redis } from 'ioredis';
import type { HeldBack } from '../../endpoints/digest.js';
import { type StoredMessage, writesOfMessage } from '../changes/change-writes.js';
import { EXPIRY_SLACK_MS } from '../redis/index-tidying.js';
import { KEYS } from '../redis/keys.js';
import { defineScript, redisCall, runInOneStep } from '../redis/redis.js';

/** Time for which it is known of a message or its subject that it was held back. */
const KNOWN_MS = 7 * 24 * 3_600_000;
/** Time for which a digest may be late. */
const LATE_MS = 24 * 3_600_000;

/**
 * KEYS: the counts, those due, held back by the endpoint, endpoint, messages sent. ARGV: now, messages, their time (in
 * ms), message, subject, '1' if it ends its subject, noun, its count, capture time (ms), member of those due, KNOWN_MS,
 * LATE_MS. Returns 1 if the message is sent, the same at every call within its time.
 */
const TAKE = `
local now, most, span = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if redis.call('ZSCORE', KEYS[3], ARGV[4]) then return 0 end
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now - span)
if redis.call('ZSCORE', KEYS[5], ARGV[4]) then return 1 end
local room = most - redis.call('ZCARD', KEYS[5])
local ends = ARGV[6] == '1'
if ends and redis.call('ZSCORE', KEYS[3], ARGV[5]) then return 0 end
if room > (ends and 1 or 0) then
  redis.call('ZADD', KEYS[5], ARGV[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[5], span + ARGV[12])
  if not ends then redis.call('ZREM', KEYS[3], ARGV[5]) end
  return 1
end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - ARGV[11])
redis.call('ZADD', KEYS[3], ARGV[1], ARGV[4], ARGV[1], ARGV[5])
redis.call('PEXPIRE', KEYS[3], ARGV[11])
if redis.call('HEXISTS', KEYS[4], 'endpoint') == 1 then redis.call('HINCRBY', KEYS[4], 'held', 1) end
if ends then return 0 end
if redis.call('HINCRBY', KEYS[1], 'held', 1) == 1 then
  local oldest = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')[2]
  local due = math.max(tonumber(oldest), tonumber(redis.call('HGET', KEYS[1], 'reported') or '0')) + span
  redis.call('HSET', KEYS[1], 'ends', string.format('%.0f', due), 'first', ARGV[9])
  redis.call('ZADD', KEYS[2], due, ARGV[10])
  redis.call('PEXPIRE', KEYS[1], span + ARGV[12])
end
if redis.call('HSETNX', KEYS[1], 's:' .. ARGV[5], '1') == 1 then
  redis.call('HINCRBY', KEYS[1], 'n:' .. ARGV[7], ARGV[8])
end
redis.call('HSET', KEYS[1], 'last', ARGV[9])
return 0`;

export interface LimitedMessage {
  readonly id: string;
  readonly camera: string;
  /** id of the thing that it is about */
  readonly subject: string;
  /** whether it ends that: it is sent if its beginning was, and if room is left after it, so that it displaces none */
  readonly ends: boolean;
  readonly noun: string;
  readonly count: number;
  /** capture time, epoch ms */
  readonly at: number;
}

/** All methods throw ScenedeltaError 'queue-unavailable' if Redis is away. @param now epoch ms */
export function createMessageLimits(redis: Redis, now: () => number) {
  const runTake = defineScript<number>(redis, 'sdLimit', TAKE);
  // The id of a camera has no ':'.
  const memberOf = (endpoint: string, camera: string) => `${endpoint}:${camera}`;
  return {
    /** @returns whether the message is sent; otherwise it is counted. The same at every call for a message */
    take: (endpoint: string, limit: { messages: number; minutes: number }, message: LimitedMessage): Promise<boolean> =>
      redisCall('counting a message', async () => {
        const { id, camera, subject, ends, noun, count, at } = message;
        const keys = [
          KEYS.limited(endpoint, camera),
          KEYS.digestsDue,
          KEYS.heldBack(endpoint),
          KEYS.endpoint(endpoint),
          KEYS.limitedSent(endpoint, camera),
        ];
        const taken = await runTake(
          keys,
          ...[now(), limit.messages, limit.minutes * 60_000, id, subject, ends ? '1' : ''],
          ...[noun, count, at, memberOf(endpoint, camera), KNOWN_MS, LATE_MS],
        );
        return taken === 1;
      }),
    isHeldBack: (endpoint: string, message: string): Promise<boolean> =>
      redisCall('reading held messages', async () => (await redis.zscore(KEYS.heldBack(endpoint), message)) !== null),
    /** The counts whose time has ended. */
    due: (): Promise<HeldBack[]> =>
      redisCall('reading digests', async () => {
        const members = await redis.zrangebyscore(KEYS.digestsDue, '-inf', now());
        return Promise.all(
          members.map(async (member) => {
            const [endpoint = '', camera = ''] = member.split(':');
            const hash = await redis.hgetall(KEYS.limited(endpoint, camera));
            const nouns = Object.entries(hash).filter(([field]) => field.startsWith('n:'));
            const { ends, held, first, last } = hash;
            return {
              ...{ endpoint, camera, ends: Number(ends), messages: Number(held ?? 0) },
              ...{ first: Number(first), last: Number(last) },
              counts: Object.fromEntries(nouns.map(([field, value]) => [field.slice(2), Number(value)])),
            };
          }),
        );
      }),
    /** Deletes the counts, and saves the message of the digest in the same step. @param message undefined: none */
    close: ({ endpoint, camera }: HeldBack, message: StoredMessage | undefined): Promise<void> =>
      redisCall('saving a digest', async () => {
        const counts = KEYS.limited(endpoint, camera);
        const transaction = redis.multi().zrem(KEYS.digestsDue, memberOf(endpoint, camera)).del(counts);
        if (message !== undefined) transaction.hset(counts, 'reported', now()).pexpire(counts, LATE_MS);
        const writes = message === undefined ? [] : writesOfMessage(message, now(), KNOWN_MS + EXPIRY_SLACK_MS);
        await runInOneStep(transaction, writes);
      }),
  };
}
