/** Pairs of a camera: they count by its zones and areas, as its frames do. */
import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { frameKey } from '../../src/base/blobs.js';
import { picture, pixelPipeline, RED, setUpCamera } from '../helpers/cameras.js';
import { acceptedComparison } from '../helpers/comparisons.js';
import { comparisonProcessor, useBench } from '../helpers/workers.js';

const bench = useBench();
const VAN = [60, 30, 12, 10, RED] as const;
const ALL = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
];

async function stored(bytes: Buffer) {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await bench.blobs.put(frameKey(sha256), bytes);
  return { from: 'stored' as const, sha256, bytes: bytes.length, contentType: 'image/png' };
}

/** @returns verdict, number of regions and statements of a pair in whose later picture a van appeared */
async function compared(given: { readonly byCamera?: true }) {
  const [before, after] = await Promise.all([
    stored(await picture({ grain: true })),
    stored(await picture({ grain: true, things: [VAN] })),
  ]);
  const record = acceptedComparison({ camera: 'gate', before, after });
  await bench.results.create({ ...record, request: { ...record.request, ...given } });
  const { id } = record.comparison;
  const processor = comparisonProcessor(bench, {
    ...{ pipeline: pixelPipeline().pipeline, cameras: bench.cameras },
    fetchFrame: async (ref) => {
      const sha256 = 'sha256' in ref ? ref.sha256 : '';
      return { bytes: (await bench.blobs.get(frameKey(sha256))) as Uint8Array, ref: ref as never };
    },
  });
  const { signal } = new AbortController();
  await processor.process({ v: 2, comparisonId: id, traceId: '0'.repeat(32) }, { lastAttempt: true, signal });
  const comparison = (await bench.results.get(id))?.comparison;
  return { status: comparison?.status, verdict: comparison?.verdict, regions: comparison?.regions?.length };
}

it('A change in an area that the camera ignores does not count', async () => {
  await setUpCamera(bench, 'gate', { zones: [{ id: 'all', type: 'ignore', polygon: ALL }] });
  expect(await compared({ byCamera: true })).toEqual({ status: 'finished', verdict: 'none', regions: 0 });
});

it('A change in no such area counts', async () => {
  await setUpCamera(bench, 'gate', {});
  expect(await compared({ byCamera: true })).toMatchObject({ status: 'finished', verdict: 'change' });
});

it('The name of a camera that did not exist at acceptance is a name alone', async () => {
  await setUpCamera(bench, 'gate', { zones: [{ id: 'all', type: 'ignore', polygon: ALL }] });
  expect(await compared({})).toMatchObject({ status: 'finished', verdict: 'change' });
});
