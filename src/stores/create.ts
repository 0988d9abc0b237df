/** Creates the stores of API and workers from the settings. */

import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { BlobStore } from '../base/blobs.js';
import { HOUR_MS } from '../base/clock.js';
import { invalidRequest } from '../base/errors.js';
import type { Config } from '../process/config.js';
import { createProxies } from '../process/proxies.js';
import { type BatchFiles, createBatchFiles } from './batches/batch-files.js';
import { type BatchStore, createBatchStore } from './batches/batches.js';
import { createFileBlobStore } from './blobs/files.js';
import { createFrameUses, type FrameUses } from './blobs/frame-uses.js';
import type { S3Client } from './blobs/s3-client.js';
import { sourcesOnly } from './blobs/s3-sources.js';
import type { CameraStore } from './cameras/cameras.js';
import { createCameraStore } from './cameras/cameras.js';
import type { ChangeStore } from './changes/changes.js';
import { createChangeStore } from './changes/changes.js';
import { createDayStore, type DayStore } from './changes/days.js';
import { createVisitStore, type VisitStore } from './changes/visits.js';
import { createResultStore, type ResultStore } from './comparisons/results.js';
import { createDeliveryStore, type DeliveryStore } from './delivery/deliveries.js';
import { createEndpointStore, type EndpointStore } from './delivery/endpoints.js';
import { createWorkerRegistry, type WorkerRegistry } from './redis/workers.js';

export interface Stores {
  readonly results: ResultStore;
  readonly blobs: BlobStore;
  readonly frameUses: FrameUses;
  readonly deliveries: DeliveryStore;
  readonly endpoints: EndpointStore;
  readonly workers: WorkerRegistry;
  readonly cameras: CameraStore;
  readonly changes: ChangeStore;
  readonly days: DayStore;
  readonly visits: VisitStore;
  readonly batches: BatchStore;
  readonly files: BatchFiles;
  /** source of s3:// frames; undefined if S3_ENDPOINT is not set */
  readonly s3: S3Client | undefined;
}

/** @throws ScenedeltaError 'invalid-request' if the S3 settings are incomplete. */
export async function createStores(config: Config, redis: Redis): Promise<Stores> {
  const retentionMs = config.resultRetentionHours * HOUR_MS;
  const s3 = await createS3(config);
  const cameras = createCameraStore(redis);
  const changes = createChangeStore(redis, { retentionMs });
  return {
    results: createResultStore(redis, { retentionMs }),
    blobs: await createBlobStore(config, s3),
    frameUses: createFrameUses(redis, { cameras, changes }),
    deliveries: createDeliveryStore(redis, { retentionMs }),
    endpoints: createEndpointStore(redis),
    workers: createWorkerRegistry(redis),
    cameras,
    changes,
    days: createDayStore(redis),
    visits: createVisitStore(redis),
    batches: createBatchStore(redis),
    files: createBatchFiles(config.dataDir),
    s3: s3 && sourcesOnly(s3, config),
  };
}

/** Loaded by processes that have an object store: most have none. */
async function createS3(config: Config): Promise<S3Client | undefined> {
  if (config.s3Endpoint === null) return undefined;
  const { createS3Client } = await import('./blobs/s3-client.js');
  return createS3Client(config, createProxies(config));
}

async function createBlobStore(config: Config, s3: S3Client | undefined): Promise<BlobStore> {
  if (config.s3FrameBucket === null) return createFileBlobStore(join(config.dataDir, 'blobs'));
  if (s3 === undefined) {
    throw invalidRequest(
      `S3_FRAME_BUCKET=${JSON.stringify(config.s3FrameBucket)}: expected S3_ENDPOINT beside it`,
      'S3_FRAME_BUCKET',
    );
  }
  const { createS3BlobStore } = await import('./blobs/s3.js');
  return createS3BlobStore(s3, config.s3FrameBucket);
}
