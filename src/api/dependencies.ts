/** The dependencies and settings of the API. Tests hand over other implementations. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, RawServerDefault } from 'fastify';
import type { Config } from '../config.js';
import type { JobProducer } from '../jobs/producer.js';
import type { Logger } from '../logger.js';
import type { ApiKeyStore } from '../stores/api-keys.js';
import type { BlobStore } from '../stores/blobs.js';
import type { CameraStore } from '../stores/cameras.js';
import type { ChangeStore } from '../stores/changes.js';
import type { DeliveryStore } from '../stores/deliveries.js';
import type { EventReader } from '../stores/events.js';
import type { ResultStore } from '../stores/results.js';
import type { WorkerRegistry } from '../stores/workers.js';
import type { IdempotencyRecords } from './idempotency.js';
import type { RateCounter } from './rate-counter.js';

export interface ApiDependencies {
  readonly results: Pick<ResultStore, 'create' | 'get' | 'update' | 'list' | 'openOf' | 'erase'>;
  readonly blobs: BlobStore;
  readonly deliveries: Pick<DeliveryStore, 'ofComparison' | 'ofChange'>;
  readonly cameras: Pick<
    CameraStore,
    'put' | 'get' | 'list' | 'maskOf' | 'state' | 'snapshot' | 'addFrame' | 'waitingFrames' | 'orderBaseline' | 'erase'
  >;
  readonly changes: Pick<ChangeStore, 'get' | 'list' | 'acknowledge' | 'giveFeedback' | 'withFeedback' | 'eraseOf'>;
  readonly apiKeys: ApiKeyStore;
  readonly workers: Pick<WorkerRegistry, 'list'>;
  readonly events: EventReader;
  readonly queue: Pick<
    JobProducer,
    'addComparison' | 'addTurn' | 'scheduleSnapshots' | 'cancel' | 'counts' | 'waiting' | 'ping'
  >;
  readonly idempotency: IdempotencyRecords;
  readonly rates: RateCounter;
  /** key that encrypts the logins of cameras (login.ts) */
  readonly loginKey: Buffer;
  /** key that signs the links to frames and heatmaps (links.ts) */
  readonly linkKey: Buffer;
  /** @returns epoch ms */
  readonly clock: () => number;
}

/** The settings that the API uses. */
export type ApiOptions = Pick<
  Config,
  | 'auth'
  | 'metricsAuth'
  | 'corsOrigins'
  | 'host'
  | 'port'
  | 'publicUrl'
  | 'bodyLimit'
  | 'jsonLimit'
  | 'frameLimit'
  | 'pixelLimit'
  | 'decodeTimeout'
  | 'rateLimit'
  | 'maxWaiting'
  | 'cameraReserve'
  | 'ownerShare'
  | 'waitLimit'
  | 'deadline'
  | 'cameraDeadline'
  | 'outboundAllow'
  | 's3Endpoint'
  | 's3FrameBucket'
  | 's3SourceBuckets'
>;

/** A Fastify instance whose handlers get their types from the TypeBox schemas of the route. */
export type Api = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, Logger, TypeBoxTypeProvider>;
