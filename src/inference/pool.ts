/**
 * Thread pool for inference. On a CPU a thread runs one task at a time, so the two frames of a pair are encoded
 * concurrently and several comparisons share the cores. On a GPU a free thread runs all waiting tasks of one kind as
 * one batch, and no task waits for a batch to fill; threads of the CPU run what a GPU would not make faster.
 */
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { ScenedeltaError } from '../base/errors.js';
import type { Provider } from '../model/session.js';
import type { Logger } from '../process/logger.js';
import { traced } from '../process/tracing.js';
import {
  type Graphless,
  isGraphless,
  type Operation,
  type Operations,
  type Role,
  serves,
  type ThreadOptions,
  type ThreadReady,
} from './protocol.js';
import { type Task, TaskQueue } from './task-queue.js';
import { type BootedThread, bootThread, failedRun, ThreadHandle } from './thread-handle.js';

export interface PoolOptions extends Omit<ThreadOptions, 'role'> {
  /** number of threads of the CPU; 0 = one per core */
  readonly threads: number;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
  /** compiled entry of a thread; tests give another */
  readonly script?: URL;
  /** the first thread, if it has been started already */
  readonly booted?: BootedThread;
  /**
   * Whether operations without a graph run on the thread that asks, while the first thread opens graphs. A command that
   * compares one pair has nothing else to do meanwhile; absent = false
   */
  readonly evidenceHere?: boolean;
  /** is called per task that a GPU failed to run, which a thread of the CPU then runs once */
  readonly onGpuFailure?: (operation: Operation) => void;
}

/** Options of a thread that are the same for all of a pool. */
type CommonOptions = Omit<ThreadOptions, 'role' | 'device'>;

type GraphlessCode = Promise<typeof import('./graphless.js')>;

/** Wait before a thread is started again; doubled after every failure. */
const RESTART_MS = { first: 100, longest: 30_000 };

/** Threads on a GPU: one puts a batch together while the graphs of the other run. */
export const GPU_THREADS = 2;

export class InferencePool {
  /** the same for all threads */
  readonly provider: Provider;
  /** reason why the CPU serves although CUDA was asked for, or null */
  readonly fallback: string | null;
  /** reason per bundle that did not open, of those that are opened at the start */
  readonly refused: Readonly<Record<string, string>>;
  readonly #logger: PoolOptions['logger'];
  readonly #script: URL | undefined;
  /** of all threads but the first, whose device may be missing */
  readonly #threadOptions: CommonOptions;
  /** most rows of a batch on a GPU */
  readonly #batchSize: number;
  readonly #onGpuFailure: (operation: Operation) => void;
  readonly #queue: TaskQueue;
  /** runs operations that need no graph on this thread; null: the threads run them */
  readonly #here: GraphlessCode | null;
  readonly #threads = new Set<ThreadHandle>();
  readonly #starting = new Set<Promise<unknown>>();
  readonly #closeRequested = new AbortController();
  #closing: Promise<void> | null = null;

  private constructor(options: PoolOptions, { provider, fallback, refused }: ThreadReady, here: GraphlessCode | null) {
    this.provider = provider;
    this.fallback = fallback;
    this.refused = refused;
    this.#logger = options.logger;
    this.#script = options.script;
    this.#batchSize = options.batchSize;
    this.#onGpuFailure = options.onGpuFailure ?? (() => {});
    this.#queue = new TaskQueue(options.gpuGraphs);
    this.#here = here;
    const bundles = options.bundles.filter(({ manifest }) => !(manifest.name in refused));
    this.#threadOptions = { ...threadOptions(options), bundles, strictDevice: true };
  }

