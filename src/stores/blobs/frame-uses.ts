/**
 * Uses of stored frames, by content hash: which cameras and comparisons need the bytes, and which bytes an erasure has
 * left behind. Bytes are shared, so an erasure queues their hashes, and the retention deletes those without a use.
 */
import type { Redis } from 'ioredis';
import type { CameraStore } from '../cameras/cameras.js';
import type { ChangeStore } from '../changes/changes.js';
import { KEYS } from '../redis/keys.js';
import { redisCall, repliesOf } from '../redis/redis.js';

const READ_AT_ONCE = 1_000;
/** Hashes in the JSON of a comparison's frames and request, which is searched because parsing takes longer. */
const HASHES = /"sha256":"([0-9a-f]{64})"/g;

export type FrameUses = ReturnType<typeof createFrameUses>;

interface Cameras {
  readonly cameras: Pick<CameraStore, 'get' | 'state'>;
  readonly changes: Pick<ChangeStore, 'cameraEvents'>;
}

/** All methods throw ScenedeltaError 'queue-unavailable' if Redis is away. Hashes are sha256 in hexadecimal. */
export function createFrameUses(redis: Redis, { cameras, changes }: Cameras) {
  const hashesOf = async (comparisons: readonly string[]): Promise<string[]> => {
    const pipeline = redis.pipeline();
    for (const id of comparisons) pipeline.hmget(KEYS.comparison(id), 'frames', 'job');
    return repliesOf<(string | null)[]>(await pipeline.exec())
      .flat()
      .flatMap((json) => [...(json ?? '').matchAll(HASHES)].map((found) => found[1] as string));
  };

  return {
    /** @returns hashes of the frames that the next frames of the camera are compared with */
    async ofCamera(id: string): Promise<Set<string>> {
      const state = await cameras.state(id);
      const ordered = (await changes.cameraEvents(id)).map((event) =>
        event.type === 'baseline.set' ? event.frame : undefined,
      );
      const backgrounds = Object.values(state?.backgrounds ?? {}).map(({ frame }) => frame);
      const frames = [(await cameras.get(id))?.reference, state?.before?.frame, ...backgrounds, ...ordered];
      return new Set(frames.flatMap((frame) => frame?.sha256 ?? []));
    },
    /**
     * Reads all stored comparisons, or those of one camera: about 1.5 s per 100,000 (docs/adr/0011).
     * @returns those of the hashes that one of them has
     */
    inComparisons: (hashes: ReadonlySet<string>, camera?: string): Promise<Set<string>> =>
      redisCall('reading the frames of comparisons', async () => {
        const index = camera === undefined ? KEYS.comparisonsByTime : KEYS.comparisonsByCamera(camera);
        const used = new Set<string>();
        for (let cursor = '0'; ; ) {
          // ZSCAN returns every member that stays, however many are added and removed meanwhile.
          const [next, entries] = await redis.zscan(index, cursor, 'COUNT', READ_AT_ONCE);
          const ids = entries.filter((_entry, i) => i % 2 === 0);
          for (const hash of await hashesOf(ids)) if (hashes.has(hash)) used.add(hash);
          if (next === '0' || used.size === hashes.size) return used;
          cursor = next;
        }
      }),
    /** Queues the bytes of a comparison's frames for deletion. The comparison is erased afterwards. */
    leaveComparison: (id: string, at: number): Promise<void> =>
      redisCall('erasing frames', async () => queue(redis, await hashesOf([id]), at)),
    /** @param at epoch ms */
    leave: (hashes: Iterable<string>, at: number): Promise<void> =>
      redisCall('erasing frames', () => queue(redis, [...hashes], at)),
    /** @returns hashes that an erasure left before `before` (epoch ms), oldest first */
    left: (before: number): Promise<string[]> =>
      redisCall('reading erased frames', () => redis.zrangebyscore(KEYS.framesLeft, '-inf', `(${before}`)),
    /** Removes those hashes from the queue. A hash that was left once more since then stays. */
    settle: (before: number): Promise<void> =>
      redisCall(
        'erasing frames',
        async () => void (await redis.zremrangebyscore(KEYS.framesLeft, '-inf', `(${before}`)),
      ),
  };
}

async function queue(redis: Redis, hashes: readonly string[], at: number): Promise<void> {
  if (hashes.length > 0) await redis.zadd(KEYS.framesLeft, ...hashes.flatMap((hash) => [at, hash]));
}
