/**
 * Redis writes of comparisons: the Lua scripts of their creation and update, and the commands that end a camera's
 * frame as part of a larger atomic step (turns.ts).
 */
import { deliveryIdOf } from '../../base/ids.js';
import { isoTime } from '../../base/wall-clock.js';
import type { Comparison } from '../../schemas/comparison.js';
import { type StreamEvent, streamEvent } from '../../schemas/stream-event.js';
import { EXPIRY_SLACK_MS } from '../redis/index-tidying.js';
import { EVENTS_KEPT, KEYS } from '../redis/keys.js';
import type { RedisCommand } from '../redis/redis.js';
import { isDelivered, type StoredComparison } from './stored-comparison.js';

const APPEND_EVENT = `redis.call('XADD', KEYS[1], 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', ARGV[1], 'owner', owner)`;

/**
 * KEYS: events, comparison, open, then the indexes; at last the camera whose turn it waits for and its waiting frames,
 * or 'events' twice. ARGV: event, id, comparison, frames, request (field 'job'), status, callback ('' or '1'),
 * created (ms), expires (ms), cutoff of the indexes (ms), owner, capture time (ms; '' = no turn), '1' or '0' per index
 * (to be tidied or not). In one step: a frame that missed its place behind earlier ones would come too late. Returns 0
 * if there is no such camera.
 */
export const CREATE = `
local owner = ARGV[11]
if ARGV[12] ~= '' then
  if redis.call('HEXISTS', KEYS[#KEYS - 1], 'camera') == 0 then return 0 end
  redis.call('ZADD', KEYS[#KEYS], ARGV[12], ARGV[2])
end
${APPEND_EVENT}
redis.call('HSET', KEYS[2], 'comparison', ARGV[3], 'frames', ARGV[4], 'job', ARGV[5], 'status', ARGV[6],
  'callback', ARGV[7], 'owner', owner)
redis.call('PEXPIREAT', KEYS[2], ARGV[9])
redis.call('ZADD', KEYS[3], ARGV[8], ARGV[2])
for i = 4, #KEYS - 2 do
  redis.call('ZADD', KEYS[i], ARGV[8], ARGV[2])
  if string.sub(ARGV[13], i - 3, i - 3) == '1' then
    redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', ARGV[10])
    redis.call('PEXPIREAT', KEYS[i], ARGV[9])
  end
end
return 1`;

/**
 * KEYS: events, comparison, open, open deliveries, then the verdict's indexes. ARGV: event, id, comparison, frames (''
 * = unchanged), status, final ('' or '1'), now (ms), created (ms), delivery id, expires (ms), cutoff of the indexes
 * (ms), prefix of the owners' open comparisons, '1' or '0' per index (to be tidied or not). A final comparison with a
 * callback enters the open deliveries in the same step: a crash right after cannot lose the webhook.
 */
export const UPDATE = `
local status = redis.call('HGET', KEYS[2], 'status')
if not status or status == 'finished' or status == 'failed' or status == 'cancelled' then return 0 end
redis.call('HSET', KEYS[2], 'comparison', ARGV[3], 'status', ARGV[5])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[2], 'frames', ARGV[4]) end
local owner = redis.call('HGET', KEYS[2], 'owner') or ''
if status ~= ARGV[5] then ${APPEND_EVENT} end
if ARGV[6] == '' then
  redis.call('ZADD', KEYS[3], ARGV[7], ARGV[2])
else
  redis.call('ZREM', KEYS[3], ARGV[2])
  redis.call('ZREM', ARGV[12] .. owner, ARGV[2])
  if ARGV[5] ~= 'cancelled' and redis.call('HGET', KEYS[2], 'callback') == '1' then
    redis.call('ZADD', KEYS[4], ARGV[7], ARGV[9])
  end
  for i = 5, #KEYS do
    redis.call('ZADD', KEYS[i], ARGV[8], ARGV[2])
    if string.sub(ARGV[13], i - 4, i - 4) == '1' then
      redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', ARGV[11])
      redis.call('PEXPIREAT', KEYS[i], ARGV[10])
    end
  end
end
return 1`;

/**
 * The writes of `update` for a comparison that ends, as commands of a larger atomic step (stores/cameras/turns.ts).
 * That step must check that the comparison is not final yet.
 * @param isDue of createTidying
 */
export function endingWrites(
  { comparison, frames, request }: StoredComparison,
  now: number,
  { retentionMs, isDue }: { retentionMs: number; isDue: (index: string, now: number) => boolean },
): RedisCommand[] {
  const { id, status } = comparison;
  const times = indexTimes(comparison, now, retentionMs);
  const event = JSON.stringify(eventOf(comparison, now));
  return [
    ['XADD', KEYS.events, 'MAXLEN', '~', EVENTS_KEPT, '*', 'event', event, 'owner', request.owner],
    [
      ...(['HSET', KEYS.comparison(id), 'status', status] as const),
      ...['comparison', JSON.stringify(comparison), 'frames', JSON.stringify(frames)],
    ],
    ['ZREM', KEYS.comparisonsOpen, id],
    ['ZREM', KEYS.comparisonsOpenOf(request.owner), id],
    ...(isDelivered(request) ? [['ZADD', KEYS.deliveriesOpen, now, deliveryIdOf(id)] as const] : []),
    ...verdictIndexes(comparison.camera, comparison.verdict).flatMap((index): RedisCommand[] => [
      ['ZADD', index, times.created, id],
      ...(isDue(index, now)
        ? [['ZREMRANGEBYSCORE', index, '-inf', times.cutoff] as const, ['PEXPIREAT', index, times.expires] as const]
        : []),
    ]),
  ];
}

/** Score and expiry of a comparison's index entries, and the age below which entries are stale; all in epoch ms. */
export function indexTimes({ created_at }: Comparison, now: number, retentionMs: number) {
  const created = Date.parse(created_at);
  const kept = retentionMs + EXPIRY_SLACK_MS;
  return { created, expires: created + kept, cutoff: now - kept };
}

export const verdictIndexes = (camera: string | null, verdict: string | undefined): string[] =>
  verdict === undefined
    ? []
    : [
        KEYS.comparisonsByVerdict(verdict),
        ...(camera === null ? [] : [KEYS.comparisonsByVerdictAndCamera(verdict, camera)]),
      ];

export const eventOf = (comparison: Comparison, now: number): StreamEvent =>
  streamEvent({
    type: `comparison.${comparison.status}`,
    camera: comparison.camera,
    at: isoTime(now),
    subject: { kind: 'comparison', id: comparison.id },
    kind: comparison.kind ?? null,
    severity: comparison.severity ?? null,
    caption: comparison.caption ?? null,
    data: { verdict: comparison.verdict ?? null },
  });
