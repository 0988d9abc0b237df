/** Visits and passages: one record each, which a camera's turn writes when it begins, is linked, or ends. */
import type { Redis } from 'ioredis';
import { systemTime } from '../../base/clock.js';
import type { Feedback } from '../../schemas/feedback.js';
import { VISIT_KINDS, type VisitKind } from '../../schemas/kinds.js';
import { VISIT_EVENTS } from '../../schemas/message.js';
import { streamEvent } from '../../schemas/stream-event.js';
import type { Visit, VisitEvent, VisitJudgement } from '../../schemas/visit.js';
import { eraseMessages } from '../delivery/erase-messages.js';
import { EXPIRY_SLACK_MS } from '../redis/index-tidying.js';
import { EVENTS_KEPT, KEYS } from '../redis/keys.js';
import { countsOf, type PageQuery, pageOf } from '../redis/pages.js';
import { defineScript, type RedisCommand, redisCall, repliesOf } from '../redis/redis.js';
import { fewCameras, seesCamera, type Visibility } from '../redis/visibility.js';
import { addEvent } from './change-writes.js';

/** `since` and `until` refer to the first frame, by the camera's clock. */
interface VisitQuery extends PageQuery {
  readonly kind: VisitKind;
  readonly camera?: string;
  /** default: all */
  readonly fits?: (visit: Visit) => boolean;
  /** default: everything */
  readonly visibility?: Visibility;
}

export type VisitStore = ReturnType<typeof createVisitStore>;

const ERASED_AT_ONCE = 500;

/**
 * KEYS: visit, its judgement, event stream. ARGV: field, value ('': none), event ('': none). The first
 * acknowledgement counts, and the last feedback. Returns 0 if there is no such visit.
 */
const JUDGE = `
local left = redis.call('PTTL', KEYS[1])
if left == -2 then return 0 end
local isNew
if ARGV[2] == '' then isNew = redis.call('HDEL', KEYS[2], ARGV[1])
elseif ARGV[1] == 'acknowledged' then isNew = redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])
else isNew = redis.call('HSET', KEYS[2], ARGV[1], ARGV[2]) end
if left > 0 then redis.call('PEXPIRE', KEYS[2], left) end
if isNew == 1 and ARGV[3] ~= '' then redis.call('XADD', KEYS[3], 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', ARGV[3]) end
return 1`;

/** Redis commands that save the visits of a turn. @param retentionMs time for which one is kept after its last write */
export const visitWrites = (events: readonly VisitEvent[], now: number, retentionMs: number): RedisCommand[] =>
  events.flatMap(({ type, visit }): RedisCommand[] => {
    const { id, camera, kind, caption } = visit;
    const begun = Date.parse(visit.first_seen);
    const streamed = VISIT_EVENTS.find((one) => one === type);
    const at = (type === 'visit.ended' ? visit.gone?.before : undefined) ?? visit.last_seen;
    return [
      ['SET', KEYS.visit(id), JSON.stringify(visit), 'PX', retentionMs + EXPIRY_SLACK_MS],
      ['PEXPIRE', KEYS.visitJudged(id), retentionMs + EXPIRY_SLACK_MS],
      ['ZADD', KEYS.visitsByTime(kind), begun, id],
      ['ZADD', KEYS.visitsByCamera(kind, camera), begun, id],
      ['ZADD', KEYS.visitsByWriting(camera), now, id],
      ...(streamed === undefined
        ? []
        : [addEvent(streamEvent({ type: streamed, camera, at, subject: { kind: 'visit', id }, kind, caption }))]),
    ];
  });

