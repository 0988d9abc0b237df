/** Pools of fake inference threads (fake-inference-thread.mjs), which are closed after each test. */
import { jest } from '@jest/globals';
import { GPU_THREADS, InferencePool, type PoolOptions } from '../../src/inference/pool.js';
import type { EncodeInput } from '../../src/inference/protocol.js';
import type { Bundle } from '../../src/model/manifest.js';
import { eventually } from './eventually.js';

// Threads start slowly on a busy machine; no test here is about speed.
jest.setTimeout(120_000);

/** Output of a task of the fake thread; see fake-inference-thread.mjs. */
export interface Ran {
  operation: string;
  thread: number;
  batch: number;
  start: number;
  end: number;
}
const script = new URL('./fake-inference-thread.mjs', import.meta.url);
export const bundleNamed = (name: string, broken: boolean | string = false) =>
  ({ manifest: { name }, broken }) as unknown as Bundle;
export const error = jest.fn();
const pools: InferencePool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  error.mockClear();
});

export async function start(options: Partial<PoolOptions> = {}): Promise<InferencePool> {
  const logger = { error } as unknown as PoolOptions['logger'];
  const bundles = [bundleNamed('echo')];
  const pool = await InferencePool.start({
    bundles,
    device: 'cpu',
    strictDevice: false,
    threads: 1,
    batchSize: 4,
    gpuGraphs: 'large',
    graphCache: null,
    warmUp: true,
    logger,
    script,
    ...options,
  });
  pools.push(pool);
  return pool;
}
/** Waits for all threads; `start` waits only for the first. */
export async function startAll(threads: number): Promise<InferencePool> {
  const pool = await start({ threads });
  await eventually(() => expect(pool.threads).toBe(threads));
  return pool;
}
export async function startOnGpu(options: Partial<PoolOptions> = {}): Promise<InferencePool> {
  const pool = await start({ device: 'cuda:0', ...options });
  await eventually(() => expect(pool.threads).toBe(GPU_THREADS + 1));
  return pool;
}
export const frame = (width = 16, boxes = 1): EncodeInput => ({
  frame: { width: 1, height: 1, data: new Uint8Array(new SharedArrayBuffer(3)) },
  boxes: Array.from({ length: boxes }, () => ({ x: 0, y: 0, width: 1, height: 1 })),
  width,
  height: 16,
});
export const encode = (pool: InferencePool, bundle: string, input = frame()) =>
  pool.run('encode', bundle, input) as unknown as Promise<Ran>;
