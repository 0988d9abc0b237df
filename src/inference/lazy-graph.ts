/** A graph that is opened ahead, or at its first run: a command that compares few pairs may never need it. */
import { join } from 'node:path';
import { checkGraph, statedGraph } from '../model/contract.js';
import type { Bundle, BundleManifest } from '../model/manifest.js';
import type { Graph } from '../model/session.js';

interface LazyGraph extends Graph {
  /** Opens it before its first run. @throws what `open` throws, and BundleError if the graph differs */
  openAhead(): Promise<void>;
}

/**
 * @param open is called at the first run, and again at the next one if it failed
 * @returns a graph that states the tensors of the manifest. Its `run` also throws what `open` throws, and BundleError
 *   if the opened graph differs from the manifest.
 */
export function openAtFirstRun(
  { directory, manifest }: Bundle,
  name: keyof BundleManifest['graphs'],
  open: () => Promise<Graph>,
): LazyGraph {
  const { file, inputs, outputs } = statedGraph(manifest, name);
  let opening: Promise<Graph> | null = null;
  const openChecked = async (): Promise<Graph> => {
    const graph = await open();
    checkGraph(name, graph, manifest);
    return graph;
  };
  // A run may come while the graph is opened ahead: it is opened once.
  const opened = (): Promise<Graph> => {
    opening ??= openChecked().catch((error) => {
      opening = null;
      throw error;
    });
    return opening;
  };
  return {
    file: join(directory, file),
    inputs,
    outputs,
    run: async (feeds) => (await opened()).run(feeds),
    openAhead: async () => void (await opened()),
    async release() {
      const graph = await opening?.catch(() => null);
      await graph?.release();
    },
  };
}

/**
 * A graph with one session per input shape, for a GPU. Its provider seems to plan each convolution again at every other
 * shape: 390 instead of 5 ms (docs/adr/0013-run-only-large-graphs-on-a-gpu.md).
 * @param stated an opened graph, which states the tensors and is released at the first run
 * @param open opens the same graph once more, for inputs of these shapes
 * @returns the graph; its runs must not overlap. A run also throws what `open` throws.
 */
export function perShape(stated: Graph, open: (feeds: Parameters<Graph['run']>[0]) => Promise<Graph>): Graph {
  const byShape = new Map<string, Graph>();
  let isStated = true;
  return {
    ...stated,
    async run(feeds) {
      const shape = JSON.stringify(Object.entries(feeds).map(([name, { dims }]) => [name, dims]));
      let graph = byShape.get(shape);
      if (graph === undefined) {
        graph = await open(feeds);
        byShape.set(shape, graph);
        if (isStated) await stated.release();
        isStated = false;
      }
      return graph.run(feeds);
    },
    async release() {
      for (const graph of byShape.values()) await graph.release();
      if (isStated) await stated.release();
    },
  };
}
