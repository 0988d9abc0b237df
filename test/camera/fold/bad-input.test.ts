/** Cameras that send what they should not, and the answer that each gets from the rule of quiet frames. */
import { describe, expect, it, jest } from '@jest/globals';
import type { StepResult } from '../../../src/camera/fold/step.js';
import { frameOf, HEIGHT, isQuiet, noteCodes, type Scene, sequence } from '../../helpers/sequences.js';

/** Only for a machine that does much else: each test takes about a second. */
jest.setTimeout(120_000);

const RED = [220, 40, 40] as const;
const PERSON: Scene['things'] = [[200, 90, 12, 30, RED]];
/** Frames in which the noise of the camera is learned. */
const LEARNED = 12;

type Camera = ReturnType<typeof sequence>;
/** @param scene of the frame at this second @param rate frames per second */
async function run(camera: Camera, seconds: number, scene: (second: number, i: number) => Scene, rate = 1, from = 0) {
  const results: StepResult[] = [];
  for (let i = 0; i < seconds * rate; i++) {
    const second = from + i / rate;
    results.push(await camera.step(await frameOf({ noise: `at ${second}`, ...scene(second, i) }), second));
  }
  return results;
}
const opened = (results: readonly StepResult[]) =>
  results.flatMap(({ changes }) => changes.filter(({ event }) => event === 'change.opened'));
const quietShare = (results: readonly StepResult[]) => results.filter(isQuiet).length / results.length;

describe('a camera that sends the same file without end', () => {
  it('gets quiet answers that note from five minutes on that it may be stuck', async () => {
    const camera = sequence();
    const file = await frameOf();
    const results: StepResult[] = [];
    for (let second = 0; second <= 420; second += 5) results.push(await camera.step(file, second));
    const frozen = results.map((result) => noteCodes(result).includes('frozen'));
    expect(frozen.indexOf(true)).toBe(300 / 5);
    expect(frozen.lastIndexOf(false)).toBe(300 / 5 - 1);
    expect(results.flatMap(({ health }) => health)).toEqual([]);
    expect(results.at(-1)?.state.still).toMatchObject({ since: Date.parse('2026-06-01T12:00:00.000Z'), stuck: true });
    expect(results.every(({ finding: { verdict } }) => verdict === 'none')).toBe(true);
    // An identical frame is examined once per minute all the same.
    const examined = results.flatMap((result, i) => (isQuiet(result) ? [] : [5 * i]));
    expect(Math.max(...examined.map((second, i) => (examined[i + 1] ?? 420) - second))).toBeLessThanOrEqual(60);
    expect(examined.length).toBeLessThanOrEqual(2 + 420 / 48);
  });

  it('is not stuck any more with its first other frame', async () => {
    const camera = sequence({ frozen_after_s: 60 });
    const file = await frameOf();
    for (let second = 0; second <= 90; second += 5) await camera.step(file, second);
    const next = await camera.step(await frameOf({ noise: 'other' }), 95);
    expect(next.state.still).toBeUndefined();
    expect(next.unseen.map(({ reason, from, until }) => [reason, (until - from) / 1_000])).toEqual([['frozen', 95]]);
    expect(noteCodes(next)).not.toContain('frozen');
  });

  it('shows a change that begins with the first other frame', async () => {
    const camera = sequence({ alerts: { confirm_frames: 1 } });
    const file = await frameOf();
    for (let second = 0; second <= 30; second += 5) await camera.step(file, second);
    const next = await camera.step(await frameOf({ noise: 'other', things: PERSON }), 35);
    expect(isQuiet(next)).toBe(false);
    expect(opened([next])).toHaveLength(1);
  });
});

describe('frames that alternate between two cameras', () => {
  it('are quiet, except for those of the other camera, which are foreign pictures', async () => {
    const results = await run(sequence(), 10, (_second, i) => ({ place: i % 2 }));
    expect(results.map(isQuiet)).toEqual(results.map((_result, i) => i > 0 && i % 2 === 0));
    const verdicts = results.map(({ finding }) => finding.verdict);
    expect(verdicts).toEqual(results.map((_result, i) => (i % 2 === 0 ? 'none' : 'tamper')));
    expect(opened(results)).toEqual([]);
  });
});

describe('thirty frames per second', () => {
  it('are quiet except for one per minute, and a thing is seen in the first frame that shows it', async () => {
    const camera = sequence();
    const results = await run(camera, 3, (second) => (second >= 2 ? { things: PERSON } : {}), 30);
    const first = 2 * 30;
    expect(quietShare(results.slice(LEARNED, first))).toBe(1);
    expect(isQuiet(results[first] as StepResult)).toBe(false);
    expect(results[first]?.finding.verdict).toBe('change');
    // Confirmed by the next frame, which is examined too.
    expect(opened(results)).toHaveLength(1);
    expect(opened(results.slice(0, first + 3))).toHaveLength(1);
    expect(camera.calls.length).toBeLessThan(15);
  });
});

