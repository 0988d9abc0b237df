/** A graph that is opened at its first run: a command that compares few pairs may never need it. */
import { join } from 'node:path';
import { checkGraph, statedGraph } from '../model/contract.js';
import type { Bundle, BundleManifest } from '../model/manifest.js';
import type { Graph } from '../model/session.js';

/**
 * @param open is called at the first run, and again at the next one if it failed
 * @returns a graph that states the tensors of the manifest. Its `run` also throws what `open` throws, and BundleError
 *   if the opened graph differs from the manifest.
 */
export function openAtFirstRun(
  { directory, manifest }: Bundle,
  name: keyof BundleManifest['graphs'],
  open: () => Promise<Graph>,
): Graph {
  const { file, inputs, outputs } = statedGraph(manifest, name);
  let graph: Graph | null = null;
  return {
    file: join(directory, file),
    inputs,
    outputs,
    async run(feeds) {
      if (graph === null) {
        const opened = await open();
        checkGraph(name, opened, manifest);
        graph = opened;
      }
      return graph.run(feeds);
    },
    async release() {
      await graph?.release();
    },
  };
}
