/** Acknowledgements of changes and feedback on them, and what the tracker and the receivers learn of both. */
import type { Redis } from 'ioredis';
import { systemClock } from '../../base/clock.js';
import { derivedId } from '../../base/ids.js';
import { alertMessage } from '../../camera/changes/message.js';
import type { CameraEvent, Change } from '../../schemas/change.js';
import type { Feedback } from '../../schemas/feedback.js';
import { EXPIRY_SLACK_MS } from '../redis/index-tidying.js';
import { CAMERA_EVENTS_KEPT, EVENTS_KEPT, KEYS } from '../redis/keys.js';
import { defineScript, redisCall } from '../redis/redis.js';
import { logEntryInLua } from './change-log.js';
import { eventOf, type StoredMessage, writesOfAlert } from './change-writes.js';
import { foundPart, readerOf } from './stored-change.js';

/**
 * KEYS: change, camera events, acknowledged of all, acknowledged of the camera, event stream.
 * ARGV: id, time, confirmed (ms), camera event, stream event, commands that write an alert as JSON.
 * Returns 1 if this is the first acknowledgement.
 */
const ACKNOWLEDGE = `
if redis.call('HEXISTS', KEYS[1], 'change') == 0 then return 0 end
if redis.call('HSETNX', KEYS[1], 'acknowledged', ARGV[2]) == 0 then return 0 end
redis.call('RPUSH', KEYS[2], ARGV[4])
redis.call('LTRIM', KEYS[2], -${CAMERA_EVENTS_KEPT}, -1)
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
redis.call('ZADD', KEYS[4], ARGV[3], ARGV[1])
redis.call('XADD', KEYS[5], 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', ARGV[5])
for _, command in ipairs(cjson.decode(ARGV[6])) do redis.call(unpack(command)) end
return 1`;

/** As ACKNOWLEDGE, without the confirmed time. */
const WITHDRAW_ACKNOWLEDGEMENT = `
if redis.call('HDEL', KEYS[1], 'acknowledged') == 0 then return 0 end
redis.call('RPUSH', KEYS[2], ARGV[2])
redis.call('LTRIM', KEYS[2], -${CAMERA_EVENTS_KEPT}, -1)
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('XADD', KEYS[5], 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', ARGV[3])
return 1`;

/** KEYS: change, with feedback, log of changes. ARGV: id, feedback, now (ms). */
const GIVE_FEEDBACK = `
if redis.call('HEXISTS', KEYS[1], 'change') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'feedback', ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
${logEntryInLua('KEYS[3]', 'ARGV[1]')}
return 1`;

/** KEYS: change, with feedback, log of changes. ARGV: id. */
const WITHDRAW_FEEDBACK = `
redis.call('HDEL', KEYS[1], 'feedback')
redis.call('ZREM', KEYS[2], ARGV[1])
${logEntryInLua('KEYS[3]', 'ARGV[1]')}
return 1`;

