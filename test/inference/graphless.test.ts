/** Operations without a graph on the thread that asks, for a command that compares one pair. */
import { jest } from '@jest/globals';
import { InferencePool } from '../../src/inference/pool.js';
import type { Bundle } from '../../src/model/manifest.js';
import type { Logger } from '../../src/process/logger.js';
import { examine } from '../../src/viewpoint/examine.js';

// A thread starts slowly on a busy machine.
jest.setTimeout(120_000);

const bundle = { manifest: { name: 'echo' } } as unknown as Bundle;
const image = { width: 64, height: 48, data: new Uint8Array(64 * 48 * 3).fill(90) };
let pool: InferencePool;

beforeAll(async () => {
  pool = await InferencePool.start({
    ...{ bundles: [bundle], device: 'cpu', strictDevice: false, threads: 1, batchSize: 4, gpuGraphs: 'large' },
    ...{ graphCache: null, warmUp: false, evidenceHere: true },
    logger: { error: jest.fn() } as unknown as Logger,
    // It answers every operation with where it ran.
    script: new URL('../helpers/fake-inference-thread.mjs', import.meta.url),
  });
});
afterAll(() => pool.close());

it('gives the evidence itself, while its thread runs the graphs', async () => {
  expect(await pool.run('examine', 'echo', { before: image, after: image })).toEqual(examine(image, image));
  expect(await pool.run('difference', 'echo', {} as never)).toMatchObject({
    operation: 'difference',
    thread: expect.any(Number),
  });
});

it('fails as a run of a thread does', async () => {
  await expect(pool.run('examine', 'echo', {} as never)).rejects.toMatchObject({
    code: 'inference-failed',
    message: expect.stringMatching(/^echo, examine: ./),
  });
});
