import { examine, hasMoved, namedTampers } from '../../src/viewpoint/examine.js';
import { project } from '../../src/viewpoint/homography.js';
import { MEASUREMENTS } from '../../src/viewpoint/measure.js';
import { altered, flat, noisy, seen, size, street, withBox } from './scenes.js';

const before = street('a street');
const strongest = (scores: Readonly<Record<string, number>>) =>
  Object.entries(scores).sort(([, a], [, b]) => b - a)[0]?.[0];

describe('registration finds how the camera moved', () => {
  it.each([
    { x: 2, y: -1 },
    { x: -17, y: 9 },
    { x: 30, y: 24 },
    { degrees: 5 },
    { degrees: -3, x: 8 },
    { zoom: 1.1 },
    { zoom: 0.92, y: 6 },
    { degrees: 2, zoom: 1.05, x: -12, y: 5 },
  ])('to within half a pixel in the middle: %j', (motion) => {
    const { image, homography } = seen(before, motion);
    const { registration } = examine(before, image);
    if (registration === null) throw new Error('refused');
    const [found, truth] = [project(registration.homography, 0.5, 0.5), project(homography, 0.5, 0.5)];
    expect(Math.hypot((found.x - truth.x) * size.width, (found.y - truth.y) * size.height)).toBeLessThan(0.5);
    expect(registration.rotationDegrees).toBeCloseTo(motion.degrees ?? 0, 1);
    expect(registration.scale).toBeCloseTo(motion.zoom ?? 1, 2);
    expect(hasMoved(examine(before, noisy(image, 2, 'sensor')))).toBe(true);
  });

  it('says that it stood still where only noise differs', () => {
    const evidence = examine(noisy(before, 2, 'first'), noisy(before, 2, 'second'));
    expect(evidence.registration?.displacement).toBeLessThan(0.3 / size.width);
    expect(evidence.registration?.overlap).toBe(1);
    expect(hasMoved(evidence)).toBe(false);
  });

  it('is not led astray by a large thing that came', () => {
    const { image } = seen(before, { x: 6 });
    const parked = withBox(image, { x: 0.3, y: 0.3, width: 0.4, height: 0.5 }, [200, 30, 30]);
    expect((examine(before, parked).registration?.shift ?? 0) * size.width).toBeCloseTo(6, 0);
  });

  it('is not led astray by other light', () => {
    const { image } = seen(before, { x: -9, y: 4 });
    const dusk = altered(image, (value) => 255 * (value / 255) ** 1.5 * 0.6);
    expect((examine(before, dusk).registration?.shift ?? 0) * size.width).toBeCloseTo(Math.hypot(9, 4), 0);
  });

  it('takes frames of two sizes', () => {
    const small = street('a street', { width: 480, height: 360 });
    const halved = {
      width: 240,
      height: 180,
      data: Uint8Array.from({ length: 240 * 180 * 3 }, (_, i) => {
        const [c, p] = [i % 3, Math.floor(i / 3)];
        return small.data[(Math.floor(p / 240) * 2 * 480 + (p % 240) * 2) * 3 + c] as number;
      }),
    };
    const { registration } = examine(small, halved);
    expect((registration?.displacement ?? 1) * size.width).toBeLessThan(1.5);
  });

  it('gives the same answer every time, and leaves its inputs alone', () => {
    const { image } = seen(before, { degrees: 1.5 });
    const copy = Buffer.from(before.data);
    expect(examine(before, image)).toEqual(examine(before, image));
    expect(Buffer.compare(before.data, copy)).toBe(0);
  });
});

