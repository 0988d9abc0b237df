import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type OperatingPoint, thresholdFor } from '../../src/cameras/alarm-budget.js';
import {
  chooseUpdate,
  learn,
  nearestBackground,
  UPDATE_INTERVAL_MS,
  type UpdateContext,
} from '../../src/cameras/background-model.js';
import { type Light, lightOf, measureLight } from '../../src/cameras/light.js';
import type { RgbImage } from '../../src/images.js';

const image = (level: (x: number, y: number) => number, width = 40, height = 30) => {
  const data = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++)
    data.fill(level(i % width, Math.floor(i / width)), i * 3, i * 3 + 3);
  return { width, height, data };
};
const at = ({ width, data }: { width: number; data: Uint8Array }, x: number, y: number) =>
  data[(y * width + x) * 3];

describe('learning', () => {
  const plate = image(() => 100);

  it('follows slowly, to the level itself and never past it', () => {
    let learned: RgbImage = plate;
    for (const expected of [94, 88, 85, 85]) {
      learned = learn(
        learned,
        image(() => 85),
        { protect: [], absorb: [] },
      );
      expect(at(learned, 3, 3)).toBe(expected);
    }
    expect(at(plate, 3, 3)).toBe(100);
  });

  it('keeps what lies in a protected box, and takes an absorbed one as it is', () => {
    const frame = image(() => 200);
    const left = { x: 0, y: 0, width: 0.2, height: 1 };
    const right = { x: 0.8, y: 0, width: 0.2, height: 1 };
    const learned = learn(plate, frame, { protect: [left], absorb: [right] });
    expect([at(learned, 2, 15), at(learned, 20, 15), at(learned, 38, 15)]).toEqual([100, 106, 200]);
  });

  it('refuses a frame of another size', () => {
    expect(() =>
      learn(
        plate,
        image(() => 0, 20, 30),
        { protect: [], absorb: [] },
      ),
    ).toThrow(/20x30.*40x30/);
  });
});

describe('the lesson of a frame', () => {
  const plate = { frame: 'p', width: 40, height: 30, learnedAt: 0 };
  const finding = (verdict: 'none' | 'nuisance' | 'change' | 'tamper', regions = 0, shift_px = 0) => ({
    verdict,
    viewpoint: {
      moved: shift_px > 0,
      shift_px,
      rotation_deg: 0,
      scale: 1,
      overlap: 1,
      inliers: 60,
      residual_px: 0.1,
    },
    regions: Array(regions).fill({ box: { x: 0, y: 0, width: 0.1, height: 0.1 } }),
  });
  const occasion = (change: Partial<UpdateContext>): UpdateContext => ({
    finding: finding('none'),
    at: UPDATE_INTERVAL_MS,
    width: 40,
    height: 30,
    pending: false,
    absorb: [],
    ...change,
  });
  it.each([
    ['nothing changed', occasion({}), 'learn'],
    ['it learned a moment ago', occasion({ at: UPDATE_INTERVAL_MS - 1 }), 'keep'],
    ['only the light changed', occasion({ finding: finding('nuisance') }), 'learn'],
    ['the camera trembled', occasion({ finding: finding('nuisance', 0, 0.3) }), 'learn'],
    ['the camera moved', occasion({ finding: finding('nuisance', 0, 0.5) }), 'keep'],
    ['the camera is covered', occasion({ finding: finding('tamper') }), 'keep'],
    ['a change with its place', occasion({ finding: finding('change', 1) }), 'learn'],
    ['a change nobody can place', occasion({ finding: finding('change') }), 'keep'],
    [
      'a change that waits for its confirmation',
      occasion({ finding: finding('change', 1), pending: true }),
      'keep',
    ],
    ['something settled, though it learned a moment ago', occasion({ at: 1, absorb: [1] }), 'learn'],
    ['a frame of another size', occasion({ width: 20 }), 'start'],
    [
      'a frame of another size that shows a change',
      occasion({ width: 20, finding: finding('change', 1) }),
      'keep',
    ],
  ])('%s', (_what, given, lesson) => {
    expect(chooseUpdate(plate, given)).toBe(lesson);
  });

  it('without a plate: begins with a frame without change, or with one whose change has settled', () => {
    expect(chooseUpdate(undefined, occasion({}))).toBe('start');
    expect(chooseUpdate(undefined, occasion({ finding: finding('change', 1) }))).toBe('keep');
    expect(chooseUpdate(undefined, occasion({ finding: finding('change', 1), absorb: [1] }))).toBe('start');
  });
});

