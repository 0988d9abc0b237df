/**
 * Comparisons with their frames and requests: one Redis hash per comparison, sorted sets as indexes.
 * The API writes a comparison at acceptance, workers afterwards. Both writes are Lua scripts, so that a crash leaves
 * all or nothing.
 */
import type { Redis } from 'ioredis';
import { systemClock } from '../../base/clock.js';
import { deliveryIdOf } from '../../base/ids.js';
import type { ComparisonRecord } from '../../schemas/comparison.js';
import { eraseEvents } from '../delivery/erase-messages.js';
import { createTidying } from '../redis/index-tidying.js';
import { KEYS } from '../redis/keys.js';
import { earlierThan, type PageQuery, pageOf } from '../redis/pages.js';
import { defineScript, redisCall, repliesOf } from '../redis/redis.js';
import { seesComparison, type Visibility } from '../redis/visibility.js';
import { CREATE, eventOf, indexTimes, UPDATE, verdictIndexes } from './result-writes.js';
import { isDelivered, parseRecord, type StoredComparison } from './stored-comparison.js';

export type { ComparisonRequest, StoredComparison } from './stored-comparison.js';

export interface ListQuery extends PageQuery {
  readonly camera?: string;
  readonly verdict?: string;
  /** default: everything */
  readonly visibility?: Visibility;
}

export type ResultStore = ReturnType<typeof createResultStore>;

/**
 * All methods throw ScenedeltaError 'queue-unavailable' if Redis is away.
 * @param options.retentionMs how long a comparison is kept, from its creation.
 */
