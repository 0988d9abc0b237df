/** Time of each camera's last frame, and the silences that were reported: fields of the camera's hash. */
import type { Redis } from 'ioredis';
import { systemClock } from '../../base/clock.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import { cameraSubject } from '../../schemas/message.js';
import { streamEvent } from '../../schemas/stream-event.js';
import { addEvent, EXPIRY_SLACK_MS, type StoredMessage, writesOfMessage } from '../changes/change-writes.js';
import { KEYS } from '../redis/keys.js';
import { type RedisCommand, redisCall, repliesOf } from '../redis/redis.js';
import type { SnapshotOutcome } from './cameras.js';

/** Cameras that are read at once. */
const PAGE = 100;

/** A silence that was reported. */
export interface Silence {
  /** epoch ms, by the clock of the service */
  readonly since: number;
  /** id of the camera under which it was reported: another one, if several fell silent together */
  readonly under: string;
}

export interface WatchedCamera {
  readonly camera: StoredCamera;
  /** when its last frame was processed, epoch ms by the clock of the service; null: never */
  readonly seen: number | null;
  /** error of the last snapshot; null: none */
  readonly snapshotError: string | null;
  readonly silence: Silence | null;
}

export type SilenceStore = ReturnType<typeof createSilenceStore>;

/** All methods throw ScenedeltaError 'queue-unavailable' if Redis is away. */
export function createSilenceStore(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const now = options.now ?? systemClock;
  return {
    /** Every camera, ordered by id. */
    watched: (): Promise<WatchedCamera[]> =>
      redisCall('reading cameras', async () => {
        const ids = await redis.zrange(KEYS.cameras, '0', '-1');
        const found: WatchedCamera[] = [];
        for (let start = 0; start < ids.length; start += PAGE) {
          const pipeline = redis.pipeline();
          const page = ids.slice(start, start + PAGE);
          for (const id of page) pipeline.hmget(KEYS.camera(id), 'camera', 'seen', 'snapshot', 'silence');
          const replies = repliesOf<(string | null)[]>(await pipeline.exec());
          for (const [json = null, seen = null, snapshot = null, silence = null] of replies) {
            // A camera may have been erased between the two reads.
            if (json === null) continue;
            found.push({
              camera: JSON.parse(json) as StoredCamera,
              seen: seen === null ? null : Number(seen),
              snapshotError: snapshot === null ? null : (JSON.parse(snapshot) as SnapshotOutcome).error,
              silence: silence === null ? null : (JSON.parse(silence) as Silence),
            });
          }
        }
        return found;
      }),
    /**
     * Saves a message with an event of the stream for each of its cameras, and what was reported of them, in one step.
     * Its deliveries are open from then on: recovery makes them if a crash prevents that.
     * @param silence null: they are back
     */
    report: (stored: StoredMessage, silence: Silence | null): Promise<void> =>
      redisCall('reporting a silent camera', async () => {
        const { id, type, at, camera, cameras = [camera], since, kind } = stored.message;
        const time = new Date(at).toISOString();
        const commands: RedisCommand[] = [
          ...writesOfMessage(stored, now(), options.retentionMs + EXPIRY_SLACK_MS),
          ...cameras.flatMap((one): RedisCommand[] => [
            silence === null
              ? ['HDEL', KEYS.camera(one), 'silence']
              : ['HSET', KEYS.camera(one), 'silence', JSON.stringify(silence)],
            addEvent(
              streamEvent({
                type,
                camera: one,
                at: time,
                subject: cameraSubject(one),
                data: { since, reason: kind, alert: id },
              }),
            ),
          ]),
        ];
        const transaction = redis.multi();
        for (const [name, ...args] of commands) transaction.call(String(name), ...args.map(String));
        repliesOf(await transaction.exec());
      }),
    /** Drops the record of silences that were reported. */
    forget: (cameras: readonly string[]): Promise<void> =>
      redisCall('forgetting a silence', async () => {
        const pipeline = redis.pipeline();
        for (const id of cameras) pipeline.hdel(KEYS.camera(id), 'silence');
        repliesOf(await pipeline.exec());
      }),
  };
}