  /**
   * Resolves when the first thread has opened the first bundle, and warmed it up if `warmUp` is set (see `refused`).
   * Beside a GPU the first thread of the CPU has, too. The other bundles are opened at their first request, and the
   * other threads join when they are ready: on two cores, opening two at a time delays the first answer by as much.
   * @throws Error if no thread can serve: the device is missing with STRICT_DEVICE, or there is no bundle
   */
  static async start(options: PoolOptions): Promise<InferencePool> {
    const first = options.booted ?? bootThread(1, options.script);
    const { device } = options;
    const role = device.startsWith('cuda') ? 'gpu' : 'all';
    const starting = ThreadHandle.start(1, { ...threadOptions(options), role, device }, first);
    const here = options.evidenceHere === true ? import('./graphless.js') : null;
    const { thread, ready } = await starting;
    const pool = new InferencePool(options, ready, here);
    pool.#join(thread);
    const cpuThreads = options.threads || availableParallelism();
    if (ready.provider === 'cpu') pool.#startLater(2, cpuThreads, 'all');
    else await pool.#startBesideGpu(cpuThreads);
    return pool;
  }

  /** number of threads that serve now */
  get threads(): number {
    return this.#threads.size;
  }

  /**
   * A task that fails on a GPU is run once more, by a thread of the CPU.
   * @throws ScenedeltaError inference-failed (transient) if the run fails, its thread ends or the pool is closing
   */
  run<O extends Operation>(operation: O, bundle: string, input: Operations[O]['in']): Promise<Operations[O]['out']> {
    // The wait for a thread is part of it.
    const options = { attributes: { model: bundle } };
    return traced(`thread ${operation}`, () => this.#runResized(operation, bundle, input), options);
  }

  /** Frames and crops for a GPU are resized on the CPU, or they would keep the threads of the GPU busy (ADR 13). */
  async #runResized<O extends Operation>(
    operation: O,
    bundle: string,
    input: Operations[O]['in'],
  ): Promise<Operations[O]['out']> {
    if (this.provider === 'cpu' || !(operation === 'encode' || operation === 'people')) {
      return this.#runOnce(operation, bundle, input);
    }
    const boxes = input as Operations['resize']['in'];
    return this.#runOnce(operation, bundle, { ...boxes, images: await this.#runOnce('resize', bundle, boxes) });
  }

