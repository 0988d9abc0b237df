/** The dependencies and settings of the API. Tests hand over other implementations. */
import type { KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, RawServerDefault } from 'fastify';
import type { JobProducer } from '../jobs/producer.js';
import type { Questioner } from '../jobs/questioner.js';
import type { Config } from '../process/config.js';
import type { Logger } from '../process/logger.js';
import type { DiskShortage } from '../stores/blobs/disk.js';
import type { Stores } from '../stores/create.js';
import type { EventReader } from '../stores/delivery/events.js';
import type { ApiKeyStore } from '../stores/redis/api-keys.js';
import type { IdempotencyRecords } from './intake/idempotency.js';
import type { RateCounter } from './rate-counter.js';
import type { LiveSearch } from './search/live-index.js';
import type { QueryVectors } from './search/query-vectors.js';

export interface ApiDependencies extends Omit<Stores, 's3'> {
  readonly search: LiveSearch;
  readonly queryVectors: QueryVectors;
  readonly questions: Questioner;
  readonly apiKeys: ApiKeyStore;
  readonly events: EventReader;
  readonly queue: JobProducer;
  readonly idempotency: IdempotencyRecords;
  readonly rates: RateCounter;
  /** key that encrypts the logins of cameras (login.ts) and the secrets of endpoints */
  readonly loginKey: Buffer;
  /** key that signs the links to frames and heatmaps (links.ts) */
  readonly linkKey: Buffer;
  /** @returns the private key that signs evidence packages, made at the first use */
  readonly evidenceKey: () => Promise<KeyObject>;
  /** folder of the built console; null: it is not served */
  readonly consoleFolder: string | null;
  /** folder of the templates of documents */
  readonly documentsFolder: URL;
  /** @returns epoch ms */
  readonly clock: () => number;
  /** @returns the shortage on the disk of the data folder; null: it has room */
  readonly diskShortage: () => Promise<DiskShortage | null>;
}

export type ApiOptions = Config;

/** A Fastify instance whose handlers get their types from the TypeBox schemas of the route. */
export type Api = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, Logger, TypeBoxTypeProvider>;
