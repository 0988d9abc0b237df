/** Recorded time of a camera, and its expected frames: the measures of the progress of recordings. */
import { expectedFrames, recordedTime } from '../../src/footage/inputs/recorded-time.js';
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

describe('the expected number of frames', () => {
  const sequence = (kind: FootageItem['kind'], begins: readonly number[], endsAt: number) => ({
    camera: 'gate',
    items: begins.map((at): FootageItem => ({ kind, file: '', location: { from: 'url', url: '' }, at })),
    ...{ range: { from: 0, until: HALF_YEAR }, endsAt, gapMs: MINUTE },
  });
  const every = (seconds: number) => ({ mode: 'seconds', seconds, exact: false }) as const;
  const video = sequence('video', [0, 10 * MINUTE], 20 * MINUTE);
  const pictures = sequence(
    'image',
    [0, 10, 20, 30].map((second) => second * 1000),
    30_000,
  );

  it.each([
    ['of a video is its length by the interval', video, every(10), null, 120],
    ['of close key frames is that of a second each', video, { mode: 'auto' } as const, 0.5, 1200],
    ['of key frames at most 4 s apart is theirs', video, { mode: 'auto' } as const, 4, 300],
    ['of far key frames is that of seconds', video, { mode: 'auto' } as const, 10, 1200],
    ['is unknown if a video cannot be read beforehand', video, { mode: 'auto' } as const, null, null],
    ['is unknown if every frame counts', video, { mode: 'all' } as const, 4, null],
    ['of pictures is their number', pictures, { mode: 'auto' } as const, null, 4],
    ['of pictures has one per interval', pictures, every(20), null, 2],
  ])('%s', (_name, given, mode, keyFrameSeconds, expected) => {
    expect(expectedFrames(given, mode, keyFrameSeconds)).toBe(expected);
  });
});
