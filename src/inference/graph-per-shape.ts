/**
 * A graph with one session per input shape, for a GPU. There a run took 5 ms if the run before had the same shape, and
 * 390 ms otherwise: the CUDA provider seems to plan each convolution anew
 * (docs/adr/0138-use-a-gpu-that-is-named.md).
 */
import type { Graph } from '../model/session.js';

/**
 * @param first an opened graph, which serves the first shape. @param open opens the same graph once more
 * @returns the graph; its runs must not overlap. A run also throws what `open` throws.
 */
export function perShape(first: Graph, open: () => Promise<Graph>): Graph {
  const unused = [first];
  const byShape = new Map<string, Graph>();
  return {
    ...first,
    async run(feeds) {
      const shape = JSON.stringify(Object.entries(feeds).map(([name, { dims }]) => [name, dims]));
      let graph = byShape.get(shape);
      if (graph === undefined) {
        graph = unused.pop() ?? (await open());
        byShape.set(shape, graph);
      }
      return graph.run(feeds);
    },
    async release() {
      for (const graph of [...unused, ...byShape.values()]) await graph.release();
    },
  };
}