export function judgementsOf(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const now = options.now ?? systemClock;
  const read = readerOf(redis);
  const get = async (id: string) => (await read([id]))[0];
  const runAcknowledge = defineScript<number>(redis, 'sdAcknowledge', ACKNOWLEDGE);
  const runFeedback = defineScript(redis, 'sdFeedback', GIVE_FEEDBACK);
  const runUnacknowledge = defineScript(redis, 'sdUnacknowledge', WITHDRAW_ACKNOWLEDGEMENT);
  const runNoFeedback = defineScript(redis, 'sdNoFeedback', WITHDRAW_FEEDBACK);
  const acknowledgementKeys = ({ id, camera }: Change) => [
    KEYS.change(id),
    KEYS.cameraEvents(camera),
    KEYS.changesByStatus('acknowledged'),
    KEYS.changesByStatusAndCamera('acknowledged', camera),
    KEYS.events,
  ];

  const feedbackKeys = (id: string) => [KEYS.change(id), KEYS.changesByFeedback, KEYS.changeLog];

  return {
    /**
     * The first acknowledgement counts. It is an alert if the change was alerted.
     * @returns the change afterwards, and the alert that was made; undefined if there is no such change
     */
    acknowledge: (
      id: string,
      by: Pick<StoredMessage, 'traceId' | 'apiKeyId'>,
    ): Promise<{ change: Change; alert: StoredMessage | null } | undefined> =>
      redisCall('acknowledging a change', async () => {
        const change = await get(id);
        if (change === undefined) return undefined;
        const at = new Date(now()).toISOString();
        const alert = acknowledgedAlert(change, Date.parse(at), by);
        const lifetime = options.retentionMs + EXPIRY_SLACK_MS;
        const writes = alert === null ? [] : writesOfAlert(alert, now(), lifetime);
        const isFirst = await runAcknowledge(
          acknowledgementKeys(change),
          id,
          at,
          Date.parse(change.confirmed_at),
          JSON.stringify({ type: 'change.acknowledged', changeId: id } satisfies CameraEvent),
          JSON.stringify(eventOf(change, 'change.acknowledged', at)),
          // Strings only: Lua would write large numbers with an exponent.
          JSON.stringify(writes.map((command) => command.map(String))),
        );
        const after = await get(id);
        return after && { change: after, alert: isFirst === 1 ? alert : null };
      }),
    /** Alerts about the change may follow again. @returns the change afterwards, undefined if there is none. */
    withdrawAcknowledgement: (id: string): Promise<Change | undefined> =>
      redisCall('withdrawing an acknowledgement', async () => {
        const change = await get(id);
        if (change === undefined) return undefined;
        const at = new Date(now()).toISOString();
        await runUnacknowledge(
          acknowledgementKeys(change),
          id,
          JSON.stringify({ type: 'change.unacknowledged', changeId: id } satisfies CameraEvent),
          JSON.stringify(eventOf(change, 'change.unacknowledged', at)),
        );
        return get(id);
      }),
    /** The change settles with the next frame that shows it. */
    makeNormal: ({ id, camera }: Pick<Change, 'id' | 'camera'>): Promise<void> =>
      redisCall('making a change normal', async () => {
        const event: CameraEvent = { type: 'change.normal', changeId: id };
        const events = KEYS.cameraEvents(camera);
        await redis.multi().rpush(events, JSON.stringify(event)).ltrim(events, -CAMERA_EVENTS_KEPT, -1).exec();
      }),
    /** The last feedback counts. @returns the change afterwards, undefined if there is none. */
    giveFeedback: (id: string, feedback: Omit<Feedback, 'at'>): Promise<Change | undefined> =>
      redisCall('saving feedback', async () => {
        const given: Feedback = { ...feedback, at: new Date(now()).toISOString() };
        const json = JSON.stringify(given);
        await runFeedback(feedbackKeys(id), id, json, now());
        return get(id);
      }),
    /** @returns the change afterwards, undefined if there is none. */
    withdrawFeedback: (id: string): Promise<Change | undefined> =>
      redisCall('withdrawing feedback', async () => {
        await runNoFeedback(feedbackKeys(id), id);
        return get(id);
      }),
  };
}

/** @returns null if the change was not alerted, or is over. @param now epoch ms */
function acknowledgedAlert(
  change: Change,
  now: number,
  by: Pick<StoredMessage, 'traceId' | 'apiKeyId'>,
): StoredMessage | null {
  if (change.alerted_at === null || change.status === 'reverted') return null;
  // Later than every alert of the change, also if the clock of the camera is ahead.
  const at = Math.max(now, Date.parse(change.last_seen) + 1);
  const type = 'change.acknowledged' as const;
  return {
    message: alertMessage({
      id: derivedId('alr', at, `${change.id}\n${type}`),
      type,
      change: { ...foundPart(change), status: 'acknowledged' },
      suppressedCount: 0,
      at,
    }),
    comparisonId: change.comparisons.last,
    url: null,
    ...by,
  };
}
