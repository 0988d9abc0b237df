/** A camera whose recorder sends one view in two shapes: the main stream, and the second one stretched. */
import { describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { uniformNumbers } from '../../src/base/random.js';
import type { TurnDependencies } from '../../src/workers/camera-turn.js';
import { at, codes, runsOn } from '../helpers/camera-runs.js';
import { pixelPipeline, setUpCamera, turnProcessor } from '../helpers/cameras.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();
const run = runsOn(() => bench);

const MAIN = { width: 480, height: 270 };
/** Blocks of random levels, so that the view has corners; with a red thing in the middle. */
async function yard({ thing = false, seed = 1, ...size }: { thing?: boolean; seed?: number } & typeof MAIN) {
  const next = uniformNumbers(seed);
  const data = Buffer.alloc(MAIN.width * MAIN.height * 3);
  const levels = Array.from({ length: 30 * 17 }, () => 60 + 120 * next());
  for (let i = 0; i < data.length / 3; i++) {
    const [x, y] = [i % MAIN.width, Math.floor(i / MAIN.width)];
    const isThing = thing && x >= 224 && x < 288 && y >= 112 && y < 192;
    const level = levels[Math.floor(y / 16) * 30 + Math.floor(x / 16)] ?? 0;
    data.set(isThing ? [230, 20, 20] : [level, 0.8 * level, 0.6 * level], 3 * i);
  }
  const image = sharp(data, { raw: { ...MAIN, channels: 3 } });
  return image.resize(size.width, size.height, { fit: 'fill' }).jpeg({ quality: 95 }).toBuffer();
}

/** Compares coarsely: what stretching does to an edge is no change. */
function coarsePipeline(): TurnDependencies['pipeline'] {
  const { pipeline } = pixelPipeline();
  const coarse = (bytes: Uint8Array) => sharp(bytes).resize(15, 9, { fit: 'fill' }).png().toBuffer();
  return {
    ...pipeline,
    compare: async (input) =>
      pipeline.compare({ ...input, before: await coarse(input.before), after: await coarse(input.after) }),
  };
}

const STRETCHED = { width: 360, height: 270 };
const HALVED = { width: 240, height: 270 };

describe.each(['previous', 'reference', 'memory'])('with before: %s, a view that comes stretched', (before) => {
  it.each([
    ['to 4:3', STRETCHED],
    ['to half its width', HALVED],
  ])('%s is one view: a thing that comes with the switch, there or back, is reported', async (_shape, size) => {
    const camera = await setUpCamera(bench, 'gate', { before, alerts: { cooldown_s: 0 } });
    const frames = [
      [yard(MAIN), 0],
      [yard(MAIN), 10],
      [yard(size), 20],
      [yard({ ...size, thing: true }), 30],
      [yard({ ...size, thing: true }), 40],
      [yard({ ...MAIN, thing: true }), 50],
      [yard(MAIN), 60],
      [yard(MAIN), 70],
    ] as const;
    const found = await run(camera, frames, turnProcessor(bench, { pipeline: coarsePipeline() }));
    const verdicts = found.map(({ verdict }) => verdict);
    expect(verdicts.slice(0, 5)).toEqual(['none', 'none', 'none', 'change', 'change']);
    expect(found.map(codes)).toEqual([['first_frame'], [], ['size_changed'], [], [], [], [], []]);
    expect(verdicts[5]).toBe(before === 'previous' ? 'none' : 'change');
    const { items } = await bench.changes.list({ camera: 'gate', limit: 10 });
    const first_seen = new Date(at(30)).toISOString();
    const opened = items.filter((change) => change.first_seen === first_seen);
    expect(opened).toMatchObject([{ kind: 'appear', confirmed_at: new Date(at(40)).toISOString() }]);
    const state = await bench.cameras.state('gate');
    expect(state).toMatchObject({ size: MAIN, frames: 8 });
    expect(state).not.toHaveProperty('stretchedFrom');
    expect(Object.keys(state?.backgrounds ?? {})).toHaveLength(before === 'memory' ? 1 : 0);
  });
});

it('another view in that shape is not stretched to the view of the camera', async () => {
  const camera = await setUpCamera(bench, 'gate', { before: 'memory' });
  const frames = [
    [yard(MAIN), 0],
    [yard({ ...STRETCHED, seed: 2 }), 10],
  ] as const;
  const [, other] = await run(camera, frames, turnProcessor(bench, { pipeline: coarsePipeline() }));
  expect(other).toMatchObject({ verdict: 'none', camera_frame: { before: null } });
  expect(other?.camera_frame?.notes[0]?.detail).toContain('compared with nothing');
});
