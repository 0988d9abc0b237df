/** Rounds of an archive: which pictures of which days are compared, and the reasons of days without one. */
import { expect, it } from '@jest/globals';
import { checkRound } from '../../src/camera/settings/rounds.js';
import { checkSettings } from '../../src/camera/settings/settings.js';
import { shiftsOf } from '../../src/footage/search/shift.js';
import { picture, pixelPipeline, RED } from '../helpers/cameras.js';

const VAN = [60, 30, 12, 10, RED] as const;
const scene = () => picture({ grain: true });
const changed = () => picture({ grain: true, things: [VAN] });
const dark = () => picture({ background: [2, 2, 2] });
const broken = async () => Buffer.from('no picture');

type Taken = readonly [at: string, make: () => Promise<Buffer>];

async function shifts(taken: readonly Taken[], round: object = {}) {
  const frames = {
    count: taken.length,
    moment: (i: number) => ({ at: new Date(taken[i]?.[0] ?? '').toISOString(), file: `${i}.jpg`, seconds: 0 }),
    frame: (i: number) => (taken[i] as Taken)[1](),
  };
  const given = { name: 'shift', at: '07:00', with: '16:50 yesterday', ...round };
  const options = { settings: checkSettings({}), privacy: [], pipeline: pixelPipeline().pipeline };
  const found = [];
  for await (const { day, before, after, finding, missing } of shiftsOf(frames, checkRound(given), {
    ...{ ...options, decodeLimits: { pixelLimit: 1_000_000 }, signal: new AbortController().signal },
  })) {
    found.push([day, before?.moment.file ?? null, after?.moment.file ?? null, finding?.verdict ?? missing.join('; ')]);
  }
  return found;
}

it('compares the nearest pictures of both times on each day', async () => {
  const taken: Taken[] = [
    ['2026-06-01T16:30:00Z', scene],
    ['2026-06-01T16:49:00Z', scene],
    ['2026-06-02T06:59:58Z', changed],
    ['2026-06-02T07:20:00Z', scene],
    ['2026-06-02T16:50:00Z', scene],
    ['2026-06-03T07:05:00Z', scene],
  ];
  expect(await shifts(taken)).toEqual([
    ['2026-06-02', '1.jpg', '2.jpg', 'change'],
    ['2026-06-03', '4.jpg', '5.jpg', 'none'],
  ]);
  expect(await shifts(taken, { days: ['wed'] })).toEqual([['2026-06-03', '4.jpg', '5.jpg', 'none']]);
});

it('passes over pictures that are too dark or cannot be read, and says what there was', async () => {
  const [evening, morning] = ['2026-06-01T16:50:00Z', '2026-06-02T07:00:00Z'];
  const later: Taken = ['2026-06-02T07:30:00Z', changed];
  const nearest: Taken[] = [
    [evening, scene],
    [morning, dark],
    ['2026-06-02T07:01:00Z', broken],
  ];
  expect(await shifts([...nearest, later])).toEqual([['2026-06-02', '0.jpg', '3.jpg', 'change']]);
  const nothing = '2 pictures, none of use (1 too dark, 1 unreadable) within 60 min of 2026-06-02T07:00:00.000Z (UTC)';
  expect(await shifts(nearest)).toEqual([['2026-06-02', '0.jpg', null, nothing]]);
});

it('names both times if neither has a picture', async () => {
  const taken: Taken[] = [
    ['2026-06-01T07:00:00Z', scene],
    ['2026-06-02T06:30:00Z', scene],
  ];
  const noEvening = (day: number) =>
    `no picture within 60 min of 2026-0${day < 1 ? '5-31' : '6-01'}T16:50:00.000Z (UTC)`;
  expect(await shifts(taken)).toEqual([
    ['2026-06-01', null, '0.jpg', noEvening(0)],
    ['2026-06-02', null, '1.jpg', noEvening(1)],
  ]);
});

it('takes the wall clock of its time zone where the clock changes', async () => {
  const taken: Taken[] = [
    ['2026-03-28T15:50:00Z', scene],
    ['2026-03-29T05:00:00Z', changed],
    ['2026-03-29T06:00:00Z', scene],
  ];
  expect(await shifts(taken, { tz: 'Europe/Berlin' })).toEqual([['2026-03-29', '0.jpg', '1.jpg', 'change']]);
});