  #runOnce<O extends Operation>(
    operation: O,
    bundle: string,
    input: Operations[O]['in'],
  ): Promise<Operations[O]['out']> {
    if (this.#closing !== null) return Promise.reject(closingError());
    if (this.#here !== null && isGraphless(operation)) return runHere(this.#here, operation, bundle, input);
    return new Promise((resolve, reject) => {
      const onOutput = (output: unknown) => resolve(output as Operations[O]['out']);
      const task = { operation, bundle, input, resolve: onOutput };
      const runOnCpu = (error: ScenedeltaError) => {
        if (this.#closeRequested.signal.aborted) return reject(error);
        this.#onGpuFailure(operation);
        this.#logger.error({ operation, bundle, reason: error.message }, 'a GPU failed, a thread of the CPU runs it');
        this.#push({ ...task, onCpu: true, reject });
      };
      const isOnGpu = this.provider !== 'cpu' && serves('gpu', this.#threadOptions.gpuGraphs, operation);
      this.#push({ ...task, onCpu: false, reject: isOnGpu ? runOnCpu : reject });
    });
  }

  #push(task: Task): void {
    this.#queue.push(task);
    this.#dispatch();
  }

  /** Refuses waiting tasks, lets running ones finish, then ends the threads. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#closeRequested.abort();
    for (const task of this.#queue.drain()) task.reject(closingError());
    for (const thread of this.#threads) if (thread.idle) thread.close();
    await Promise.allSettled(this.#starting);
    await Promise.all([...this.#threads].map((thread) => thread.exited));
  }

  /** Gives a batch to every idle thread. While no thread of the GPU serves, those of the CPU run its tasks, too. */
  #dispatch(): void {
    const hasGpu = [...this.#threads].some(({ role, isBroken }) => role === 'gpu' && !isBroken);
    for (const thread of this.#threads) {
      if (!thread.idle) continue;
      const rows = thread.role === 'gpu' ? this.#batchSize : 1;
      const [first, ...others] = this.#queue.takeBatch(rows, hasGpu ? thread.role : 'all');
      if (first !== undefined) thread.run([first, ...others]);
    }
  }

  #join(thread: ThreadHandle): void {
    thread.onIdle = () => this.#onIdle(thread);
    thread.onExit = (reason) => this.#onExit(thread, reason);
    this.#threads.add(thread);
    this.#onIdle(thread);
  }

  #onIdle(thread: ThreadHandle): void {
    if (this.#closing !== null || thread.isBroken) thread.close();
    if (this.#closing === null) this.#dispatch();
  }

  #onExit(thread: ThreadHandle, reason: string): void {
    this.#threads.delete(thread);
    if (this.#closing !== null) return;
    this.#logger.error({ thread: thread.number, reason }, 'inference thread ended, starting another');
    void this.#startUntilReady(thread.number, thread.role, RESTART_MS.first);
  }

  /** Resolves when the first thread of the CPU serves; the first one of the GPU does already. */
  async #startBesideGpu(cpuThreads: number): Promise<void> {
    try {
      Object.assign(this.refused, await this.#startThread(GPU_THREADS + 1, 'beside-gpu'));
    } catch (error) {
      await this.close();
      throw error;
    }
    this.#startLater(GPU_THREADS + 2, GPU_THREADS + cpuThreads, 'beside-gpu');
    // One after the other: CUDA opens no session while another one plans its first run (failure 900).
    const startOnGpu = async () => {
      for (let number = 2; number <= GPU_THREADS; number++) await this.#startUntilReady(number, 'gpu');
    };
    void startOnGpu();
  }

  #startLater(first: number, last: number, role: Role): void {
    for (let number = first; number <= last; number++) void this.#startUntilReady(number, role);
  }

  /** Starts a thread after `wait` ms, and again with longer waits until it serves or the pool is closed. */
  async #startUntilReady(number: number, role: Role, wait = 0): Promise<void> {
    for (; ; wait = Math.min(Math.max(2 * wait, RESTART_MS.first), RESTART_MS.longest)) {
      if (wait > 0) await this.#waitUnlessClosing(wait);
      if (this.#closing !== null) return;
      const starting = this.#startThread(number, role);
      this.#starting.add(starting);
      try {
        await starting;
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#logger.error({ thread: number, reason }, 'inference thread does not start');
      } finally {
        this.#starting.delete(starting);
      }
    }
  }

  /** Waits `ms`, or until the pool is closed; the wait does not keep the process alive. */
  async #waitUnlessClosing(ms: number): Promise<void> {
    const { signal } = this.#closeRequested;
    await delay(ms, undefined, { signal, ref: false }).catch(() => {});
  }

  /** @returns reason per bundle that did not open */
  async #startThread(number: number, role: Role): Promise<ThreadReady['refused']> {
    const options = { ...this.#threadOptions, role, device: role === 'gpu' ? this.provider : 'cpu' };
    const { thread, ready } = await ThreadHandle.start(number, options, bootThread(number, this.#script));
    this.#join(thread);
    return ready.refused;
  }
}

async function runHere<O extends Operation>(
  code: GraphlessCode,
  operation: O & Graphless,
  bundle: string,
  input: Operations[O]['in'],
): Promise<Operations[O]['out']> {
  const { runGraphless } = await code;
  try {
    return runGraphless<Graphless>(operation, input as Operations[Graphless]['in']) as Operations[O]['out'];
  } catch (error) {
    throw failedRun(bundle, operation, error instanceof Error ? error.message : String(error));
  }
}

/** @returns the part of the options that every thread receives, which must be plain data */
const threadOptions = (options: PoolOptions): CommonOptions => ({
  bundles: options.bundles,
  strictDevice: options.strictDevice,
  batchSize: options.batchSize,
  gpuGraphs: options.gpuGraphs,
  graphCache: options.graphCache,
  warmUp: options.warmUp,
});

const closingError = () =>
  new ScenedeltaError('inference-failed', 'the inference threads are closing, no run was started');
