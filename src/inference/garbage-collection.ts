/** Setting of the engine's garbage collector for processes with inference threads. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let isSet = false;

/**
 * Makes full collections run at once instead of in steps between other work. The heaps are small (about 15 MB per
 * thread) but collected every few comparisons, because pixels and features count against their limits; marking in steps
 * then keeps up to four helper threads busy, on the cores that the graphs need. It costs 5 of 79 CPU-ms per comparison
 * (`npm run bench -- model`, one thread per core). A collection at once takes 5 to 10 ms.
 *
 * The first call collects once itself: a marking that had begun in steps would find the flag changed at its next step,
 * and V8 aborts the process then.
 */
export function collectAtOnce(): void {
  if (isSet) return;
  isSet = true;
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  setFlagsFromString('--no-incremental-marking');
}
