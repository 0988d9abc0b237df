/**
 * State of the MQTT publisher: its position in the event stream, the events that it has taken over and not yet
 * published, what it has announced, and the lock that keeps the publisher the only one.
 */
import type { Redis } from 'ioredis';
import type { StreamEvent } from '../../schemas/stream-event.js';
import { KEYS } from '../redis/keys.js';
import { defineScript, redisCall, repliesOf } from '../redis/redis.js';

/** Bound of the waiting events, so that a broker that is away for weeks does not fill Redis. */
const WAITING_KEPT = 10_000;

export interface WaitingEvent {
  /** id of the stream entry */
  readonly id: string;
  readonly event: StreamEvent;
}

/** Retained messages of a camera, so that they can be removed after the camera or a zone is gone. */
export interface Announced {
  /** discovery topic */
  readonly discovery: string;
  /** retained topics of states and of the picture */
  readonly topics: readonly string[];
  /** platform of each component; those that no longer exist come first, oldest first */
  readonly components: Readonly<Record<string, string>>;
  /** privacy mask of the picture (StoredCamera.mask) */
  readonly mask: string | null;
}

export type MqttStore = ReturnType<typeof createMqttStore>;

/** KEYS: lease. ARGV: token, ttl (ms). */
const LEASE = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** KEYS: lease. ARGV: token. */
const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

/** All methods throw ScenedeltaError 'queue-unavailable' if Redis is away. */
export function createMqttStore(redis: Redis) {
  const runLease = defineScript<number>(redis, 'sdMqttLease', LEASE);
  const runRelease = defineScript<number>(redis, 'sdMqttRelease', RELEASE);
  return {
    /** Takes or renews the lock. @returns whether the caller holds it for `ttlMs` */
    lease: (token: string, ttlMs: number): Promise<boolean> =>
      redisCall('taking the lock of the publisher', async () => {
        return (await runLease([KEYS.mqttLease], token, ttlMs)) === 1;
      }),
    /** Does nothing if another process holds the lock. */
    release: (token: string): Promise<void> =>
      redisCall('releasing the lock of the publisher', async () => {
        await runRelease([KEYS.mqttLease], token);
      }),
    /** @returns null before the first event */
    position: (): Promise<string | null> =>
      redisCall('reading the position of the publisher', () => redis.get(KEYS.mqttPosition)),
    /**
     * Takes events over, and moves the position, in one step.
     * @returns how many of the oldest waiting events were dropped, because more than WAITING_KEPT waited
     */
    take: (events: readonly WaitingEvent[], position: string): Promise<number> =>
      redisCall('taking events over', async () => {
        const step = redis.multi().set(KEYS.mqttPosition, position);
        if (events.length > 0) {
          step.rpush(KEYS.mqttWaiting, ...events.map((one) => JSON.stringify(one)));
          step.ltrim(KEYS.mqttWaiting, -WAITING_KEPT, -1);
        }
        const [, length = 0] = repliesOf<unknown>(await step.exec());
        return Math.max(0, Number(length) - WAITING_KEPT);
      }),
    /** @returns the event that has waited longest */
    head: (): Promise<WaitingEvent | undefined> =>
      redisCall('reading a waiting event', async () => {
        const json = await redis.lindex(KEYS.mqttWaiting, 0);
        return json === null ? undefined : (JSON.parse(json) as WaitingEvent);
      }),
    /** Removes a waiting event; it may have been dropped meanwhile. */
    done: (event: WaitingEvent): Promise<void> =>
      redisCall('removing a published event', async () => {
        await redis.lrem(KEYS.mqttWaiting, 1, JSON.stringify(event));
      }),
    waiting: (): Promise<number> => redisCall('counting waiting events', () => redis.llen(KEYS.mqttWaiting)),
    announced: (): Promise<Map<string, Announced>> =>
      redisCall('reading announcements', async () => {
        const all = await redis.hgetall(KEYS.mqttAnnounced);
        return new Map(Object.entries(all).map(([camera, json]) => [camera, JSON.parse(json) as Announced]));
      }),
    /** @param announced null: nothing of the camera is left at the broker */
    saveAnnounced: (camera: string, announced: Announced | null): Promise<void> =>
      redisCall('saving an announcement', async () => {
        if (announced === null) await redis.hdel(KEYS.mqttAnnounced, camera);
        else await redis.hset(KEYS.mqttAnnounced, camera, JSON.stringify(announced));
      }),
  };
}
