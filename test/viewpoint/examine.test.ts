import { jest } from '@jest/globals';
import { project } from '../../src/viewpoint/homography.js';
import { MEASUREMENTS } from '../../src/viewpoint/measurements.js';
import { startExaminer } from './examiner.js';
import { altered, flat, noisy, panned, seen, size, softened, street, withBox } from './scenes.js';

// These tests measure no time, and the machine may be busy.
jest.setTimeout(60_000);

const before = street('a street');
const { examine, close } = startExaminer();
afterAll(close);
const strongest = (scores: Readonly<Record<string, number>>) =>
  Object.entries(scores).sort(([, a], [, b]) => b - a)[0]?.[0];

describe('registration measures the motion of the camera', () => {
  it.each([
    { x: 2, y: -1 },
    { x: -17, y: 9 },
    { x: 30, y: 24 },
    { degrees: 5 },
    { degrees: -3, x: 8 },
    { zoom: 1.1 },
    { zoom: 0.92, y: 6 },
    { degrees: 2, zoom: 1.05, x: -12, y: 5 },
  ])('to within half a pixel in the middle: %j', async (motion) => {
    const { image, homography } = seen(before, motion);
    const { evidence, moved } = await examine(before, image);
    const { registration } = evidence;
    if (registration === null) throw new Error('refused');
    const [found, truth] = [project(registration.homography, 0.5, 0.5), project(homography, 0.5, 0.5)];
    expect(Math.hypot((found.x - truth.x) * size.width, (found.y - truth.y) * size.height)).toBeLessThan(0.5);
    expect(registration.rotationDegrees).toBeCloseTo(motion.degrees ?? 0, 1);
    expect(registration.scale).toBeCloseTo(motion.zoom ?? 1, 2);
    expect(moved).toBe(true);
  });

  it.each([3, -3])('a pan of %d degrees is no zoom and no roll', async (degrees) => {
    const { registration } = (await examine(before, panned(before, degrees))).evidence;
    if (registration === null) throw new Error('refused');
    const shift = Math.tan((Math.abs(degrees) * Math.PI) / 180); // of a lens as long as the frame is wide
    expect(registration.shift).toBeCloseTo(shift, 2);
    expect(Math.abs(registration.scale - 1)).toBeLessThan(0.01);
    expect(Math.abs(registration.rotationDegrees)).toBeLessThan(0.1);
  });

  it('finds no motion if only noise differs', async () => {
    const { evidence, moved } = await examine(noisy(before, 2, 'first'), noisy(before, 2, 'second'));
    expect(evidence.registration?.displacement).toBeLessThan(0.3 / size.width);
    expect(evidence.registration?.overlap).toBe(1);
    expect(moved).toBe(false);
  });

  it('ignores a large new thing', async () => {
    const { image } = seen(before, { x: 6 });
    const parked = withBox(image, { x: 0.3, y: 0.3, width: 0.4, height: 0.5 }, [200, 30, 30]);
    const { evidence } = await examine(before, parked);
    expect((evidence.registration?.shift ?? 0) * size.width).toBeCloseTo(6, 0);
  });

  it('ignores a change of light', async () => {
    const { image } = seen(before, { x: -9, y: 4 });
    const dusk = altered(image, (value) => 255 * (value / 255) ** 1.5 * 0.6);
    const { evidence } = await examine(before, dusk);
    expect((evidence.registration?.shift ?? 0) * size.width).toBeCloseTo(Math.hypot(9, 4), 0);
  });

  it('accepts frames of two sizes', async () => {
    const [width, height] = [size.width / 2, size.height / 2];
    const data = Uint8Array.from({ length: width * height * 3 }, (_, i) => {
      const pixel = (i - (i % 3)) / 3;
      const [x, y] = [pixel % width, (pixel - (pixel % width)) / width];
      return before.data[(2 * y * size.width + 2 * x) * 3 + (i % 3)] as number;
    });
    const { evidence } = await examine(before, { width, height, data });
    expect((evidence.registration?.displacement ?? 1) * size.width).toBeLessThan(1.5);
  });

  it('is deterministic', async () => {
    const { image } = seen(before, { degrees: 1.5 });
    expect(await examine(before, image)).toEqual(await examine(before, image));
  });
});

