/**
 * Thread pool for inference. On a CPU a thread runs one task at a time, so the two frames of a pair are encoded
 * concurrently and several comparisons share the cores. On a GPU a free thread runs all waiting tasks of one kind as
 * one batch; no task waits for a batch to fill.
 */
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { ScenedeltaError } from '../errors.js';
import type { Logger } from '../logger.js';
import type { Provider } from '../model/session.js';
import { traced } from '../tracing.js';
import type { Operation, Operations, ThreadOptions, ThreadReady } from './protocol.js';
import { TaskQueue } from './task-queue.js';
import { type BootedThread, bootThread, ThreadHandle } from './thread-handle.js';

export interface PoolOptions extends ThreadOptions {
  /** number of threads; 0 = one per core on the CPU, one on a GPU */
  readonly threads: number;
  readonly logger: Logger;
  /** compiled entry of a thread; tests give another */
  readonly script?: URL;
  /** the first thread, if it has been started already */
  readonly booted?: BootedThread;
}

/** Wait before a thread is started again; doubled after every failure. */
const RESTART_MS = { first: 100, longest: 30_000 };

export class InferencePool {
  /** the same for all threads */
  readonly provider: Provider;
  /** reason why the CPU serves although CUDA was asked for, or null */
  readonly fallback: string | null;
  /** reason per bundle that did not open, of those that are opened at the start */
  readonly refused: Readonly<Record<string, string>>;
  readonly #logger: Logger;
  readonly #script: URL | undefined;
  /** of all threads but the first */
  readonly #threadOptions: ThreadOptions;
  /** most rows of a batch */
  readonly #maxRows: number;
  readonly #queue = new TaskQueue();
  readonly #threads = new Set<ThreadHandle>();
  readonly #starting = new Set<Promise<void>>();
  readonly #closeRequested = new AbortController();
  #closing: Promise<void> | null = null;

  private constructor(options: PoolOptions, { provider, fallback, refused }: ThreadReady) {
    this.provider = provider;
    this.fallback = fallback;
    this.refused = refused;
    this.#logger = options.logger;
    this.#script = options.script;
    this.#maxRows = provider === 'cpu' ? 1 : options.batchSize;
    this.#threadOptions = {
      ...threadOptions(options),
      bundles: options.bundles.filter(({ manifest }) => !(manifest.name in refused)),
      device: provider,
      strictDevice: true,
    };
  }

  /**
   * Resolves when the first thread has opened the first bundle, and warmed it up if `warmUp` is set (see `refused`).
   * The other bundles are opened at their first request, and the other threads join when they are ready: on two cores,
   * opening two at a time delays the first answer by as much again.
   * @throws Error if no thread can serve: the device is missing with STRICT_DEVICE, or there is no bundle
   */
  static async start(options: PoolOptions): Promise<InferencePool> {
    const first = options.booted ?? bootThread(1, options.script);
    const { thread, ready } = await ThreadHandle.start(1, threadOptions(options), first);
    const pool = new InferencePool(options, ready);
    pool.#join(thread);
    const count = options.threads || (ready.provider === 'cpu' ? availableParallelism() : 1);
    for (let number = 2; number <= count; number++) void pool.#startUntilReady(number);
    return pool;
  }

  /** number of threads that serve now */
  get threads(): number {
    return this.#threads.size;
  }

  /** @throws ScenedeltaError inference-failed (transient) if the run fails, its thread ends or the pool is closing */
  run<O extends Operation>(operation: O, bundle: string, input: Operations[O]['in']): Promise<Operations[O]['out']> {
    if (this.#closing !== null) return Promise.reject(closingError());
    const answered = () =>
      new Promise<Operations[O]['out']>((resolve, reject) => {
        const onOutput = (output: unknown) => resolve(output as Operations[O]['out']);
        this.#queue.push({ operation, bundle, input, resolve: onOutput, reject });
        this.#dispatch();
      });
    // The wait for a thread is part of it.
    return traced(`thread ${operation}`, answered, { attributes: { model: bundle } });
  }

  /** Refuses waiting tasks, lets running ones finish, then ends the threads. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const task of this.#queue.drain()) task.reject(closingError());
    this.#closeRequested.abort();
    for (const thread of this.#threads) if (thread.idle) thread.close();
    await Promise.allSettled(this.#starting);
    await Promise.all([...this.#threads].map((thread) => thread.exited));
  }

  /** Gives a batch to every idle thread. */
  #dispatch(): void {
    for (const thread of this.#threads) {
      if (!thread.idle) continue;
      const [first, ...others] = this.#queue.takeBatch(this.#maxRows);
      if (first === undefined) return;
      thread.run([first, ...others]);
    }
  }

  #join(thread: ThreadHandle): void {
    thread.onIdle = () => this.#onIdle(thread);
    thread.onExit = (reason) => this.#onExit(thread, reason);
    this.#threads.add(thread);
    this.#onIdle(thread);
  }

  #onIdle(thread: ThreadHandle): void {
    if (this.#closing !== null) thread.close();
    else this.#dispatch();
  }

  #onExit(thread: ThreadHandle, reason: string): void {
    this.#threads.delete(thread);
    if (this.#closing !== null) return;
    this.#logger.error({ thread: thread.number, reason }, 'inference thread ended, starting another');
    void this.#startUntilReady(thread.number, RESTART_MS.first);
  }

  /** Starts a thread after `wait` ms, and again with longer waits until it serves or the pool is closed. */
  async #startUntilReady(number: number, wait = 0): Promise<void> {
    for (; ; wait = Math.min(Math.max(2 * wait, RESTART_MS.first), RESTART_MS.longest)) {
      if (wait > 0) await this.#waitUnlessClosing(wait);
      if (this.#closing !== null) return;
      const starting = this.#startThread(number);
      this.#starting.add(starting);
      try {
        return await starting;
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

  async #startThread(number: number): Promise<void> {
    const { thread } = await ThreadHandle.start(number, this.#threadOptions, bootThread(number, this.#script));
    this.#join(thread);
  }
}

/** @returns the part of the options that a thread receives, which must be plain data */
const threadOptions = (options: PoolOptions): ThreadOptions => ({
  bundles: options.bundles,
  device: options.device,
  strictDevice: options.strictDevice,
  batchSize: options.batchSize,
  graphCache: options.graphCache,
  warmUp: options.warmUp,
});

const closingError = () =>
  new ScenedeltaError('inference-failed', 'the inference threads are closing, no run was started');
