/**
 * Inference threads and the line of work before them. On a CPU: one operation a thread at a time, so the two frames of a
 * pair are encoded beside each other and several comparisons share the cores. On a GPU: whatever of one kind waits when a
 * thread gets free runs as one batch; nothing waits for a batch to fill.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ScenedeltaError } from '../errors.js';
import type { Logger } from '../logger.js';
import type { Bundle } from '../model/manifest.js';
import type { Provider } from '../model/session.js';
import type {
  EncodeInput,
  FromThread,
  Operation,
  Operations,
  ThreadOptions,
  ThreadReady,
  ThreadRequest,
} from './protocol.js';

export interface PoolOptions {
  readonly bundles: readonly Bundle[];
  readonly device: string;
  readonly strictDevice: boolean;
  /** 0 = one a core on the CPU, one on a GPU */
  readonly threads: number;
  /** of a GPU */
  readonly batchSize: number;
  /** where optimised graphs are kept (graph-cache.ts); null = nowhere */
  readonly graphCache: string | null;
  readonly logger: Logger;
  /** the thread's compiled entry; another one in tests */
  readonly script?: URL;
}

/**
 * Finishing what was begun comes first, so that few pictures are held at a time. Of the same rank the older: a pair's two frames
 * are encoded beside each other, and examined beside the comparison of their features.
 */
const RANK: Readonly<Record<Operation, number>> = {
  caption: 0,
  difference: 1,
  align: 2,
  encode: 3,
  examine: 3,
};
const RESTART_MS = { first: 100, longest: 30_000 };

interface Task {
  readonly operation: Operation;
  readonly bundle: string;
  readonly input: Operations[Operation]['in'];
  readonly transfer: readonly ArrayBuffer[];
  resolve(output: unknown): void;
  reject(error: ScenedeltaError): void;
}

interface Thread {
  readonly number: number;
  readonly worker: Worker;
  /** what it works on; empty = idle */
  running: readonly Task[];
  readonly ended: Promise<void>;
}

