/** Bench of the worker tests: stores on a private Redis, blobs in a temporary folder, and a scripted pipeline. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { Redis } from 'ioredis';
import { type BlobStore, frameKey } from '../../src/base/blobs.js';
import type { HeatmapData } from '../../src/heatmaps/data.js';
import { createJobGuard, type JobGuard } from '../../src/jobs/job-guard.js';
import type { Comparer } from '../../src/pipeline/pair.js';
import { createLogger } from '../../src/process/logger.js';
import type { Finding } from '../../src/schemas/comparison.js';
import { type BatchFiles, createBatchFiles } from '../../src/stores/batches/batch-files.js';
import { type BatchStore, createBatchStore } from '../../src/stores/batches/batches.js';
import { createFileBlobStore } from '../../src/stores/blobs/files.js';
import { createFrameUses, type FrameUses } from '../../src/stores/blobs/frame-uses.js';
import type { CameraStore } from '../../src/stores/cameras/cameras.js';
import { createCameraStore } from '../../src/stores/cameras/cameras.js';
import type { TurnStore } from '../../src/stores/cameras/turns.js';
import { createTurnStore } from '../../src/stores/cameras/turns.js';
import type { ChangeStore } from '../../src/stores/changes/changes.js';
import { createChangeStore } from '../../src/stores/changes/changes.js';
import { createVisitStore, type VisitStore } from '../../src/stores/changes/visits.js';
import { createResultStore, type ResultStore } from '../../src/stores/comparisons/results.js';
import { createDeliveryStore, type DeliveryStore } from '../../src/stores/delivery/deliveries.js';
import { createEndpointStore, type EndpointStore } from '../../src/stores/delivery/endpoints.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { createRunStore } from '../../src/stores/redis/runs.js';
import { type ComparisonJobDependencies, createComparisonProcessor } from '../../src/workers/comparison-job.js';
import { createFetchLimits } from '../../src/workers/fetch-limits.js';
import { createLifeCycle, type LifeCycleDependencies } from '../../src/workers/life-cycle.js';
import { finding } from './comparisons.js';
import { startRedis, type TestRedis } from './redis.js';

export const logger = createLogger({ level: 'silent', name: 'test' });

export interface Bench {
  readonly server: TestRedis;
  readonly redis: Redis;
  readonly results: ResultStore;
  readonly deliveries: DeliveryStore;
  readonly endpoints: EndpointStore;
  readonly changes: ChangeStore;
  readonly visits: VisitStore;
  readonly cameras: CameraStore;
  readonly turns: TurnStore;
  readonly batches: BatchStore;
  readonly files: BatchFiles;
  readonly blobs: BlobStore;
  readonly frameUses: FrameUses;
  /** the blob folder */
  readonly folder: string;
  /** name of the process; it is present only if it listens (stores/redis/runs.ts) */
  readonly worker: string;
  readonly guard: JobGuard;
  readonly patiently: JobGuard['patiently'];
  /** Stores the frames that `acceptedComparison` refers to. */
  storeFrames(): Promise<void>;
  stop(): Promise<void>;
}

const HOUR = 3_600_000;

/** @param worker its name; it is present only if it listens (stores/redis/runs.ts) */
export const jobGuard = ({ redis, blobs }: Pick<Bench, 'redis' | 'blobs'>, worker = 'wrk_test') =>
  createJobGuard({ redis, blobs, runs: createRunStore(redis, worker), logger });

export async function setUpBench(): Promise<Bench> {
  const server = await startRedis();
  const redis = connectRedis(server.url, { role: 'consumer', logger });
  const folder = await mkdtemp(join(tmpdir(), 'sd-workers-'));
  const blobs = createFileBlobStore(folder);
  const cameras = createCameraStore(redis);
  const changes = createChangeStore(redis, { retentionMs: HOUR });
  const guard = jobGuard({ redis, blobs });
  return {
    server,
    redis,
    worker: 'wrk_test',
    ...{ guard, patiently: guard.patiently },
    results: createResultStore(redis, { retentionMs: HOUR }),
    batches: createBatchStore(redis),
    files: createBatchFiles(folder),
    cameras,
    frameUses: createFrameUses(redis, { cameras, changes }),
    turns: createTurnStore(redis, { retentionMs: HOUR }),
    deliveries: createDeliveryStore(redis, { retentionMs: HOUR }),
    endpoints: createEndpointStore(redis),
    changes,
    visits: createVisitStore(redis),
    blobs,
    folder,
    async storeFrames() {
      for (const fill of ['a', 'b']) await blobs.put(frameKey(fill.repeat(64)), Buffer.from(fill));
    },
    async stop() {
      redis.disconnect();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A bench for the tests of one file. Redis is emptied before each test; the members exist from `beforeAll` on. */
export function useBench(): Bench {
  const bench = {} as Bench;
  beforeAll(async () => {
    Object.assign(bench, await setUpBench());
  });
  beforeEach(() => bench.redis.flushall());
  afterAll(() => bench.stop());
  return bench;
}

const grid = { width: 2, height: 1, data: new Float32Array([0.25, 1]) };
export const heatmaps: HeatmapData = { before: grid, after: grid, words: { before: [grid], after: [grid] } };
export const output = { finding: finding as unknown as Finding, heatmaps, timings: { decode: 1, encode: 2 } };

/** @param answers one per call; the last one repeats */
export function scriptedPipeline(
  ...answers: ((input: Parameters<Comparer['compare']>[0]) => Promise<typeof output>)[]
) {
  const calls: Parameters<Comparer['compare']>[0][] = [];
  const pipeline: Comparer = {
    async compare(input) {
      const answer = answers[Math.min(calls.length, answers.length - 1)];
      calls.push(input);
      return answer === undefined ? output : answer(input);
    },
  };
  return { pipeline, calls };
}

type ProcessorOptions = Partial<Pick<LifeCycleDependencies, 'clock' | 'enqueueDelivery' | 'blobs'>> &
  Partial<ComparisonJobDependencies>;

/**
 * The processor of comparison jobs on the bench's stores. Deliveries are not queued unless `enqueueDelivery` is given.
 */
export function comparisonProcessor(
  bench: Bench,
  { enqueueDelivery, blobs = bench.blobs, clock = Date.now, ...change }: ProcessorOptions,
) {
  const none = { ofComparison: async () => {}, ofAlert: async () => {} };
  const results = change.results ?? bench.results;
  return createComparisonProcessor({
    results,
    lifeCycle: createLifeCycle({
      results,
      blobs,
      enqueueDelivery: enqueueDelivery ?? none,
      clock,
      logger,
    }),
    pipeline: scriptedPipeline().pipeline,
    fetchFrame: async (ref) => ({ bytes: Buffer.from('x'), ref: ref as never }),
    fetchLimits: createFetchLimits(clock),
    cameras: { maskOf: async () => null, get: async () => undefined },
    clock,
    ...change,
  });
}