describe('exposure that pumps', () => {
  /** A period of eight seconds. */
  const pumping = (depth: number) => (second: number) => ({ gain: 1 + depth * Math.sin((2 * Math.PI * second) / 8) });

  it('by some levels is quiet', async () => {
    const results = await run(sequence(), 30, pumping(0.015));
    expect(quietShare(results.slice(LEARNED))).toBe(1);
    expect(opened(results)).toEqual([]);
  });

  it('hides no thing that appears meanwhile', async () => {
    const light = pumping(0.015);
    const camera = sequence();
    const results = await run(camera, 24, (second) => ({ ...light(second), things: second >= 20 ? PERSON : [] }));
    expect(isQuiet(results[20] as StepResult)).toBe(false);
    expect(opened(results)).toHaveLength(1);
  });

  it('strongly is examined, because it could hide a small change', async () => {
    const results = await run(sequence(), 18, pumping(0.2));
    const strongest = results.filter((_result, second) => second % 8 === 2 && second > 0);
    expect(strongest.some(isQuiet)).toBe(false);
    expect(opened(results)).toEqual([]);
  });
});

describe('a clock overlay that changes every second', () => {
  const WHITE = [250, 250, 250] as const;
  const digits = (second: number): Scene => ({
    things: Array.from({ length: 6 }, (_, k) => [10 + 8 * k, 6, 5, 2 + ((7 * second + 5 * k) % 8), WHITE] as const),
  });
  const zone = {
    id: 'clock',
    type: 'ignore',
    polygon: [
      [0, 0],
      [0.25, 0],
      [0.25, 0.12],
      [0, 0.12],
    ],
  };

  it('is examined every second: it changes as a thing of its size does', async () => {
    const results = await run(sequence(), 8, digits);
    expect(results.some(isQuiet)).toBe(false);
  });

  it('in an ignored zone is quiet, and a thing outside is seen at once', async () => {
    const camera = sequence({ zones: [zone] });
    const results = await run(camera, 24, (second) => {
      const { things = [] } = digits(second);
      return { things: second >= 20 ? [...things, ...(PERSON ?? [])] : things };
    });
    expect(quietShare(results.slice(LEARNED, 20))).toBe(1);
    expect(isQuiet(results[20] as StepResult)).toBe(false);
    expect(opened(results)).toHaveLength(1);
  });
});

describe('interlaced frames', () => {
  /** The lines of the second field are a field later: here half a line up or down, by turns, as a deinterlacer bobs. */
  const bobbed = (i: number) => ({ shift: () => (i % 2 === 0 ? 0.25 : -0.25) });
  /** A thing that moves shows as a comb: it is elsewhere in every second line. */
  const combed = (i: number): Scene => ({
    shift: (y) => (y % 2 === 0 ? 0 : 0.5),
    things: [[50 + 6 * i, 90, 12, 30, RED]],
  });

  it('that bob by half a line are mostly quiet once the camera is known', async () => {
    const results = await run(sequence(), 32, (_second, i) => bobbed(i));
    expect(quietShare(results.slice(LEARNED))).toBeGreaterThan(0.7);
    expect(opened(results)).toEqual([]);
  });

  it('of a moving thing are examined, each of them', async () => {
    const camera = sequence();
    await run(camera, LEARNED, () => ({ shift: (y) => (y % 2 === 0 ? 0 : 0.5) }));
    const results = await run(camera, 8, (_second, i) => combed(i), 1, LEARNED);
    expect(results.some(isQuiet)).toBe(false);
    expect(results.every(({ finding: { verdict } }) => verdict === 'change')).toBe(true);
  });
});

describe('a frame half grey from a lost packet', () => {
  const lost = (second: number) => second === 20;
  const scenes = (second: number): Scene => (lost(second) ? { greyFrom: HEIGHT / 2 } : {});

  it('is examined and opens no change, because the next frame does not confirm it', async () => {
    const results = await run(sequence({ before: 'reference' }), 28, scenes);
    expect(isQuiet(results[20] as StepResult)).toBe(false);
    expect(results[20]?.finding).toMatchObject({ verdict: 'change' });
    expect(results[20]?.finding.regions[0]?.box.y).toBeCloseTo(0.5, 1);
    expect(opened(results)).toEqual([]);
    expect(results[21]?.finding.verdict).toBe('none');
    expect(quietShare(results.slice(23))).toBe(1);
  });

  it('that breaks off behind its header is refused, and the frames after it go on as if it had not come', async () => {
    const camera = sequence();
    await run(camera, 16, () => ({}));
    const before = camera.state();
    const broken = (await frameOf()).subarray(0, 700);
    await expect(camera.step(broken, 16)).rejects.toMatchObject({
      code: 'image-unreadable',
      message: expect.stringContaining('damaged or truncated'),
    });
    expect(camera.state()).toEqual(before);
    const after = await run(camera, 5, () => ({}), 1, 17);
    expect(quietShare(after)).toBe(1);
    expect(after[0]?.cameraFrame.nothing_new_since?.comparison).toBe(before.examined?.comparison);
  });
});