describe('registration is refused, with the reason, and nothing is made up', () => {
  const refusal = (a: typeof before, b: typeof before) => {
    const evidence = examine(a, b);
    for (const name of MEASUREMENTS) expect(evidence.measurements[name]).toEqual(expect.any(Number));
    for (const name of MEASUREMENTS) expect(Number.isFinite(evidence.measurements[name])).toBe(true);
    expect(evidence.registration).toBeNull();
    return evidence.refusal;
  };

  it.each([
    ['featureless', flat(120)],
    ['black', flat(0)],
    ['saturated', flat(255)],
  ])('where a frame is %s', (_, empty) => {
    expect(refusal(empty, before)).toEqual({
      reason: 'before_featureless',
      detail: 'before has 0 corners, expected at least 16',
    });
    expect(refusal(before, empty)?.reason).toBe('after_featureless');
    expect(refusal(empty, empty)?.reason).toBe('before_featureless');
  });

  it('where there is only noise', () => {
    const noise = (seed: string) => noisy(flat(120), 40, seed);
    expect(refusal(noise('first'), noise('second'))?.reason).toBe('no_common_view');
    expect(refusal(before, noise('second'))?.reason).toBe('no_common_view');
  });

  it.each(['1', '2', '3', '4'])('where the scenes have nothing in common (%s)', (seed) => {
    const { reason, detail } = refusal(before, street(`another street ${seed}`)) ?? {};
    expect(reason).toBe('no_common_view');
    expect(detail).toMatch(
      /^\d+ of \d+ corners of before agree on where they are in after, expected at least \d+$/,
    );
  });

  it('where a frame is too small', () => {
    const tiny = street('tiny', { width: 16, height: 16 });
    expect(refusal(tiny, tiny)).toEqual({
      reason: 'too_small',
      detail: 'a side has 16 px, expected at least 64 px',
    });
  });

  it('where the shapes differ', () => {
    const tall = street('tall', { width: 360, height: 480 });
    expect(refusal(before, tall)).toEqual({
      reason: 'shape',
      detail: 'before has 480x360 px and after 360x480 px, expected one aspect ratio',
    });
  });
});

describe('what altered the picture is told apart', () => {
  const sensor = (image: typeof before, seed: string) => noisy(image, 1.5, seed);
  const of = (image: typeof before) => examine(sensor(before, 'a'), sensor(image, 'b'));
  const grey = (image: typeof before) =>
    altered(image, (_, i) => {
      const at = i - (i % 3);
      return (
        0.4 * (image.data[at] as number) +
        0.45 * (image.data[at + 1] as number) +
        0.15 * (image.data[at + 2] as number)
      );
    });

  it.each([
    ['lighting', altered(before, (value) => value * 1.7)],
    ['lighting', altered(before, (value) => value * 0.5)],
    ['ir_switch', grey(before)],
    ['noise', noisy(before, 18, 'grain')],
    ['camera_moved', seen(before, { x: 14, y: 3 }).image],
  ])('%s', (name, image) => {
    expect(strongest(of(image).nuisances)).toBe(name);
    expect(namedTampers(of(image))).toEqual([]);
  });
});

describe('tampering', () => {
  const smeared = (radius: number) => {
    let { data } = before;
    for (let pass = 0; pass < 3; pass++) {
      data = Uint8Array.from(data, (_, i) => {
        let [sum, count] = [0, 0];
        for (const step of [3, size.width * 3])
          for (let k = -radius; k <= radius; k += 2) {
            const value = data[i + k * step];
            if (value !== undefined) [sum, count] = [sum + value, count + 1];
          }
        return sum / count;
      });
    }
    return { ...before, data };
  };

  it.each([
    ['turned', street('where it looks now')],
    ['darkened', noisy(flat(4), 1.5, 'dark')],
    ['blocked', noisy(flat(120), 2, 'a cloth')],
    ['defocused', noisy(smeared(9), 1, 'sensor')],
  ])('is found: %s', (name, after) => {
    expect(namedTampers(examine(noisy(before, 1.5, 'sensor'), after)).map((tamper) => tamper.name)).toContain(
      name,
    );
  });

  it('is not claimed of a large thing that came', () => {
    const van = withBox(before, { x: 0.25, y: 0.3, width: 0.45, height: 0.5 }, [210, 210, 205]);
    expect(namedTampers(examine(noisy(before, 1.5, 'a'), noisy(van, 1.5, 'b')))).toEqual([]);
  });

  it('is not claimed where before showed nothing either', () => {
    expect(examine(flat(90), flat(10)).tampers).toEqual({ blocked: 0, defocused: 0, darkened: 0, turned: 0 });
  });
});
