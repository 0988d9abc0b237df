/** Pagination of lists: `cursor` and `limit` select a page, `next_cursor` and `Link` (RFC 8288) lead to the next. */
import { Type } from 'typebox';
import { dateTime, nullable } from '../../schemas/constructors.js';
import { CURSOR_PATTERN } from '../../stores/redis/pages.js';
import { parseTime } from '../parse-time.js';
import { json, problems, RESPONSE_HEADERS, ref } from './shared.js';

const DEFAULT_LIMIT = 20;

/** Query parameters of a page. @param cursorPattern pattern of its cursors */
export const pageQuery = (cursorPattern: string = CURSOR_PATTERN) => ({
  cursor: Type.Optional(Type.String({ pattern: cursorPattern, description: 'next_cursor of the previous page.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: DEFAULT_LIMIT,
      description: 'Most items of a page, which may have fewer although another follows.',
    }),
  ),
});

/** Query parameters of a half-open time span. @param what the event of that time, as a participle, e.g. 'Created' */
export const timeQuery = (what: string) => ({
  since: Type.Optional(dateTime(`${what} at this time or later.`)),
  until: Type.Optional(dateTime(`${what} before this time.`)),
});

/** Query parameter of the time zone of days and weeks. */
export const zoneQuery = {
  time_zone: Type.Optional(
    Type.String({ maxLength: 64, default: 'UTC', description: 'IANA time zone.', examples: ['Europe/Berlin'] }),
  ),
};

/** The `response` of a route. @param item name of a component */
export const pageResponses = (item: string) => ({
  200: json(
    'One page.',
    Type.Object({
      items: Type.Array(ref(item)),
      next_cursor: nullable(Type.String(), 'For the next page; null on the last.'),
    }),
    RESPONSE_HEADERS.link,
  ),
  ...problems(['invalid-value']),
});

/**
 * Converts a query for the stores: times in epoch ms, and the default limit.
 * @throws ScenedeltaError 'invalid-value' naming since or until
 */
export function parsePageQuery<Q extends { since?: string; until?: string; limit?: number }>(query: Q) {
  const { since, until, limit = DEFAULT_LIMIT, ...rest } = query;
  return {
    ...rest,
    limit,
    ...(since === undefined ? {} : { since: parseTime(since, 'since') }),
    ...(until === undefined ? {} : { until: parseTime(until, 'until') }),
  };
}

/** @returns the body of one page; sets `Link`, which repeats the query with the next cursor */
export function pageBody<T>(
  request: { readonly query: unknown; readonly url: string },
  reply: { header(name: string, value: string): unknown },
  { items, nextCursor }: { items: T[]; nextCursor: string | null },
) {
  if (nextCursor !== null) {
    const next = new URLSearchParams({ ...(request.query as Record<string, string>), cursor: nextCursor });
    reply.header('Link', `<${request.url.split('?')[0]}?${next}>; rel="next"`);
  }
  return { items, next_cursor: nextCursor };
}
