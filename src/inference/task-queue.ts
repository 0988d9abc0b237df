/** Queue of inference tasks: ordered by operation, then by age, and taken in batches of tasks that can share a run. */
import type { ScenedeltaError } from '../base/errors.js';
import { type EncodeInput, type GpuGraphs, type Operation, type Operations, type Role, serves } from './protocol.js';

export interface Task {
  readonly operation: Operation;
  /** name of the bundle */
  readonly bundle: string;
  readonly input: Operations[Operation]['in'];
  /** whether a GPU failed to run it, so that a thread of the CPU does */
  readonly onCpu: boolean;
  resolve(output: unknown): void;
  reject(error: ScenedeltaError): void;
}

/**
 * Priority per operation; a lower number runs first. Comparisons in progress are finished before others start, so that
 * few frames are in memory at a time. Of one priority the older task runs first: the two frames of a pair are encoded
 * concurrently, and examined while their features are compared.
 */
const PRIORITY: Readonly<Record<Operation, number>> = {
  caption: 0,
  statements: 0,
  name: 0,
  people: 0,
  check: 0,
  measureRegions: 0,
  embedPair: 0,
  // one person waits for it
  embedTexts: 0,
  difference: 1,
  align: 2,
  // a GPU waits for it
  resize: 2,
  encode: 3,
  examine: 3,
};

export class TaskQueue {
  readonly #gpuGraphs: GpuGraphs;
  #tasks: Task[] = [];

  constructor(gpuGraphs: GpuGraphs) {
    this.#gpuGraphs = gpuGraphs;
  }

  push(task: Task): void {
    this.#tasks.push(task);
  }

  /**
   * Removes the next task of a role and the tasks that can share its run.
   * @param maxRows most rows of a batch; a single task with more rows is a batch of its own
   * @returns at least one task, or none if none of the role waits
   */
  takeBatch(maxRows: number, role: Role): Task[] {
    const ofRole = this.#tasks.filter(({ operation, onCpu }) =>
      onCpu ? role !== 'gpu' : serves(role, this.#gpuGraphs, operation),
    );
    const [any, ...others] = ofRole;
    if (any === undefined) return [];
    const first = others.reduce((a, b) => (PRIORITY[b.operation] < PRIORITY[a.operation] ? b : a), any);
    const batch: Task[] = [];
    let rows = 0;
    for (const task of ofRole) {
      if (batchKey(task) !== batchKey(first)) continue;
      if (batch.length > 0 && rows + rowsOf(task) > maxRows) break;
      batch.push(task);
      rows += rowsOf(task);
      if (rows >= maxRows) break;
    }
    this.#tasks = this.#tasks.filter((task) => !batch.includes(task));
    return batch;
  }

  drain(): Task[] {
    return this.#tasks.splice(0);
  }
}

/** Tasks with the same key can share a run. */
function batchKey({ operation, bundle, input }: Task): string {
  if (operation !== 'encode') return `${operation} ${bundle}`;
  const { width, height } = input as EncodeInput;
  return `${operation} ${bundle} ${width}x${height}`;
}

/** @returns the number of rows of the batch tensor that the task takes */
const rowsOf = ({ operation, input }: Task): number =>
  operation === 'encode' ? (input as EncodeInput).boxes.length : 1;
