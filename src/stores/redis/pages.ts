/**
 * Pages of a list that a Redis sorted set orders: the score is a time in ms, newest first, and equal times are ordered
 * by id, so that a cursor is exact.
 */
import type { Redis } from 'ioredis';
import { invalidRequest } from '../../base/errors.js';
import { redisCall, repliesOf } from './redis.js';

export interface PageQuery {
  /** epoch ms, inclusive */
  readonly since?: number;
  /** epoch ms, exclusive */
  readonly until?: number;
  /** the opaque cursor of the page before */
  readonly cursor?: string;
  readonly limit: number;
}

/** Entries read at a time after the first ones had gaps. */
const READ_AT_ONCE = 100;
/** Most entries examined per page, so that a caller who may see few of very many does not hold the service. */
const MAX_EXAMINED = 1_000;

/**
 * @param index sorted set of the ids; several are read as one, whose ids are distinct
 * @param read returns the items of these ids, undefined for an item that no longer exists or is not listed; following
 *   items fill such gaps
 * @returns a page; with a cursor it may be shorter than the limit, even empty, if very many items are not listed
 * @throws ScenedeltaError 'invalid-request' if the cursor is not one of this service
 */
export async function pageOf<T>(
  redis: Redis,
  index: string | readonly string[],
  query: PageQuery,
  read: (ids: readonly string[]) => Promise<(T | undefined)[]>,
): Promise<{ items: T[]; nextCursor: string | null }> {
  const items: T[] = [];
  let after = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
  for (let examined = 0; ; ) {
    const count = examined === 0 ? query.limit : READ_AT_ONCE;
    const parts = await Promise.all([index].flat().map((one) => positions(redis, one, query, after, count + 1)));
    const page = parts
      .flat()
      .sort(latestFirst)
      .slice(0, count + 1);
    const examining = page.slice(0, count);
    const found = await read(examining.map(({ id }) => id));
    let taken = 0;
    for (; taken < examining.length && items.length < query.limit; taken++) {
      const item = found[taken];
      if (item !== undefined) items.push(item);
    }
    after = examining[taken - 1] ?? after;
    examined += taken;
    if (taken === page.length || after === undefined) return { items, nextCursor: null };
    if (items.length === query.limit || examined >= MAX_EXAMINED) {
      return { items, nextCursor: encodeCursor(after) };
    }
  }
}

/** The order of ZREVRANGEBYSCORE. */
const latestFirst = (a: Position, b: Position): number => b.at - a.at || (a.id < b.id ? 1 : -1);

/** @returns the next `count` positions after a position. */
async function positions(
  redis: Redis,
  index: string,
  { since, until }: PageQuery,
  after: Position | undefined,
  count: number,
): Promise<Position[]> {
  const newest = after === undefined || (until !== undefined && until <= after.at) ? undefined : after.at;
  const max = newest ?? (until === undefined ? '+inf' : `(${until}`);
  const min = since ?? '-inf';
  const found: Position[] = [];
  for (let offset = 0; found.length < count; ) {
    const flat = await redis.zrevrangebyscore(index, max, min, 'WITHSCORES', 'LIMIT', offset, count + 1);
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const position = { id: flat[i] ?? '', at: Number(flat[i + 1]) };
      const seen = after !== undefined && position.at === after.at && position.id >= after.id;
      if (!seen && found.length < count) found.push(position);
    }
    if (flat.length < 2 * (count + 1)) break;
    offset += count + 1;
  }
  return found;
}

/**
 * All ids of the list, the oldest first, also those that come while they are read.
 * @param since epoch ms, inclusive
 * @param size most ids of a page
 */
export async function* idPages(redis: Redis, index: string, since: number, size: number): AsyncGenerator<string[]> {
  let from = since;
  let ofLastTime: readonly string[] = [];
  for (;;) {
    const count = size + ofLastTime.length;
    const flat = await redisCall('listing ids', () =>
      redis.zrangebyscore(index, from, '+inf', 'WITHSCORES', 'LIMIT', 0, count),
    );
    const found = flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, at: Number(flat[i + 1]) }] : []));
    const last = found.at(-1);
    const ids = found.map(({ id }) => id).filter((id) => !ofLastTime.includes(id));
    if (last === undefined || ids.length === 0) return;
    yield ids;
    from = last.at;
    ofLastTime = found.filter(({ at }) => at === last.at).map(({ id }) => id);
  }
}

/**
 * Number of items in each of several spans that follow each other.
 * @param indexes sorted sets whose ids are distinct
 * @param bounds epoch ms, ascending: one more than there are spans
 */
export async function countsOf(redis: Redis, indexes: readonly string[], bounds: readonly number[]): Promise<number[]> {
  const spans = bounds.slice(1);
  const pipeline = redis.pipeline();
  for (const [i, until] of spans.entries()) {
    for (const index of indexes) pipeline.zcount(index, bounds[i] as number, `(${until}`);
  }
  const found = repliesOf<number>(await pipeline.exec());
  return spans.map((_until, i) =>
    found.slice(i * indexes.length, (i + 1) * indexes.length).reduce((sum, count) => sum + count, 0),
  );
}

interface Position {
  /** epoch ms */
  readonly at: number;
  readonly id: string;
}

/** @returns the reader of ids whose time in the index is before `before` (epoch ms), oldest first, at most `limit` */
export const earlierThan =
  (redis: Redis, what: string, index: string) =>
  (before: number, limit: number): Promise<string[]> =>
    redisCall(what, () => redis.zrangebyscore(index, '-inf', `(${before}`, 'LIMIT', 0, limit));

/** Published in the OpenAPI file, so that it says which cursors are refused. */
export const CURSOR_PATTERN = '^([0-9]{1,15})[.]([A-Za-z0-9_]{1,64})$';

export const encodeCursor = ({ at, id }: Position): string => `${at}.${id}`;

/** @throws ScenedeltaError 'invalid-request' if the text is no cursor of this service. */
export function decodeCursor(cursor: string): Position {
  const match = new RegExp(CURSOR_PATTERN).exec(cursor);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw invalidRequest(
      `cursor=${JSON.stringify(cursor.slice(0, 100))}: expected next_cursor of the page before`,
      'cursor',
    );
  }
  return { at: Number(match[1]), id: match[2] };
}
