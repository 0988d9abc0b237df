/** Setting of the engine's garbage collector for processes with inference threads. */
import { setFlagsFromString } from 'node:v8';

/**
 * Makes full collections run at once instead of in steps between other work. The heaps are small (about 15 MB per
 * thread) but collected every few comparisons, because pixels and features count against their limits; marking in steps
 * then keeps up to four helper threads busy, on the cores that the graphs need. It costs 5 of 79 CPU-ms per comparison
 * (`npm run bench:model`, one thread per core). A collection at once takes 5 to 10 ms.
 */
export const collectAtOnce = (): void => setFlagsFromString('--no-incremental-marking');
