/** GET /v1/trends: changes and visits per camera and week, as far as they are kept. */

import { storedChange } from '../helpers/changes.js';
import { camera, fake, HOUR, setNow } from './brief-service.js';

/** A Wednesday, in the summer time of Berlin. */
const NOW = Date.parse('2026-06-17T10:00:00Z');
const WEEK = 7 * 24 * HOUR;
beforeEach(() => setNow(NOW));

let made = 0;
const changed = async (iso: string, id = 'gate') => {
  const change = storedChange({ name: String(made++), camera: id, confirmed: Date.parse(iso) });
  fake.changes.kept.push(change);
};
const ask = async (query = '') => {
  const { statusCode, body } = await fake.inject({ url: `/v1/trends${query}` });
  return { statusCode, body: JSON.parse(body) };
};
const countsOf = async (query: string) =>
  (await ask(query)).body.items.map(({ weeks }: { weeks: { monday: string; changes: number | null }[] }) =>
    weeks.map(({ monday, changes }) => [monday, changes]),
  );

it('counts by weeks of a time zone that begin on Monday, the current one last', async () => {
  for (const iso of ['2026-06-07T21:59:00Z', '2026-06-07T22:01:00Z', '2026-06-14T21:00:00Z', '2026-06-15T00:00:00Z']) {
    await changed(iso);
  }
  camera('yard', { name: 'Yard 2' });
  await changed('2026-06-16T00:00:00Z', 'yard');
  expect(await countsOf('?weeks=3&time_zone=Europe/Berlin&camera=gate')).toEqual([
    [
      ['2026-06-01', 1],
      ['2026-06-08', 2],
      ['2026-06-15', 1],
    ],
  ]);
  expect(await countsOf('?weeks=1')).toEqual([[['2026-06-15', 1]], [['2026-06-15', 1]]]);
  const { items, next_cursor } = (await ask('?weeks=2&limit=1')).body;
  expect([items.length, next_cursor]).toEqual([1, 'gate']);
  expect(items[0].weeks.map(({ complete }: { complete: boolean }) => complete)).toEqual([true, false]);
  expect((await ask()).body.items[1]).toMatchObject({ camera: 'yard', name: 'Yard 2' });
  expect((await ask()).body.items[1].weeks).toHaveLength(12);
});

it('says from when a camera is kept, and has null for weeks that retention has removed', async () => {
  camera('gate', { retention: { results_hours: (1.5 * WEEK) / HOUR } });
  await changed('2026-06-16T00:00:00Z');
  const [trend] = (await ask('?weeks=4')).body.items;
  expect(trend.kept_since).toBe(new Date(NOW - 1.5 * WEEK).toISOString());
  expect(trend.weeks).toEqual([
    { monday: '2026-05-25', changes: null, visits: null, complete: false },
    { monday: '2026-06-01', changes: 0, visits: 0, complete: false },
    { monday: '2026-06-08', changes: 0, visits: 0, complete: true },
    { monday: '2026-06-15', changes: 1, visits: 0, complete: false },
  ]);
});

it.each([
  ['?time_zone=Nowhere', 422, 'time_zone'],
  ['?weeks=54', 400, 'weeks'],
])('refuses %s', async (query, statusCode, field) => {
  expect(await ask(query)).toMatchObject({ statusCode, body: { field } });
});