/** All methods throw ScenedeltaError 'queue-unavailable' if Redis is away. */
export function createVisitStore(redis: Redis) {
  const runJudge = defineScript<number>(redis, 'sdJudgeVisit', JUDGE);
  const judge = (id: string, field: 'acknowledged' | 'feedback', value: string, event = '') =>
    redisCall('judging a visit', async () => {
      const keys = [KEYS.visit(id), KEYS.visitJudged(id), KEYS.events];
      return (await runJudge(keys, field, value, event)) === 1;
    });
  const read = async (ids: readonly string[]): Promise<(Visit | undefined)[]> => {
    const found = ids.length === 0 ? [] : await redis.mget(ids.map(KEYS.visit));
    return found.map((json) => (json === null ? undefined : (JSON.parse(json) as Visit)));
  };
  return {
    get: (id: string) => redisCall('reading a visit', async () => (await read([id]))[0]),
    /** In the order of the ids. */
    judgements: (ids: readonly string[]): Promise<VisitJudgement[]> =>
      redisCall('reading judgements of visits', async () => {
        const pipeline = redis.pipeline();
        for (const id of ids) pipeline.hmget(KEYS.visitJudged(id), 'acknowledged', 'feedback');
        return repliesOf<[string | null, string | null]>(await pipeline.exec()).map(([acknowledged, feedback]) => ({
          acknowledged_at: acknowledged,
          feedback: feedback === null ? null : (JSON.parse(feedback) as Feedback),
        }));
      }),
    /** The first acknowledgement counts. @param on false: it is withdrawn. @returns whether there is such a visit */
    acknowledge: ({ id, camera, kind, caption }: Visit, on: boolean): Promise<boolean> => {
      const at = systemTime();
      const type = on ? 'visit.acknowledged' : 'visit.unacknowledged';
      const event = streamEvent({ type, camera, at, subject: { kind: 'visit', id }, kind, caption });
      return judge(id, 'acknowledged', on ? at : '', JSON.stringify(event));
    },
    /** The last feedback counts. @param feedback null: it is withdrawn. @returns whether there is such a visit */
    giveFeedback: (id: string, feedback: Omit<Feedback, 'at'> | null): Promise<boolean> =>
      judge(id, 'feedback', feedback === null ? '' : JSON.stringify({ ...feedback, at: systemTime() })),
    /** The latest begun first. */
    list: (query: VisitQuery) =>
      redisCall('listing visits', async () => {
        const { kind, camera, visibility = 'everything', fits = () => true } = query;
        const index =
          fewCameras(visibility, camera)?.map((one) => KEYS.visitsByCamera(kind, one)) ?? KEYS.visitsByTime(kind);
        return pageOf(redis, index, query, async (ids) =>
          (await read(ids)).map((visit) =>
            visit !== undefined && seesCamera(visibility, visit.camera) && fits(visit) ? visit : undefined,
          ),
        );
      }),
    /**
     * Number of a camera's visits or passages that began in each of several spans that follow each other.
     * @param bounds epoch ms, ascending: one more than there are spans
     */
    counts: (kind: VisitKind, camera: string, bounds: readonly number[]): Promise<number[]> =>
      redisCall('counting visits', () => countsOf(redis, [KEYS.visitsByCamera(kind, camera)], bounds)),
    /**
     * Erases the camera's visits with their messages.
     * @param before only those that were last written earlier, epoch ms
     * @returns how many
     */
    eraseOf: (camera: string, before?: number): Promise<number> =>
      redisCall("erasing a camera's visits", async () => {
        const most = before === undefined ? '+inf' : `(${before}`;
        for (let erased = 0; ; ) {
          const written = KEYS.visitsByWriting(camera);
          const ids = await redis.zrangebyscore(written, '-inf', most, 'LIMIT', 0, ERASED_AT_ONCE);
          if (ids.length === 0) return erased;
          const erasing = redis.multi().del(...ids.map(KEYS.visit), ...ids.map(KEYS.visitJudged));
          for (const kind of VISIT_KINDS) {
            erasing.zrem(KEYS.visitsByTime(kind), ...ids).zrem(KEYS.visitsByCamera(kind, camera), ...ids);
          }
          for (const id of ids) await eraseMessages(redis, erasing, id);
          await erasing.zrem(written, ...ids).exec();
          erased += ids.length;
        }
      }),
  };
}
