/** Thread pool of fits and benches: one function over many pairs. */
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/**
 * Processes each item in one of the threads; at most as many threads as cores.
 * @param {URL} script of the threads, which calls `serve`
 * @param {unknown[]} items values that can be cloned
 * @param {unknown} settings argument of `open` in each thread
 * @param {(result) => void} onDone called after each item
 * @returns {Promise<unknown[]>} one result per item, in the order of the items
 * @throws the error of the first thread that fails
 */
export async function inThreads(script, items, settings, onDone = () => {}) {
  const results = new Array(items.length);
  let next = 0;
  const work = () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(script, { workerData: settings });
      const hand = () => {
        if (next >= items.length) return worker.postMessage(null);
        worker.postMessage({ index: next, item: items[next] });
        next++;
      };
      worker.on('message', (message) => {
        if (message !== null) {
          results[message.index] = message.result;
          onDone(message.result);
        }
        hand();
      });
      worker.on('error', reject);
      worker.on('exit', resolve);
    });
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), items.length) }, work));
  return results;
}

/**
 * Serves the items of `inThreads` in a thread.
 * @param {(settings) => Promise<{ each: (item) => Promise<unknown>, close: () => Promise<void> }>} open
 */
export async function serve(open) {
  if (isMainThread) throw new Error('serve is for a thread that inThreads started, not for the main thread');
  const { each, close } = await open(workerData);
  parentPort.on('message', async (message) => {
    if (message === null) {
      await close();
      parentPort.close();
      return;
    }
    parentPort.postMessage({ index: message.index, result: await each(message.item) });
  });
  parentPort.postMessage(null);
}
