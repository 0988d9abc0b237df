/** Search vectors are stored beside the changes that a comparison opens, and computed for no other frame. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PairOutput } from '../../src/pipeline/pair.js';
import { createChangeStore } from '../../src/stores/changes/changes.js';
import { EMPTY, runsOn, WITH_CAR } from '../helpers/camera-runs.js';
import { pixelPipeline, setUpCamera, turnProcessor } from '../helpers/cameras.js';
import { type Bench, setUpBench } from '../helpers/workers.js';

let bench: Bench;
beforeAll(async () => {
  bench = await setUpBench();
});
beforeEach(() => bench.redis.flushall());
afterAll(() => bench.stop());
const run = runsOn(() => bench);

const VALUES = Float32Array.of(0.5, -0.5, 0.5, 0.5);
/** A turn processor whose pipeline also embeds changes. */
function embedding(embed: NonNullable<PairOutput['embed']>) {
  const { pipeline } = pixelPipeline();
  return turnProcessor(bench, {
    pipeline: {
      ...pipeline,
      compare: async (input) => {
        const output = await pipeline.compare(input);
        return output.finding.verdict === 'change' ? { ...output, embed } : output;
      },
    },
  });
}
const FRAMES = [EMPTY, WITH_CAR, WITH_CAR, WITH_CAR, EMPTY].map((frame, i) => [frame, 10 * i] as const);
const storedVectors = async () => {
  const changes = createChangeStore(bench.redis, { retentionMs: 3_600_000 });
  const { items } = await changes.list({ limit: 10 });
  return { items, vectors: await changes.vectors(items.map(({ id }) => id)) };
};

describe('the search vector of a change', () => {
  it('is computed once, by the comparison that opened it', async () => {
    const asked: unknown[] = [];
    const processor = embedding(async (places) => {
      asked.push(places);
      return VALUES;
    });
    const camera = await setUpCamera(bench, 'gate', { before: 'reference', alerts: { confirm_frames: 2 } });
    await run(camera, FRAMES, processor);
    const { items, vectors } = await storedVectors();
    expect(asked).toEqual([items[0]?.regions]);
    expect(vectors[0]?.bundle).toBe('0'.repeat(64));
    expect([...(vectors[0]?.values ?? [])]).toEqual([...VALUES]);
  });

  it('may fail, and the change opens without it', async () => {
    const processor = embedding(() => Promise.reject(new Error('no graph')));
    const camera = await setUpCamera(bench, 'gate', { before: 'reference', alerts: { confirm_frames: 2 } });
    const comparisons = await run(camera, FRAMES, processor);
    expect(new Set(comparisons.map(({ status }) => status))).toEqual(new Set(['finished']));
    const { items, vectors } = await storedVectors();
    expect([items.length, vectors]).toEqual([1, [undefined]]);
  });
});
