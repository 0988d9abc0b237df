/** Route of the number of changes per day, for calendars. */
import { Type } from 'typebox';
import { DAY_MS } from '../../base/clock.js';
import { invalidValue } from '../../base/errors.js';
import { instantOf } from '../../base/wall-clock.js';
import { CAMERA_ID_PATTERN } from '../../camera/settings/id-pattern.js';
import { seesCamera, type Visibility } from '../../stores/redis/visibility.js';
import { allCameras, labelled, labelQuery } from '../cameras/labelled.js';
import type { Api, ApiDependencies } from '../dependencies.js';
import { assertZone } from '../parse-time.js';
import { zoneQuery } from '../schemas/pages.js';
import { json, problems } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const MAX_DAYS = 366;

const day = (description: string) =>
  Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description, examples: ['2026-06-01'] });

const schema = {
  operationId: 'countChanges',
  summary: 'Number of changes per day',
  description: 'By the time of their confirmation, in the given time zone. Days without a change are left out.',
  tags: ['changes'],
  querystring: Type.Object(
    {
      camera: Type.Optional(Type.String({ pattern: CAMERA_ID_PATTERN })),
      ...labelQuery,
      from: day('First day.'),
      to: day(`Last day; at most ${MAX_DAYS} days.`),
      ...zoneQuery,
    },
    { additionalProperties: false },
  ),
  response: {
    200: json(
      'The days with changes, in their order.',
      Type.Object({ items: Type.Array(Type.Object({ day: Type.String(), changes: Type.Integer({ minimum: 1 }) })) }),
    ),
    ...problems(['invalid-value']),
  },
};

export function changeCountRoutes(app: Api, deps: RouteContext): void {
  app.get('/v1/changes/counts', { schema, config: { scope: 'read' } }, async ({ query, visibility }) => {
    const { camera, label, from, to, time_zone = 'UTC' } = query;
    const days = daysOf(from, to);
    const bounds = boundsOf(days, assertZone(time_zone, 'time_zone'));
    const counted = await camerasOf(camera, await labelled(label, visibility, deps.cameras), deps);
    const counts = counted?.length === 0 ? [] : await deps.changes.counts(counted, bounds);
    return { items: days.flatMap((name, i) => ((counts[i] ?? 0) > 0 ? [{ day: name, changes: counts[i] ?? 0 }] : [])) };
  });
}

/** @returns null: all cameras */
async function camerasOf(
  camera: string | undefined,
  visibility: Visibility,
  { cameras }: Pick<ApiDependencies, 'cameras'>,
): Promise<readonly string[] | null> {
  if (camera !== undefined) return seesCamera(visibility, camera) ? [camera] : [];
  if (visibility === 'everything') return null;
  return (await allCameras(cameras, visibility)).map(({ id }) => id);
}

function daysOf(from: string, to: string): string[] {
  const [first, last] = [instant(from, 'from'), instant(to, 'to')];
  const count = (last - first) / DAY_MS + 1;
  if (count < 1 || count > MAX_DAYS) {
    throw invalidValue(`from ${from} to ${to}: expected 1 to ${MAX_DAYS} days`, 'to');
  }
  return Array.from({ length: count }, (_, i) => new Date(first + i * DAY_MS).toISOString().slice(0, 10));
}

function instant(name: string, field: string): number {
  const at = Date.parse(`${name}T00:00:00Z`);
  // Date.parse takes the 31st of June for the 1st of July.
  if (!Number.isNaN(at) && new Date(at).toISOString().startsWith(name)) return at;
  throw invalidValue(`${field} is ${name}, expected a day of the calendar`, field);
}

/** @returns the begin of each day and the end of the last, epoch ms */
const boundsOf = (days: readonly string[], timeZone: string): number[] => {
  const next = new Date(Date.parse(`${days.at(-1)}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
  return [...days, next].map((name) => {
    const [year = 0, month = 1, date = 1] = name.split('-').map(Number);
    return instantOf({ year, month, day: date, hour: 0, minute: 0, second: 0 }, timeZone);
  });
};
