/** Builds the processors of all jobs from their dependencies and starts the queue workers that run them. */
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Redis } from 'ioredis';
import type { BlobStore } from '../base/blobs.js';
import { HOUR_MS, systemClock } from '../base/clock.js';
import { givingWay } from '../batches/giving-way.js';
import { createBatchProcessor } from '../batches/processor.js';
import { createBatchRecovery } from '../batches/recovery.js';
import { createCrops } from '../brief/pictures.js';
import { createPreviewStore } from '../camera/fold/previews.js';
import { createPictures } from '../frames/change-picture.js';
import { createFrameFetcher } from '../frames/fetch.js';
import { createFrameKeeper } from '../frames/keep.js';
import { createArchiveGate } from '../jobs/archive-gate.js';
import { createEnqueueDelivery } from '../jobs/enqueue-delivery.js';
import { createJobGuard } from '../jobs/job-guard.js';
import { shortenOverlongLocks } from '../jobs/overlong-locks.js';
import { createJobProducer } from '../jobs/producer.js';
import { BATCH_QUEUE, MAINTENANCE_QUEUE, openQueue, QUESTION_QUEUE, QUEUES, SNAPSHOT_QUEUE } from '../jobs/queues.js';
import { serveTable } from '../jobs/run-jobs.js';
import type { OutboundClient } from '../outbound/client.js';
import type { Pipeline } from '../pipeline/compare.js';
import type { Config } from '../process/config.js';
import type { Logger } from '../process/logger.js';
import { linkKey, publicBaseUrl } from '../secrets/links.js';
import { loginKey } from '../secrets/login.js';
import { createStandstillStore } from '../stores/cameras/standstills.js';
import { createTurnStore } from '../stores/cameras/turns.js';
import type { Stores } from '../stores/create.js';
import { createRunStore } from '../stores/redis/runs.js';
import { createCameraRetention } from './camera-retention.js';
import { createSnapshotPuller, snapshotsWanted } from './camera-snapshot.js';
import { createTurnProcessor } from './camera-turn.js';
import { createComparisonProcessor } from './comparison-job.js';
import { createBriefMails } from './deliveries/brief-mails.js';
import { createDeliveryProcessor } from './deliveries/delivery-job.js';
import { createDeliveryLimits } from './deliveries/delivery-limits.js';
import { createDigests } from './deliveries/digests.js';
import { createFetchLimits } from './fetch-limits.js';
import { createLifeCycle } from './life-cycle.js';
import type { WorkerMetrics } from './metrics.js';
import { createQuestionProcessor, questionQueue } from './question-job.js';
import { batchQueue, comparisonQueues, deliveryQueue, maintenanceQueue, snapshotQueue } from './queue-workers.js';
import { createRecovery, RECOVER_AFTER_MS } from './recovery.js';
import { createRetention } from './retention.js';
import { createStandstillWatch } from './standstills.js';

const RETENTION_EVERY_MS = 5 * 60_000;
/** Keeps nothing. */
const NOWHERE: Pick<BlobStore, 'get' | 'put'> = { get: async () => undefined, put: async () => {} };

interface ServeDependencies {
  readonly config: Config;
  readonly logger: Logger;
  /** a consumer's connection */
  readonly redis: Redis;
  readonly stores: Stores;
  readonly outbound: OutboundClient;
  /** 'whsec_...' */
  readonly secret: string;
  readonly pipeline: Pipeline;
  readonly metrics: WorkerMetrics;
  /** name of this process in the registry of workers */
  readonly worker: string;
}