export function createResultStore(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const { retentionMs, now = systemClock } = options;
  const runCreate = defineScript<number>(redis, 'sdCreate', CREATE);
  const runUpdate = defineScript<number>(redis, 'sdUpdate', UPDATE);
  const isDue = createTidying();
  const due = (indexes: readonly string[]) => indexes.map((index) => (isDue(index, now()) ? '1' : '0')).join('');

  /** @returns the comparisons that the query lists, undefined for the others */
  const read = async (ids: readonly string[], query: ListQuery): Promise<(ComparisonRecord | undefined)[]> => {
    const { visibility = 'everything', camera, verdict } = query;
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.hmget(KEYS.comparison(id), 'comparison', 'owner');
    return repliesOf<(string | null)[]>(await pipeline.exec()).map(([json, owner]) => {
      if (json == null || owner == null) return undefined;
      const comparison = JSON.parse(json) as ComparisonRecord;
      if (!seesComparison(visibility, { owner, camera: comparison.camera })) return undefined;
      // The index of an owner has every camera and verdict.
      const listed =
        (camera === undefined || comparison.camera === camera) &&
        (verdict === undefined || comparison.verdict === verdict);
      return listed ? comparison : undefined;
    });
  };

  return {
    /** @returns false if it is the frame of a camera that does not exist */
    create: ({ comparison, frames, request }: StoredComparison): Promise<boolean> =>
      redisCall('creating a comparison', async () => {
        const times = indexTimes(comparison, now(), retentionMs);
        const { turn } = request;
        const indexes = [
          KEYS.comparisonsByTime,
          KEYS.comparisonsByOwner(request.owner),
          KEYS.comparisonsOpenOf(request.owner),
          ...(comparison.camera === null ? [] : [KEYS.comparisonsByCamera(comparison.camera)]),
        ];
        const keys = [
          KEYS.events,
          KEYS.comparison(comparison.id),
          KEYS.comparisonsOpen,
          ...indexes,
          // A user of Redis with rights for some keys has none for an empty one.
          ...(turn === undefined
            ? [KEYS.events, KEYS.events]
            : [KEYS.camera(turn.camera), KEYS.cameraFrames(turn.camera)]),
        ];
        const created = await runCreate(
          keys,
          JSON.stringify(eventOf(comparison, now())),
          comparison.id,
          JSON.stringify(comparison),
          JSON.stringify(frames),
          JSON.stringify(request),
          comparison.status,
          isDelivered(request) ? '1' : '',
          times.created,
          times.expires,
          times.cutoff,
          request.owner,
          turn?.capturedAt ?? '',
          due(indexes),
        );
        return created === 1;
      }),

    get: (id: string): Promise<StoredComparison | undefined> =>
      redisCall('reading a comparison', async () => {
        return parseRecord(await redis.hmget(KEYS.comparison(id), 'comparison', 'frames', 'job'));
      }),

    /** @returns the comparisons of these ids, undefined for one that does not exist */
    many: (ids: readonly string[]): Promise<(ComparisonRecord | undefined)[]> =>
      redisCall('reading comparisons', () => read(ids, { limit: ids.length })),

    /**
     * Replaces the comparison unless it is final (finished, failed, cancelled), and appends the matching event, in one
     * step.
     * @returns false if it was final or erased. The caller's result is dropped then: a stalled job ran twice, or a
     *   cancel came first.
     */
    update: (
      id: string,
      { comparison, frames }: { comparison: ComparisonRecord; frames?: StoredComparison['frames'] },
    ): Promise<boolean> =>
      redisCall('saving a comparison', async () => {
        const times = indexTimes(comparison, now(), retentionMs);
        const indexes = verdictIndexes(comparison.camera, comparison.verdict);
        const keys = [KEYS.events, KEYS.comparison(id), KEYS.comparisonsOpen, KEYS.deliveriesOpen, ...indexes];
        const replaced = await runUpdate(
          keys,
          JSON.stringify(eventOf(comparison, now())),
          id,
          JSON.stringify(comparison),
          frames === undefined ? '' : JSON.stringify(frames),
          comparison.status,
          comparison.status === 'queued' || comparison.status === 'running' ? '' : '1',
          now(),
          times.created,
          deliveryIdOf(id),
          times.expires,
          times.cutoff,
          KEYS.comparisonsOpenOf(''),
          due(indexes),
        );
        return replaced === 1;
      }),

    /** Newest first. */
    list: (query: ListQuery) =>
      redisCall('listing comparisons', () => pageOf(redis, indexOf(query), query, (ids) => read(ids, query))),

    /** @returns number of the owner's comparisons that are not final */
    openOf: (owner: string): Promise<number> =>
      redisCall('counting comparisons', () => redis.zcard(KEYS.comparisonsOpenOf(owner))),

    /** Erases the comparison and its index entries. @returns whether it existed. */
    erase: (id: string): Promise<boolean> =>
      redisCall('erasing a comparison', async () => {
        const [json, owner] = await redis.hmget(KEYS.comparison(id), 'comparison', 'owner');
        const { camera, verdict }: Partial<ComparisonRecord> = json == null ? {} : JSON.parse(json);
        const erasing = redis
          .multi()
          .del(KEYS.comparison(id))
          .zrem(KEYS.comparisonsOpen, id)
          .zrem(KEYS.comparisonsByTime, id);
        if (owner != null) {
          erasing.zrem(KEYS.comparisonsByOwner(owner), id).zrem(KEYS.comparisonsOpenOf(owner), id);
        }
        if (camera != null) erasing.zrem(KEYS.comparisonsByCamera(camera), id).zrem(KEYS.cameraFrames(camera), id);
        for (const index of verdictIndexes(camera ?? null, verdict)) erasing.zrem(index, id);
        const [existed] = repliesOf<number>(await erasing.exec());
        return existed === 1;
      }),

    /** Erases the events of a comparison. */
    eraseEvents: (id: string): Promise<void> =>
      redisCall('erasing events', () => eraseEvents(redis, (event) => event.subject.id === id)),
    /** Erases the events written before `before` (epoch ms). */
    eraseEventsBefore: (before: number): Promise<void> =>
      redisCall(
        'erasing old events',
        async () => void (await redis.xtrim(KEYS.events, 'MINID', Math.max(0, Math.floor(before)))),
      ),

    /** @returns ids of comparisons created before `before` (epoch ms), at most `limit`, oldest first. */
    olderThan: earlierThan(redis, 'listing old comparisons', KEYS.comparisonsByTime),
    /**
     * @returns ids of comparisons that are not final and were last written before `before` (epoch ms), oldest first.
     */
    unfinished: earlierThan(redis, 'listing unfinished comparisons', KEYS.comparisonsOpen),
  };
}

function indexOf({ camera, verdict, visibility = 'everything' }: ListQuery): string {
  // The comparisons of one owner may be few among very many, and all of them are in one index.
  if (visibility !== 'everything' && visibility.cameras.length === 0) {
    return KEYS.comparisonsByOwner(visibility.owner);
  }
  if (verdict === undefined) {
    return camera === undefined ? KEYS.comparisonsByTime : KEYS.comparisonsByCamera(camera);
  }
  return camera === undefined
    ? KEYS.comparisonsByVerdict(verdict)
    : KEYS.comparisonsByVerdictAndCamera(verdict, camera);
}