export class InferencePool {
  /** the same for every thread */
  readonly provider: Provider;
  /** why the CPU serves although CUDA was asked for, or null */
  readonly fallback: string | null;
  /** of the bundles that were opened at the start those that did not open, by name, with the reason */
  readonly refused: Readonly<Record<string, string>>;
  readonly #options: PoolOptions;
  readonly #threadOptions: ThreadOptions;
  readonly #threads = new Set<Thread>();
  readonly #starting = new Set<Promise<void>>();
  #waiting: Task[] = [];
  #closing: Promise<void> | null = null;
  #wakeRestarts = () => {};
  readonly #closeAsked = new Promise<void>((resolve) => {
    this.#wakeRestarts = resolve;
  });

  private constructor(options: PoolOptions, ready: ThreadReady) {
    this.provider = ready.provider;
    this.fallback = ready.fallback;
    this.refused = ready.refused;
    this.#options = options;
    this.#threadOptions = {
      ...threadOptions(options),
      bundles: options.bundles.filter(({ manifest }) => !(manifest.name in ready.refused)),
      device: ready.provider,
      strictDevice: true,
    };
  }

  /**
   * Resolves when the first thread has opened and warmed up the first bundle (see `refused`); the other bundles are opened when they
   * are asked for, the other threads join as they get ready: a worker that can serve should, and on two cores opening both
   * beside each other delays the first answer by as much again.
   * @throws Error where no thread can serve: no such device with STRICT_DEVICE, no bundle at all
   */
  static async start(options: PoolOptions): Promise<InferencePool> {
    const [worker, ready] = await launch(options, threadOptions(options), 1);
    const pool = new InferencePool(options, ready);
    pool.#adopt(worker, 1);
    const count = options.threads || (ready.provider === 'cpu' ? availableParallelism() : 1);
    for (let number = 2; number <= count; number++) void pool.#join(number);
    return pool;
  }

  /** how many serve now */
  get threads(): number {
    return this.#threads.size;
  }

  /**
   * @param transfer buffers of `input` that move to the thread instead of being copied
   * @throws ScenedeltaError inference-failed (transient) where the run fails or its thread ends
   */
  run<O extends Operation>(
    operation: O,
    bundle: string,
    input: Operations[O]['in'],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Operations[O]['out']> {
    if (this.#closing !== null) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      const settle = (output: unknown) => resolve(output as Operations[O]['out']);
      this.#waiting.push({ operation, bundle, input, transfer, resolve: settle, reject });
      this.#dispatch();
    });
  }

  /** Refuses what waits, lets what runs end, then ends the threads. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const task of this.#waiting) task.reject(closed());
    this.#waiting = [];
    this.#wakeRestarts();
    for (const thread of this.#threads) if (thread.running.length === 0) endThread(thread);
    await Promise.allSettled(this.#starting);
    await Promise.all([...this.#threads].map((thread) => thread.ended));
  }

  #dispatch(): void {
    for (const thread of this.#threads) {
      if (thread.running.length > 0) continue;
      const batch = this.#takeBatch();
      const [first] = batch;
      if (first === undefined) return;
      thread.running = batch;
      const request: ThreadRequest = {
        type: 'run',
        operation: first.operation,
        bundle: first.bundle,
        inputs: batch.map((task) => task.input),
      };
      thread.worker.postMessage(
        request,
        batch.flatMap((task) => task.transfer),
      );
    }
  }

  /** The next task, and on a GPU those that can run in the same batch. */
  #takeBatch(): Task[] {
    if (this.#waiting.length === 0) return [];
    const first = this.#waiting.reduce((a, b) => (RANK[b.operation] < RANK[a.operation] ? b : a));
    const most = this.provider === 'cpu' ? 1 : this.#options.batchSize;
    const batch: Task[] = [];
    let rows = 0;
    for (const task of this.#waiting) {
      if (batchKey(task) !== batchKey(first)) continue;
      if (batch.length > 0 && rows + rowsOf(task) > most) break;
      batch.push(task);
      rows += rowsOf(task);
      if (rows >= most) break;
    }
    this.#waiting = this.#waiting.filter((task) => !batch.includes(task));
    return batch;
  }

  async #startThread(number: number): Promise<void> {
    const starting = launch(this.#options, this.#threadOptions, number).then(([worker]) =>
      this.#adopt(worker, number),
    );
    this.#starting.add(starting);
    await starting.finally(() => this.#starting.delete(starting));
  }

  #adopt(worker: Worker, number: number): void {
    let thrown: string | undefined;
    const ended = new Promise<void>((resolve) => {
      worker.on('error', (error: Error) => {
        thrown = error.message;
      });
      worker.on('exit', (code) => {
        this.#threads.delete(thread);
        resolve();
        this.#mourn(thread, thrown ?? `exit code ${code}`);
      });
    });
    const thread: Thread = { number, worker, running: [], ended };
    worker.on('message', (message: FromThread) => this.#receive(thread, message));
    this.#threads.add(thread);
    if (this.#closing !== null) endThread(thread);
    else this.#dispatch();
  }

  #receive(thread: Thread, message: FromThread): void {
    const tasks = thread.running;
    thread.running = [];
    if (message.type === 'done') {
      for (const [i, task] of tasks.entries()) task.resolve(message.outputs[i]);
    } else if (message.type === 'failed') {
      for (const task of tasks) {
        task.reject(
          new ScenedeltaError('inference-failed', `${task.bundle}, ${task.operation}: ${message.reason}`),
        );
      }
    }
    if (this.#closing !== null) endThread(thread);
    else this.#dispatch();
  }

  /** A thread has ended: its tasks fail, and unless it was told to end another one takes its place. */
  #mourn(thread: Thread, reason: string): void {
    for (const task of thread.running) {
      task.reject(
        new ScenedeltaError(
          'inference-failed',
          `inference thread ${thread.number} ended within ${task.operation}: ${reason}`,
        ),
      );
    }
    if (this.#closing !== null) return;
    this.#options.logger.error({ thread: thread.number, reason }, 'inference thread ended, starting another');
    void this.#join(thread.number, RESTART_MS.first);
  }

  /** Starts a thread after `wait` ms, again and again with longer waits until it serves or the pool is closed. */
  async #join(number: number, wait = 0): Promise<void> {
    for (; ; wait = Math.min(Math.max(2 * wait, RESTART_MS.first), RESTART_MS.longest)) {
      if (wait > 0) await Promise.race([delay(wait), this.#closeAsked]);
      if (this.#closing !== null) return;
      try {
        await this.#startThread(number);
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.logger.error({ thread: number, reason }, 'inference thread does not start');
      }
    }
  }
}

const threadOptions = ({
  bundles,
  device,
  strictDevice,
  batchSize,
  graphCache,
}: PoolOptions): ThreadOptions => ({
  bundles,
  device,
  strictDevice,
  batchSize,
  graphCache,
});

type Launched = [Worker, ThreadReady];

/** @throws Error where the thread ends or says that it cannot serve, instead of getting ready. */
async function launch({ script }: PoolOptions, workerData: ThreadOptions, number: number): Promise<Launched> {
  const worker = new Worker(script ?? new URL('./thread.js', import.meta.url), {
    workerData,
    name: `inference-${number}`,
  });
  const first = await new Promise<FromThread>((resolve, reject) => {
    const onExit = (code: number) =>
      reject(new Error(`inference thread ended with code ${code} before it was ready`));
    worker.once('error', reject);
    worker.once('exit', onExit);
    const onMessage = (message: FromThread) => {
      worker.off('error', reject);
      worker.off('exit', onExit);
      worker.off('message', onMessage);
      resolve(message);
    };
    worker.on('message', onMessage);
  });
  if (first.type === 'ready') return [worker, first];
  throw new Error(
    first.type === 'unfit' ? first.reason : `inference thread said ${first.type}, expected ready`,
  );
}

const endThread = ({ worker }: Thread): void => worker.postMessage({ type: 'close' });

/** Tasks with one key can share a run. */
function batchKey({ operation, bundle, input }: Task): string {
  if (operation !== 'encode') return `${operation} ${bundle}`;
  const { width, height } = input as EncodeInput;
  return `${operation} ${bundle} ${width}x${height}`;
}

const rowsOf = ({ operation, input }: Task): number =>
  operation === 'encode' ? (input as EncodeInput).boxes.length : 1;

const closed = () =>
  new ScenedeltaError('inference-failed', 'the inference threads are closing, no run was started');

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
