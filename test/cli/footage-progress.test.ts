/** Recorded time of a camera, which the progress of `scenedelta footage` is measured by. */
import { recordedTime } from '../../src/cli/footage/progress.js';
import type { FootageItem } from '../../src/footage/inputs/recording-plan.js';

const MINUTE = 60_000;
const HALF_YEAR = 182 * 24 * 60 * MINUTE;
const timeOf = (begins: readonly number[], endsAt: number, from = 0) => {
  const items = begins.map((at): FootageItem => ({ kind: 'video', file: '', location: { from: 'url', url: '' }, at }));
  return recordedTime({ camera: 'gate', items, range: { from, until: HALF_YEAR * 2 }, endsAt, gapMs: MINUTE });
};

it('is that of the files, from the begin of the wanted part on', () => {
  const time = timeOf([0, 10 * MINUTE, 20 * MINUTE], 30 * MINUTE, 5 * MINUTE);
  expect(time.seconds).toBe(25 * 60);
  expect([5, 6, 10, 30].map((minutes) => time.until(minutes * MINUTE))).toEqual([0, 60, 300, 1500]);
});

it('has no half year because of a file with a wrong clock', () => {
  const time = timeOf([0, 10 * MINUTE, 20 * MINUTE, HALF_YEAR], HALF_YEAR + 10 * MINUTE);
  expect(time.seconds).toBe(40 * 60);
  expect(time.until(HALF_YEAR)).toBe(30 * 60);
  expect(time.until(HALF_YEAR + 10 * MINUTE)).toBe(40 * 60);
});
