/** Handle of one inference thread, on the main thread: starts it, sends it batches and settles their tasks. */
import { Worker } from 'node:worker_threads';
import { ScenedeltaError } from '../base/errors.js';
import { collectAtOnce } from './garbage-collection.js';
import {
  type FromThread,
  type Operation,
  type Role,
  roleOn,
  type ThreadOptions,
  type ThreadReady,
  type ThreadRequest,
  type ToThread,
} from './protocol.js';
import type { Task } from './task-queue.js';

/**
 * Batches in a row that may fail on a thread of a GPU: a CUDA context stays broken after an error such as an illegal
 * address, and no later run succeeds in it.
 */
const MOST_FAILURES_IN_A_ROW = 3;

/** A thread that loads its code while its caller finds out what it shall serve. */
export interface BootedThread {
  readonly worker: Worker;
  /** rejects if the thread ends without a message */
  readonly first: Promise<FromThread>;
}

/**
 * Starts a thread, which keeps no process alive until it is used.
 * @param script compiled entry of the thread; absent = thread.js
 */
export function bootThread(number: number, script?: URL): BootedThread {
  collectAtOnce();
  // Without it the telemetry of ONNX Runtime sends data about machine and graphs to Microsoft. It reads the variables
  // of the process, which a thread cannot set.
  // biome-ignore lint/style/noProcessEnv: this is no setting of ours
  process.env.ORT_DISABLE_TELEMETRY = '1';
  const worker = new Worker(script ?? new URL('./thread.js', import.meta.url), { name: `inference-${number}` });
  worker.unref();
  const first = firstMessage(worker);
  // The user of the thread gets the error.
  first.catch(() => {});
  return { worker, first };
}

/** Ends a thread that was not used. */
export function dismiss({ worker }: BootedThread): void {
  const message: ToThread = { type: 'close' };
  worker.postMessage(message);
}

export class ThreadHandle {
  /** stays the same for the replacement of a thread that ended */
  readonly number: number;
  readonly role: Role;
  /** resolves when the thread has ended */
  readonly exited: Promise<void>;
  /** is called when the thread has answered and can take the next batch */
  onIdle = () => {};
  /** is called when the thread has ended and its tasks have failed */
  onExit: (reason: string) => void = () => {};
  readonly #worker: Worker;
  #running: readonly Task[] = [];
  #failuresInARow = 0;

  private constructor(worker: Worker, number: number, role: Role) {
    this.number = number;
    this.role = role;
    this.#worker = worker;
    worker.on('message', (message: FromThread) => {
      this.#settle(message);
      this.onIdle();
    });
    let thrown: string | undefined;
    worker.on('error', (error: Error) => {
      thrown = error.message;
    });
    this.exited = new Promise((resolve) => {
      worker.on('exit', (code) => {
        const reason = thrown ?? (this.isBroken ? `${this.#failuresInARow} runs in a row failed` : `exit code ${code}`);
        for (const { operation, reject } of this.#running) {
          const message = `inference thread ${number} ended within ${operation}: ${reason}`;
          reject(new ScenedeltaError('inference-failed', message));
        }
        resolve();
        this.onExit(reason);
      });
    });
  }

  /**
   * Starts a thread and waits until it is ready.
   * @throws Error if the thread ends, or reports that it cannot serve, before it is ready
   */
  static async start(
    number: number,
    options: ThreadOptions,
    booted: BootedThread,
  ): Promise<{ readonly thread: ThreadHandle; readonly ready: ThreadReady }> {
    const { worker } = booted;
    worker.ref();
    const message: ToThread = { type: 'open', options };
    worker.postMessage(message);
    const first = await booted.first;
    if (first.type !== 'ready') {
      const reason = first.type === 'unfit' ? first.reason : `inference thread sent ${first.type}, expected ready`;
      throw new Error(reason);
    }
    const role = roleOn(first.provider, options.role);
    return { thread: new ThreadHandle(worker, number, role), ready: first };
  }

  get idle(): boolean {
    return this.#running.length === 0 && !this.isBroken;
  }

  /** whether its GPU failed so often that another thread should take its place: it takes no more batches */
  get isBroken(): boolean {
    return this.role === 'gpu' && this.#failuresInARow >= MOST_FAILURES_IN_A_ROW;
  }

  /** @param batch tasks that can share a run, at least one; the thread must be idle */
  run(batch: readonly [Task, ...Task[]]): void {
    this.#running = batch;
    const [{ operation, bundle }] = batch;
    const request: ThreadRequest = {
      type: 'run',
      operation,
      bundle,
      inputs: batch.map(({ input }) => input),
    };
    this.#worker.postMessage(request);
  }

  /** Asks the thread to release its graphs and to end. It must be idle. */
  close(): void {
    const message: ToThread = { type: 'close' };
    this.#worker.postMessage(message);
  }

  #settle(message: FromThread): void {
    const tasks = this.#running;
    this.#running = [];
    this.#failuresInARow = message.type === 'failed' ? this.#failuresInARow + 1 : 0;
    if (message.type === 'done') {
      for (const [i, task] of tasks.entries()) task.resolve(message.outputs[i]);
    } else if (message.type === 'failed') {
      for (const { bundle, operation, reject } of tasks) {
        reject(failedRun(bundle, operation, message.reason));
      }
    }
  }
}

export const failedRun = (bundle: string, operation: Operation, reason: string): ScenedeltaError =>
  new ScenedeltaError('inference-failed', `${bundle}, ${operation}: ${reason}`);

/** @throws Error if the thread ends without a message */
function firstMessage(worker: Worker): Promise<FromThread> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number) => reject(new Error(`inference thread ended with code ${code} before it was ready`));
    const onMessage = (message: FromThread) => {
      worker.off('error', reject);
      worker.off('exit', onExit);
      worker.off('message', onMessage);
      resolve(message);
    };
    worker.once('error', reject);
    worker.once('exit', onExit);
    worker.on('message', onMessage);
  });
}
