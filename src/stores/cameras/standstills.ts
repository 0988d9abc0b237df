/**
 * Last frame and equal frames of each camera, which its turns write, and the standstills that were reported: fields of
 * the camera's hash.
 */
import type { Redis } from 'ioredis';
import { systemClock } from '../../base/clock.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import type { CameraState } from '../../camera/state/state.js';
import type { Standstill } from '../../schemas/loss.js';
import { cameraSubject } from '../../schemas/message.js';
import { type Said, streamEvent } from '../../schemas/stream-event.js';
import { addEvent, type StoredMessage, writesOfMessage } from '../changes/change-writes.js';
import { EXPIRY_SLACK_MS } from '../redis/index-tidying.js';
import { KEYS } from '../redis/keys.js';
import { parsedField, type RedisCommand, redisCall, repliesOf, runInOneStep } from '../redis/redis.js';
import type { FrameFailure, SnapshotOutcome } from './cameras.js';

/** Cameras that are read at once. */
const PAGE = 100;

export interface ReportedStandstill {
  readonly reason: Standstill;
  /** epoch ms: of a silent camera by the clock of the service, of a stuck one a capture time */
  readonly since: number;
  /** id of the camera under which it was reported: another one, if several failed together */
  readonly under: string;
}

/** Frames without a difference, up to the frame with which the camera counted as stuck. */
interface EqualFrames {
  /** capture time of the first of them, epoch ms */
  readonly since: number;
  /** from that one to the last of them */
  readonly forMs: number;
  /** when the last of them was processed, epoch ms by the clock of the service */
  readonly at: number;
  readonly stuck: boolean;
}

export interface WatchedCamera {
  readonly camera: StoredCamera;
  /** when its last frame was processed, epoch ms by the clock of the service; null: never */
  readonly seen: number | null;
  /** of the last snapshot or the last frame; null: none */
  readonly error: string | null;
  /** null: its last frame differed from the one before */
  readonly still: EqualFrames | null;
  readonly standstill: ReportedStandstill | null;
}

/** @returns the field of the camera's hash that a turn writes, '' for none; undefined if it would change nothing */
export function fieldOfStill(
  before: CameraState | undefined,
  { still, last }: CameraState,
  now: number,
): string | undefined {
  if (still === undefined || last === null) return before?.still === undefined ? undefined : '';
  if (still.stuck && before?.still?.stuck === true) return undefined;
  const { since, stuck } = still;
  return JSON.stringify({ since, forMs: last.at - since, at: now, stuck } satisfies EqualFrames);
}

const FIELDS = ['camera', 'seen', 'snapshot', 'failure', 'still', 'standstill'] as const;

export type StandstillStore = ReturnType<typeof createStandstillStore>;

/** All methods throw ScenedeltaError 'queue-unavailable' if Redis is away. */
export function createStandstillStore(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const now = options.now ?? systemClock;
  return {
    /** Every camera, ordered by id. */
    watched: (): Promise<WatchedCamera[]> =>
      redisCall('reading cameras', async () => {
        const ids = await redis.zrange(KEYS.cameras, '0', '-1');
        const found: WatchedCamera[] = [];
        for (let start = 0; start < ids.length; start += PAGE) {
          const pipeline = redis.pipeline();
          for (const id of ids.slice(start, start + PAGE)) pipeline.hmget(KEYS.camera(id), ...FIELDS);
          const replies = repliesOf<(string | null)[]>(await pipeline.exec());
          for (const [json, seen, snapshot, failure, still, said] of replies) {
            const camera = parsedField<StoredCamera>(json);
            // It may have been erased between the two reads.
            if (camera === undefined) continue;
            found.push({
              camera,
              seen: seen == null ? null : Number(seen),
              error: parsedField<SnapshotOutcome>(snapshot)?.error ?? parsedField<FrameFailure>(failure)?.error ?? null,
              still: parsedField<EqualFrames>(still) ?? null,
              standstill: parsedField<ReportedStandstill>(said) ?? null,
            });
          }
        }
        return found;
      }),
    /**
     * Saves a message with an event of the stream for each of its cameras, and what was reported of them, in one step.
     * Its deliveries are open from then on: recovery makes them if a crash prevents that.
     * @param reported null: they are back
     */
    report: (stored: StoredMessage, said: Said, reported: ReportedStandstill | null): Promise<void> =>
      redisCall('reporting a camera that stands still', async () => {
        const { id, type, at, camera, cameras = [camera], since, kind } = stored.message;
        const time = new Date(at).toISOString();
        const commands: RedisCommand[] = [
          ...writesOfMessage(stored, now(), options.retentionMs + EXPIRY_SLACK_MS),
          ...cameras.flatMap((one): RedisCommand[] => [
            reported === null
              ? ['HDEL', KEYS.camera(one), 'standstill']
              : ['HSET', KEYS.camera(one), 'standstill', JSON.stringify(reported)],
            addEvent(
              streamEvent({
                ...{ type, camera: one, at: time, subject: cameraSubject(one) },
                caption: said.caption,
                data: { since, reason: kind, alert: id, cameras, sentence: said.sentence },
              }),
            ),
          ]),
        ];
        await runInOneStep(redis.multi(), commands);
      }),
    /** Drops the record of standstills that were reported. */
    forget: (cameras: readonly string[]): Promise<void> =>
      redisCall('forgetting a standstill', async () => {
        const pipeline = redis.pipeline();
        for (const id of cameras) pipeline.hdel(KEYS.camera(id), 'standstill');
        repliesOf(await pipeline.exec());
      }),
  };
}