describe('light', () => {
  it('is told by brightness and colour, and does not flicker on a border', () => {
    const of = (luma: number, colour: number, previous: Light | null = null) =>
      lightOf({ luma, colour }, previous);
    expect([of(120, 30), of(20, 30), of(120, 1)]).toEqual(['day', 'dusk', 'infrared']);
    expect([of(50, 30, 'day'), of(50, 30, 'dusk'), of(65, 30, 'dusk')]).toEqual(['day', 'dusk', 'day']);
    expect([of(120, 4, 'day'), of(120, 4, 'infrared'), of(120, 7, 'infrared')]).toEqual([
      'day',
      'infrared',
      'day',
    ]);
  });

  it('does not count what a privacy mask has painted black', () => {
    const half = image((x) => (x < 20 ? 0 : 120));
    expect(measureLight(half)).toEqual({ luma: expect.closeTo(120, 5), colour: 0 });
    expect(measureLight(image(() => 0))).toEqual({ luma: 0, colour: 0 });
  });

  it('without its own plate borrows the nearest', () => {
    const plate = (frame: string) => ({ frame, width: 1, height: 1, learnedAt: 0 });
    expect(nearestBackground({ day: plate('d'), dusk: plate('k') }, 'infrared')).toMatchObject({
      light: 'dusk',
    });
    expect(nearestBackground({ day: plate('d') }, 'infrared')).toMatchObject({ light: 'day' });
    expect(nearestBackground({}, 'day')).toBeNull();
  });
});

describe('the dial', () => {
  const POINTS: OperatingPoint[] = [
    { false_alarm_rate: 0.1, threshold: 0.1 },
    { false_alarm_rate: 0.001, threshold: 0.93 },
    { false_alarm_rate: 0.01, threshold: 0.64 },
  ];
  it('meets the points that were measured', () => {
    for (const { false_alarm_rate, threshold } of POINTS) {
      const dialled = thresholdFor(false_alarm_rate * 5000, 5000, POINTS);
      expect(dialled?.threshold).toBeCloseTo(threshold, 9);
      expect(dialled?.alarms_per_day).toBeCloseTo(false_alarm_rate * 5000, 9);
    }
  });

  it('asked for fewer alarms, never gives a lower threshold', () => {
    const alarms = fc.double({ min: 0.01, max: 1000, noNaN: true });
    fc.assert(
      fc.property(alarms, alarms, fc.integer({ min: 1, max: 90_000 }), (a, b, frames) => {
        const [few, many] = [Math.min(a, b), Math.max(a, b)];
        const strict = thresholdFor(few, frames, POINTS)?.threshold ?? 0;
        expect(strict).toBeGreaterThanOrEqual((thresholdFor(many, frames, POINTS)?.threshold ?? 1) - 1e-12);
      }),
    );
  });

  it('promises no more than was measured: beyond the strictest point it tells what is to be expected', () => {
    expect(thresholdFor(1, 86_400, POINTS)).toEqual({
      threshold: 0.93,
      alarms_per_day: expect.closeTo(86.4, 6),
    });
    expect(thresholdFor(1000, 1, POINTS)).toMatchObject({ threshold: 0.1 });
    expect(thresholdFor(1, 1, [])).toBeNull();
  });
});
