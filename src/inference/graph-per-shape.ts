/**
 * A graph with one session per input shape, for a GPU. The CUDA provider plans a convolution anew whenever its input
 * has another shape than at the run before, which takes longer than the run itself
 * (docs/adr/0138-name-a-gpu-to-use-it.md).
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