/** @returns how to close: running jobs are finished first. */
export async function serveQueues(deps: ServeDependencies): Promise<{ close(): Promise<void>; isRefused(): boolean }> {
  const { config, redis, stores, logger, pipeline, metrics } = deps;
  const queue = createJobProducer(redis);
  const retentionMs = config.resultRetentionHours * HOUR_MS;
  const ofWorkers = {
    standstills: createStandstillStore(redis, { retentionMs }),
    turns: createTurnStore(redis, { retentionMs }),
  };
  const base = { ...stores, ...ofWorkers, queue, logger, clock: systemClock };

  const runs = createRunStore(redis, deps.worker);
  const presence = await runs.listen();
  const guard = createJobGuard({ redis, blobs: stores.blobs, runs, logger });
  metrics.storeRefusals(guard.isRefused);

  const fetchFrame = createFrameFetcher({ ...stores, outbound: deps.outbound, config });
  const fetchLimits = createFetchLimits(systemClock);
  const enqueueDelivery = createEnqueueDelivery({ ...base, heldBack: metrics.heldBack });
  const lifeCycle = createLifeCycle({ ...base, enqueueDelivery });
  const comparisons = createComparisonProcessor({ ...base, lifeCycle, pipeline, fetchFrame, fetchLimits });
  const turns = createTurnProcessor({
    ...base,
    lifeCycle,
    pipeline,
    fetchFrame,
    fetchLimits,
    decodeLimits: config,
    previews: createPreviewStore({ ...stores, decodeLimits: config }),
    holdMs: 2 * config.jobLockMs,
    token: randomUUID,
    worker: deps.worker,
    guard,
  });
  const deliveries = createDeliveryProcessor({
    ...base,
    outbound: deps.outbound,
    limits: createDeliveryLimits(systemClock),
    secret: deps.secret,
    loginKey: loginKey(config, deps.secret),
    links: {
      baseUrl: publicBaseUrl(config),
      key: linkKey(deps.secret),
      framesMs: config.frameRetentionHours * HOUR_MS,
      heatmapsMs: config.heatmapRetentionHours * HOUR_MS,
    },
    random: Math.random,
    patiently: guard.patiently,
    pictureOf: createPictures({ ...stores, decodeLimits: config }),
    cropOf: createCrops({ ...stores, keeper: createFrameKeeper(stores.blobs, config), decodeLimits: config }),
  });
  const snapshots = createSnapshotPuller({
    ...base,
    fetchFrame,
    loginKey: loginKey(config, deps.secret),
    holdMs: config.outboundTimeoutMs + config.jobLockMs,
    worker: deps.worker,
    cameraDeadline: config.cameraDeadline,
  });
  const { threads, concurrency } = capacityOf(config);
  const liveQueue = openQueue(QUEUES.live, redis);
  const gate = createArchiveGate(liveQueue, threads, guard.hasSuspects);
  const recorded = givingWay(pipeline, () => gate.pass());
  const batches = createBatchProcessor({ ...base, outbound: deps.outbound, pipeline: recorded, config });

  const recover = createRecovery({ ...base, enqueueDelivery, giveUp: comparisons.giveUp, metrics });
  const recoverBatches = createBatchRecovery({ ...base, processor: batches }, RECOVER_AFTER_MS);
  const tasks = {
    recover: async () => [await recover(), await recoverBatches()],
    reconcile: async () => queue.reconcileSnapshots(await snapshotsWanted(stores.cameras)),
    watch: createStandstillWatch({ ...base, enqueueDelivery }),
    digest: createDigests({ ...base, enqueueDelivery }),
    brief: createBriefMails({ ...base, enqueueDelivery }),
    retain: createRetention({ ...base, ofCameras: createCameraRetention(base), config }),
  };

  const publish = (channel: string, message: string) => redis.publish(channel, message);
  const questions = createQuestionProcessor({
    ...base,
    fetchFrame,
    pipeline,
    publish,
    decodeLimits: config,
    loginKey: loginKey(config, deps.secret),
    snapshots,
    tryFrame: createFrameFetcher({ ...stores, blobs: NOWHERE, outbound: deps.outbound, config }),
  });
  const served = serveTable(
    {
      ...comparisonQueues({ logger, guard, metrics, processor: comparisons, turns, queue, gate, concurrency }),
      [BATCH_QUEUE]: batchQueue({ logger, guard, processor: batches, queue }),
      [QUEUES.delivery]: deliveryQueue({ logger, guard, metrics, processor: deliveries }),
      [QUESTION_QUEUE]: questionQueue(questions, logger),
      [SNAPSHOT_QUEUE]: snapshotQueue(snapshots.scheduled, logger),
      [MAINTENANCE_QUEUE]: maintenanceQueue(tasks, logger),
    },
    { redis, config, logger, guard },
  );
  const locks = shortenOverlongLocks(redis, { lockMs: config.jobLockMs, logger });
  await queue.scheduleMaintenance({
    recover: { everyMs: RECOVER_AFTER_MS },
    reconcile: { everyMs: RECOVER_AFTER_MS },
    watch: { everyMs: RECOVER_AFTER_MS },
    digest: { everyMs: RECOVER_AFTER_MS },
    brief: { everyMs: RECOVER_AFTER_MS },
    retain: { everyMs: RETENTION_EVERY_MS },
  });
  return {
    isRefused: guard.isRefused,
    async close() {
      locks.close();
      gate.open();
      guard.close();
      await served.close();
      await presence.close();
      await Promise.all([queue.close(), liveQueue.close()]);
    },
  };
}

/**
 * @returns threads: pairs that the model processes at once. concurrency: jobs held, twice as many by default, so that
 *   the next frames are fetched and decoded meanwhile.
 */
function capacityOf(config: Pick<Config, 'inferenceThreads' | 'workerConcurrency'>): {
  threads: number;
  concurrency: number;
} {
  const threads = config.inferenceThreads || availableParallelism();
  return { threads, concurrency: config.workerConcurrency || 2 * threads };
}
