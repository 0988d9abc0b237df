/** Graphs that are opened at their first run. */
import { jest } from '@jest/globals';
import { openBundleGraph } from '../../src/inference/graph-cache.js';
import { openAtFirstRun } from '../../src/inference/lazy-graph.js';
import { loadBundle } from '../../src/model/manifest.js';
import { TINY } from '../model/tiny-bundle.js';

const feeds = { image: { dims: [1, 3, 64, 96], data: new Float32Array(3 * 64 * 96).fill(0.5) } };

async function lazy(name: 'features' | 'caption' = 'features') {
  const bundle = await loadBundle(TINY);
  const open = jest.fn(() => openBundleGraph(bundle, name, 'cpu', null));
  return { bundle, open, graph: openAtFirstRun(bundle, 'features', open) };
}

it('states the tensors of the manifest unopened, and is opened once, at the first run', async () => {
  const { bundle, open, graph } = await lazy();
  expect([graph.inputs, graph.outputs]).toEqual([
    bundle.manifest.graphs.features.inputs,
    bundle.manifest.graphs.features.outputs,
  ]);
  expect(open).not.toHaveBeenCalled();
  const first = await graph.run(feeds);
  expect(await graph.run(feeds)).toEqual(first);
  expect(open).toHaveBeenCalledTimes(1);
  const opened = await openBundleGraph(bundle, 'features', 'cpu', null);
  expect(first).toEqual(await opened.run(feeds));
  await Promise.all([graph.release(), opened.release()]);
});

it('tries to open it again at the next run after a failure', async () => {
  const { open, graph } = await lazy();
  open.mockRejectedValueOnce(new Error('the disk is gone'));
  await expect(graph.run(feeds)).rejects.toThrow('the disk is gone');
  expect(Object.keys(await graph.run(feeds)).sort()).toEqual(['coarse', 'fine']);
  await graph.release();
});

it('refuses a graph that differs from the manifest, at the first run', async () => {
  const { graph } = await lazy('caption');
  await expect(graph.run(feeds)).rejects.toThrow(/caption\.onnx: has the inputs .*; expected image/);
  await graph.release();
});

it('releases nothing if it was never opened', async () => {
  const { open, graph } = await lazy();
  await graph.release();
  expect(open).not.toHaveBeenCalled();
});

it('is opened once if a run comes while it is opened ahead', async () => {
  const { open, graph } = await lazy();
  const [, outputs] = await Promise.all([graph.openAhead(), graph.run(feeds)]);
  expect(Object.keys(outputs).sort()).toEqual(['coarse', 'fine']);
  expect(open).toHaveBeenCalledTimes(1);
  await graph.release();
});
