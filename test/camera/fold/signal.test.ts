/** Cards of recorders and pictures of other cameras between the frames of a camera: what they cause, and what not. */
import { describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import type { StepResult } from '../../../src/camera/fold/step.js';
import { frameOf, noteCodes, sequence } from '../../helpers/sequences.js';

type Colour = readonly [number, number, number];

/** A recorder's card: one colour, and white bars in place of its text. @param bars other numbers give other bytes */
function card(width: number, height: number, colour: Colour, bars = 5): Promise<Buffer> {
  const data = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) data.set(colour, 3 * i);
  for (let x = 20; x < 20 + 8 * bars; x++) {
    for (let y = 40; y < 54 && x % 8 < 4; y++) data.fill(255, 3 * (y * width + x), 3 * (y * width + x + 1));
  }
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg()
    .toBuffer();
}
/** The scene of another camera: another aspect ratio, with the noise of a sensor. */
const foreign = async (second: number) =>
  sharp(await frameOf({ noise: `at ${second}` }))
    .resize(300, 300, { fit: 'fill', kernel: 'nearest' })
    .png()
    .toBuffer();

async function run(camera: ReturnType<typeof sequence>, frames: readonly (Buffer | Promise<Buffer>)[], from: number) {
  const results: StepResult[] = [];
  for (const [i, frame] of frames.entries()) results.push(await camera.step(await frame, from + 10 * i));
  return results;
}
const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i));
const healthOf = (results: readonly StepResult[]) => results.flatMap(({ health }) => health);
const openedKinds = (results: readonly StepResult[]) =>
  results.flatMap(({ changes }) =>
    changes.filter(({ event }) => event === 'change.opened').map(({ change }) => change.kind),
  );

describe.each(['previous', 'memory'])('with before: %s', (before) => {
  const begun = async () => {
    const camera = sequence({ before, alerts: { confirm_frames: 2 } });
    await run(
      camera,
      times(3, (i) => frameOf({ noise: `at ${i}` })),
      0,
    );
    return camera;
  };

  it.each<[string, number, number, Colour]>([
    ['4:3, blue', 640, 480, [0, 0, 160]],
    ['4:3, grey', 320, 240, [40, 40, 40]],
    ['square, black', 400, 400, [0, 0, 0]],
    ['tall, green', 360, 640, [0, 135, 0]],
    ['wide, white', 720, 160, [240, 240, 240]],
  ])(
    'cards of the shape %s neither reset the camera nor open anything but tampering',
    async (_shape, width, height, colour) => {
      const camera = await begun();
      const earlier = camera.state();
      const lost = await run(
        camera,
        times(6, (i) => card(width, height, colour, 3 + i)),
        30,
      );
      const back = await run(
        camera,
        times(2, (i) => frameOf({ noise: `at ${90 + i}` })),
        90,
      );
      expect(openedKinds([...lost, ...back])).toEqual(['tamper']);
      expect(healthOf([...lost, ...back])).toEqual([
        { type: 'camera.signal_lost', camera: 'gate', reason: 'signal_lost', since: isoAt(30), at: isoAt(40) },
        { type: 'camera.signal_back', camera: 'gate', reason: 'signal_lost', since: isoAt(30), at: isoAt(90) },
      ]);
      expect(camera.state().size).toEqual(earlier.size);
      expect(back.map(({ finding }) => finding.verdict)).toEqual(['none', 'none']);
    },
  );

  it('two foreign pictures are named and compared with nothing; three become the new view, with a note', async () => {
    const camera = await begun();
    const two = await run(
      camera,
      times(2, (i) => foreign(i)),
      30,
    );
    expect(healthOf(two)).toMatchObject([{ type: 'camera.signal_lost', reason: 'foreign_picture', since: isoAt(30) }]);
    const [back] = await run(camera, [frameOf({ noise: 'at 50' })], 50);
    expect(back?.health).toMatchObject([{ type: 'camera.signal_back', reason: 'foreign_picture' }]);
    expect(back?.finding.verdict).toBe('none');
    expect(back?.unseen).toEqual([expect.objectContaining({ reason: 'foreign_picture' })]);
    const three = await run(
      camera,
      times(3, (i) => foreign(10 + i)),
      60,
    );
    expect(three.map((result) => noteCodes(result)[0])).toEqual(times(3, () => 'size_changed'));
    expect(three[2]?.cameraFrame.notes[0]?.detail).toContain('this frame starts a new baseline');
    expect(healthOf(three).map(({ type }) => type)).toEqual(['camera.signal_lost', 'camera.signal_back']);
    expect(openedKinds([...two, ...three])).toEqual([]);
  });
});

const isoAt = (second: number) => new Date(Date.UTC(2026, 5, 1, 12) + second * 1000).toISOString();
