/** Creates all stores from the settings. */
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { BlobStore } from '../base/blobs.js';
import { HOUR_MS } from '../base/clock.js';
import { invalidRequest } from '../base/errors.js';
import type { Config } from '../process/config.js';
import type { ApiKeyStore } from './api-keys.js';
import { createApiKeyStore } from './api-keys.js';
import { type BatchFiles, createBatchFiles } from './batch-files.js';
import { type BatchStore, createBatchStore } from './batches.js';
import { createFileBlobStore } from './blobs-fs.js';
import { createS3BlobStore } from './blobs-s3.js';
import type { CameraStore } from './cameras.js';
import { createCameraStore } from './cameras.js';
import type { ChangeStore } from './changes.js';
import { createChangeStore } from './changes.js';
import { createDayStore, type DayStore } from './days.js';
import { createDeliveryStore, type DeliveryStore } from './deliveries.js';
import { createEndpointStore, type EndpointStore } from './endpoints.js';
import { createFrameUses, type FrameUses } from './frame-uses.js';
import { createResultStore, type ResultStore } from './results.js';
import { createS3Client, type S3Client } from './s3-client.js';
import { sourcesOnly } from './s3-sources.js';
import type { TurnStore } from './turns.js';
import { createTurnStore } from './turns.js';
import { createVisitStore, type VisitStore } from './visits.js';
import { createWorkerRegistry, type WorkerRegistry } from './workers.js';

export interface Stores {
  readonly results: ResultStore;
  readonly blobs: BlobStore;
  readonly frameUses: FrameUses;
  readonly deliveries: DeliveryStore;
  readonly endpoints: EndpointStore;
  readonly apiKeys: ApiKeyStore;
  readonly workers: WorkerRegistry;
  readonly cameras: CameraStore;
  readonly turns: TurnStore;
  readonly changes: ChangeStore;
  readonly days: DayStore;
  readonly visits: VisitStore;
  readonly batches: BatchStore;
  readonly files: BatchFiles;
  /** source of s3:// frames; undefined if S3_ENDPOINT is not set */
  readonly s3: S3Client | undefined;
}

/** @throws ScenedeltaError 'invalid-request' if the S3 settings are incomplete. */
export function createStores(config: Config, redis: Redis): Stores {
  const retentionMs = config.resultRetentionHours * HOUR_MS;
  const s3 = createS3Client(config);
  const cameras = createCameraStore(redis);
  const changes = createChangeStore(redis, { retentionMs });
  return {
    results: createResultStore(redis, { retentionMs }),
    blobs: createBlobStore(config, s3),
    frameUses: createFrameUses(redis, { cameras, changes }),
    deliveries: createDeliveryStore(redis, { retentionMs }),
    endpoints: createEndpointStore(redis),
    apiKeys: createApiKeyStore(redis),
    workers: createWorkerRegistry(redis),
    cameras,
    turns: createTurnStore(redis, { retentionMs }),
    changes,
    days: createDayStore(redis),
    visits: createVisitStore(redis),
    batches: createBatchStore(redis),
    files: createBatchFiles(config.dataDir),
    s3: s3 && sourcesOnly(s3, config),
  };
}

function createBlobStore(config: Config, s3: S3Client | undefined): BlobStore {
  if (config.s3FrameBucket === null) return createFileBlobStore(join(config.dataDir, 'blobs'));
  if (s3 === undefined) {
    throw invalidRequest(
      `S3_FRAME_BUCKET=${JSON.stringify(config.s3FrameBucket)}: expected S3_ENDPOINT beside it`,
      'S3_FRAME_BUCKET',
    );
  }
  return createS3BlobStore(s3, config.s3FrameBucket);
}
