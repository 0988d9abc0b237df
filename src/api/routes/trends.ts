/** Route of the changes and visits per camera and week. */
import { Type } from 'typebox';
import { DAY_MS, HOUR_MS } from '../../base/clock.js';
import { isoTime } from '../../base/wall-clock.js';
import { dateOf, midnight } from '../../brief/day.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import { CAMERA_ID_PATTERN } from '../../camera/settings/id-pattern.js';
import type { Trend } from '../../schemas/trend.js';
import { askedCameras } from '../cameras/asked.js';
import { labelQuery } from '../cameras/labelled.js';
import type { Api } from '../dependencies.js';
import { assertZone } from '../parse-time.js';
import { pageBody, pageQuery, pageResponses, zoneQuery } from '../schemas/pages.js';
import { problems } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const WEEK_DAYS = 7;
const DEFAULT_WEEKS = 12;

const TrendsQuery = Type.Object(
  {
    camera: Type.Optional(Type.String({ pattern: CAMERA_ID_PATTERN, description: 'One camera; default: all.' })),
    ...labelQuery,
    weeks: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 53,
        default: DEFAULT_WEEKS,
        description: 'Number of weeks, which begin on Monday, the current one included.',
      }),
    ),
    ...zoneQuery,
    ...pageQuery(CAMERA_ID_PATTERN),
  },
  { additionalProperties: false },
);

const schema = {
  operationId: 'readTrends',
  summary: 'Changes and visits per camera and week',
  description:
    'Counted from what is kept. `kept_since` of a camera states from when that is; earlier weeks are null, not 0. ' +
    '`limit` and `cursor` page through the cameras, which are ordered by id.',
  tags: ['changes'],
  querystring: TrendsQuery,
  response: { ...pageResponses('Trend'), ...problems(['not-found', 'invalid-value']) },
};

export function trendRoutes(app: Api, deps: RouteContext): void {
  const { changes, visits, clock, options } = deps;

  const trendOf = async ({ id, settings }: StoredCamera, days: readonly Date[], timeZone: string): Promise<Trend> => {
    const now = clock();
    const bounds = days.map((date) => midnight(date, timeZone));
    const [changed, visited] = await Promise.all([changes.counts([id], bounds), visits.counts('visit', id, bounds)]);
    const hours = Math.min(options.resultRetentionHours, settings.retention.results_hours ?? Number.POSITIVE_INFINITY);
    const keptSince = now - hours * HOUR_MS;
    const weeks = days.slice(0, -1).map((date, i) => {
      const [from, until] = bounds.slice(i, i + 2) as [number, number];
      const isKept = until > keptSince;
      return {
        monday: date.toISOString().slice(0, 10),
        changes: isKept ? (changed[i] ?? 0) : null,
        visits: isKept ? (visited[i] ?? 0) : null,
        complete: from >= keptSince && until <= now,
      };
    });
    return { camera: id, name: settings.name, kept_since: isoTime(keptSince), weeks };
  };

  app.get('/v1/trends', { schema, config: { scope: 'read' } }, async (request, reply) => {
    const { weeks = DEFAULT_WEEKS, time_zone: timeZone = 'UTC', ...query } = request.query;
    assertZone(timeZone, 'time_zone');
    const days = mondays(weeks, dateOf(clock(), timeZone));
    const { items, nextCursor } = await askedCameras(query, request.visibility, deps);
    const trends = await Promise.all(items.map((camera) => trendOf(camera, days, timeZone)));
    return pageBody(request, reply, { items: trends, nextCursor });
  });
}

/**
 * @param today YYYY-MM-DD
 * @returns the first days of the last weeks, that of `today` included, and of the next one; their UTC fields count
 */
function mondays(weeks: number, today: string): Date[] {
  const date = new Date(`${today}T00:00:00Z`);
  const sinceMonday = (date.getUTCDay() + WEEK_DAYS - 1) % WEEK_DAYS;
  const current = date.getTime() - sinceMonday * DAY_MS;
  return Array.from({ length: weeks + 1 }, (_, i) => new Date(current + (i + 1 - weeks) * WEEK_DAYS * DAY_MS));
}
