/** Times of rounds: days of the week, the day before, and the days on which clocks change. */
import { describe, expect, it } from '@jest/globals';
import { roundIdOf } from '../../../src/base/ids.js';
import { checkRound, isTooDark, latestRound } from '../../../src/camera/settings/rounds.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';

const morning = { name: 'morning', at: '07:00', with: '16:50 yesterday', tz: 'Europe/Berlin' };
const iso = (times: ReturnType<typeof latestRound>) =>
  times && [times.with, times.at].map((at) => new Date(at).toISOString());
const latest = (round: object, now: string) => iso(latestRound(checkRound({ ...morning, ...round }), Date.parse(now)));

describe('latestRound', () => {
  it.each([
    ['in summer', {}, '2026-06-02T05:00:00Z', ['2026-06-01T14:50:00.000Z', '2026-06-02T05:00:00.000Z']],
    ['not before its time', {}, '2026-06-02T04:59:59Z', ['2026-05-31T14:50:00.000Z', '2026-06-01T05:00:00.000Z']],
    ['after clocks went forward', {}, '2026-03-29T06:00:00Z', ['2026-03-28T15:50:00.000Z', '2026-03-29T05:00:00.000Z']],
    ['after clocks went back', {}, '2026-10-25T07:00:00Z', ['2026-10-24T14:50:00.000Z', '2026-10-25T06:00:00.000Z']],
    [
      'in an hour that is missing',
      { at: '02:30', with: '01:00' },
      '2026-03-29T02:00:00Z',
      ['2026-03-29T00:00:00.000Z', '2026-03-29T01:30:00.000Z'],
    ],
    [
      'in an hour that comes twice: the first',
      { at: '02:30', with: '01:00' },
      '2026-10-25T02:00:00Z',
      ['2026-10-24T23:00:00.000Z', '2026-10-25T00:30:00.000Z'],
    ],
    [
      'on the last of its days',
      { days: ['fri'] },
      '2026-06-03T12:00:00Z',
      ['2026-05-28T14:50:00.000Z', '2026-05-29T05:00:00.000Z'],
    ],
    [
      'over the new year',
      { tz: 'Pacific/Auckland' },
      '2026-12-31T18:30:00Z',
      ['2026-12-31T03:50:00.000Z', '2026-12-31T18:00:00.000Z'],
    ],
  ])('%s', (_name, round, now, expected) => expect(latest(round, now)).toEqual(expected));
});

it('gives each camera, round and day one id', () => {
  const times = latestRound(checkRound(morning), Date.parse('2026-06-02T05:00:00Z')) as { at: number; with: number };
  const ids = [
    roundIdOf('gate', morning, times),
    roundIdOf('yard', morning, times),
    roundIdOf('gate', { name: 'noon' }, times),
    roundIdOf('gate', morning, { ...times, at: times.at + 86_400_000 }),
  ];
  expect(new Set(ids).size).toBe(4);
  expect(roundIdOf('gate', morning, { ...times })).toBe(ids[0]);
});

it.each([
  [{ rounds: [{ ...morning, tz: 'Berlin' }] }, 'rounds/0/tz'],
  [{ rounds: [{ ...morning, with: '07:00' }] }, 'rounds/0/with'],
  [{ rounds: [{ ...morning, with: '6:00' }] }, 'rounds/0/with'],
  [{ rounds: [morning, { ...morning, at: '08:00' }] }, 'rounds/1/name'],
  [{ rounds: [{ ...morning, days: [] }] }, 'rounds/0/days'],
])('refuses a round that contradicts itself: %j', (settings, field) => {
  expect(() => checkSettings(settings)).toThrow(expect.objectContaining({ field }));
});

it('calls a picture too dark that shows nothing', () => {
  const grey = (level: number) => ({ width: 64, height: 36, data: new Uint8Array(64 * 36 * 3).fill(level) });
  expect([grey(4), grey(30)].map(isTooDark)).toEqual([true, false]);
});
