/** A camera whose JPEGs end too early, with the real pipeline: what its cut frames show, and what they leave alone. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp, { type Sharp } from 'sharp';
import type { StepResult } from '../../../src/camera/fold/step.js';
import type { CameraState } from '../../../src/camera/state/state.js';
import { decodeFrame } from '../../../src/frames/decode.js';
import type { Pipeline } from '../../../src/pipeline/compare.js';
import type { PairInput } from '../../../src/pipeline/pair.js';
import { type Block, pixels, scene } from '../../frames/pictures.js';
import { sequence } from '../../helpers/sequences.js';
import { H, RED, startTiny, W } from '../../pipeline/tiny-pipeline.js';

/** Lies in the rows that a cut frame lacks. */
const LOW: Block = { x: 200, y: 268, width: 80, height: 48, colour: [250, 80, 60] };

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startTiny();
});
afterAll(() => pipeline.close());

/** @param rows that the camera sent, a multiple of 8 */
async function frame(blocks: readonly Block[] = [], rows = H): Promise<Buffer> {
  const encode = (image: Sharp) =>
    image.jpeg({ quality: 95, chromaSubsampling: '4:4:4', optimiseCoding: false }).toBuffer();
  const jpeg = await encode(scene(W, H, blocks));
  if (rows === H) return jpeg;
  // With fixed code tables, the data of the first rows are those of a picture that has no others.
  const top = sharp(pixels(W, H, blocks), { raw: { width: W, height: H, channels: 3 } });
  const upper = await encode(top.extract({ left: 0, top: 0, width: W, height: rows }));
  return jpeg.subarray(0, upper.length - 2);
}

/** Leaves less than a fifth of the rows without data. */
const MOST_ROWS = 264;

const opened = (results: readonly StepResult[]) =>
  results.flatMap(({ changes }) => changes.filter(({ event }) => event === 'change.opened'));

it('the mode "memory" decodes a frame once', async () => {
  const decoded: (string | undefined)[] = [];
  const compare = async (input: PairInput) => {
    const expected = await decodeFrame(input.after, { field: 'after', pixelLimit: 1e6 });
    decoded.push(input.afterDecoded ? 'given' : undefined);
    expect(input.afterDecoded ?? expected).toEqual(expected);
    return pipeline.compare({ ...input, after: input.afterDecoded ? Buffer.from('not read') : input.after });
  };
  const operatingPoints = () => [];
  for (const before of ['memory', 'previous']) {
    const camera = sequence({ before, examine_every_s: 0 }, { compare, operatingPoints });
    await camera.step(await frame(), 0);
    expect((await camera.step(await frame([RED]), 10)).finding.verdict).toBe('change');
  }
  expect(decoded).toEqual(['given', undefined]);
});

describe.each(['previous', 'reference', 'memory'])('with before: %s, cut frames', (before) => {
  const camera = () => sequence({ before, examine_every_s: 0, alerts: { confirm_frames: 2 } }, pipeline);

  it('name the lost rows, and never become "before"', async () => {
    const gate = camera();
    await gate.step(await frame(), 0);
    const earlier = gate.state();
    const { finding } = await gate.step(await frame([], MOST_ROWS), 10);
    expect(finding.lost).toMatchObject({ side: 'after', reason: 'picture_damaged' });
    const kept = ({ before, backgrounds, light }: CameraState) => ({ before, backgrounds, light });
    expect(kept(gate.state())).toEqual(kept(earlier));
  });

  it('show a thing in the rows that came', async () => {
    const gate = camera();
    const results: StepResult[] = [await gate.step(await frame(), 0)];
    for (const second of [10, 20]) results.push(await gate.step(await frame([RED], MOST_ROWS), second));
    expect(results[1]?.finding).toMatchObject({ verdict: 'change', lost: { side: 'after' } });
    expect(opened(results)).toHaveLength(1);
  });

  it('open nothing in the lost rows; the thing that came meanwhile is found by the next whole frames', async () => {
    const gate = camera();
    const cut: StepResult[] = [await gate.step(await frame(), 0)];
    for (const second of [10, 20, 30]) cut.push(await gate.step(await frame([LOW], MOST_ROWS), second));
    expect(opened(cut)).toEqual([]);
    expect(cut[1]?.finding.verdict).toBe('none');
    const after = [await gate.step(await frame([LOW]), 40), await gate.step(await frame([LOW]), 50)];
    expect(opened(after)).toHaveLength(1);
  });

  it('end nothing in the lost rows', async () => {
    const gate = camera();
    await gate.step(await frame(), 0);
    for (const second of [10, 20]) await gate.step(await frame([LOW]), second);
    for (const second of [30, 40, 50]) {
      const { changes } = await gate.step(await frame([], MOST_ROWS), second);
      expect(changes.map(({ event }) => event)).not.toContain('change.resolved');
    }
  });

  it('are tampering with a reason if much is missing', async () => {
    const gate = camera();
    await gate.step(await frame(), 0);
    const { finding } = await gate.step(await frame([RED], 160), 10);
    expect(finding).toMatchObject({
      verdict: 'tamper',
      tamper: [{ name: 'picture_damaged' }],
      lost: { side: 'after' },
    });
  });

  it('are refused as the first frame, and the next whole one starts the baseline', async () => {
    const gate = camera();
    await expect(gate.step(await frame([], 160), 0)).rejects.toMatchObject({
      code: 'image-unreadable',
      field: 'after',
    });
    const { cameraFrame } = await gate.step(await frame(), 10);
    expect(cameraFrame.notes.map(({ code }) => code)).toEqual(['first_frame']);
  });
});