describe('registration is refused with the reason, and scores stay finite', () => {
  const refusal = async (a: typeof before, b: typeof before) => {
    const { evidence } = await examine(a, b);
    for (const name of MEASUREMENTS) expect(Number.isFinite(evidence.measurements[name])).toBe(true);
    expect(evidence.registration).toBeNull();
    return evidence.refusal;
  };

  it.each([
    ['featureless', flat(120)],
    ['black', flat(0)],
    ['saturated', flat(255)],
  ])('if a frame is %s', async (_, empty) => {
    expect(await refusal(empty, before)).toEqual({
      reason: 'before_featureless',
      detail: 'before has 0 corners, expected at least 16',
    });
    expect((await refusal(before, empty))?.reason).toBe('after_featureless');
    expect((await refusal(empty, empty))?.reason).toBe('before_featureless');
  });

  it('if there is only noise', async () => {
    const noise = (seed: string) => noisy(flat(120), 40, seed);
    expect((await refusal(noise('first'), noise('second')))?.reason).toBe('no_common_view');
    expect((await refusal(before, noise('second')))?.reason).toBe('no_common_view');
  });

  it.each(['1', '2', '3', '4'])('if the scenes have nothing in common (%s)', async (seed) => {
    const { reason, detail } = (await refusal(before, street(`another street ${seed}`))) ?? {};
    expect(reason).toBe('no_common_view');
    expect(detail).toMatch(/^\d+ of \d+ corners of before agree on where they are in after, expected at least \d+$/);
  });

  it('if a frame is too small', async () => {
    const tiny = street('tiny', { width: 16, height: 16 });
    expect(await refusal(tiny, tiny)).toEqual({
      reason: 'too_small',
      detail: 'a side has 16 px, expected at least 64 px',
    });
  });

  it.each([
    { width: 1280, height: 24 },
    { width: 16, height: 1280 },
    { width: 16, height: 12_000 },
    { width: 12_000, height: 64 },
  ])('if a side is too short for a tile: %j', async (strip) => {
    const [first, second] = [street('a strip', strip), street('another strip', strip)];
    const { evidence } = await examine(first, second);
    expect(evidence.registration).toBeNull();
    for (const scores of [evidence.measurements, evidence.nuisances, evidence.tampers])
      for (const [name, value] of Object.entries(scores))
        expect({ name, finite: Number.isFinite(value) }).toEqual({ name, finite: true });
  });

  it('if the aspect ratios differ', async () => {
    const tall = street('tall', { width: 300, height: 400 });
    expect(await refusal(before, tall)).toEqual({
      reason: 'shape',
      detail: 'before has 400x300 px and after 300x400 px, expected one aspect ratio',
    });
  });
});

describe('the causes of altered pixels', () => {
  const sensor = (image: typeof before, seed: string) => noisy(image, 1.5, seed);
  const of = (image: typeof before) => examine(sensor(before, 'a'), sensor(image, 'b'));
  const grey = (image: typeof before) =>
    altered(image, (_, i) => {
      const at = i - (i % 3);
      return (
        0.4 * (image.data[at] as number) + 0.45 * (image.data[at + 1] as number) + 0.15 * (image.data[at + 2] as number)
      );
    });

  it.each([
    ['lighting', altered(before, (value) => value * 1.7)],
    ['lighting', altered(before, (value) => value * 0.5)],
    ['ir_switch', grey(before)],
    ['noise', noisy(before, 18, 'grain')],
    ['camera_moved', seen(before, { x: 14, y: 3 }).image],
  ])('%s', async (name, image) => {
    const { evidence, tampers } = await of(image);
    expect(strongest(evidence.nuisances)).toBe(name);
    expect(tampers).toEqual([]);
  });

  it('two infrared frames are no switch between day and night mode', async () => {
    const dark = altered(grey(before), (value) => value * 0.6);
    const { evidence } = await examine(noisy(dark, 4, 'a'), noisy(grey(before), 4, 'b'));
    expect(evidence.nuisances.ir_switch).toBe(0);
  });

  it('a camera motion scores 0 if the views cannot be registered', async () => {
    const { evidence } = await examine(before, street('elsewhere'));
    expect(evidence.registration).toBeNull();
    expect(evidence.nuisances.camera_moved).toBe(0);
  });
});

describe('tampering', () => {
  it.each([
    ['turned', street('where it looks now')],
    ['darkened', noisy(flat(4), 1.5, 'dark')],
    ['blocked', noisy(flat(120), 2, 'a cloth')],
    ['defocused', noisy(softened(before, 4), 1, 'sensor')],
    ['defocused', noisy(softened(before, 7), 1, 'sensor')],
  ])('is named: %s', async (name, after) => {
    const { tampers } = await examine(noisy(before, 1.5, 'sensor'), after);
    expect(tampers.map((tamper) => tamper.name)).toContain(name);
  });

  it('is not named for a large new thing', async () => {
    const van = withBox(before, { x: 0.25, y: 0.3, width: 0.45, height: 0.5 }, [210, 210, 205]);
    const { tampers } = await examine(noisy(before, 1.5, 'a'), noisy(van, 1.5, 'b'));
    expect(tampers).toEqual([]);
  });

  it('is not named for a large new thing in a bare place', async () => {
    const yard = noisy(flat(110), 3, 'asphalt');
    const van = withBox(yard, { x: 0.2, y: 0.2, width: 0.5, height: 0.45 }, [210, 210, 205]);
    const roof = withBox(van, { x: 0.3, y: 0.3, width: 0.2, height: 0.2 }, [40, 40, 45]);
    const { tampers } = await examine(noisy(yard, 1.5, 'a'), noisy(roof, 1.5, 'b'));
    expect(tampers).toEqual([]);
  });

  it('is not named if before shows too little', async () => {
    const { evidence } = await examine(flat(90), flat(10));
    expect(evidence.tampers).toEqual({ blocked: 0, defocused: 0, darkened: 0, turned: 0 });
  });
});
