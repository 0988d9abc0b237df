/** Thread pool of fits and benches: one function over many pairs. */
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/**
 * Each item is worked on once, whichever thread is free; at most as many threads as cores.
 * @param {URL} script whose thread calls `serve`
 * @param {unknown[]} items what can be cloned
 * @param {unknown} settings given to each thread once
 * @param {(result) => void} onDone after each item
 * @returns {Promise<unknown[]>} one result an item, in the items' order
 * @throws what the first failing thread threw
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
 * The thread's side.
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
