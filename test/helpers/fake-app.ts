/** The production app on in-memory stores and an in-memory queue. */
import { generateKeyPairSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InjectOptions } from 'fastify';
import { buildApp } from '../../src/api/app.js';
import type { Api, ApiDependencies, ApiOptions } from '../../src/api/dependencies.js';
import type { IdempotencyRecords } from '../../src/api/intake/idempotency.js';
import type { BodyLimits } from '../../src/api/plugins/body-time.js';
import { ScenedeltaError } from '../../src/base/errors.js';
import { loadConfig } from '../../src/process/config.js';
import { createLogger } from '../../src/process/logger.js';
import type { ModelDescription } from '../../src/schemas/model-description.js';
import { linkKey } from '../../src/secrets/links.js';
import { createBatchFiles } from '../../src/stores/batches/batch-files.js';
import type { DiskShortage } from '../../src/stores/blobs/disk.js';
import type { WorkerDescription } from '../../src/stores/redis/workers.js';
import { type Contract, contractOf, type OpenApi } from './contract.js';
import { DOCUMENTS } from './documents.js';
import { FakeApiKeys } from './fake-api-keys.js';
import { FakeBatches } from './fake-batches.js';
import { FakeDays } from './fake-days.js';
import { FakeDeliveries, FakeEndpoints } from './fake-endpoints.js';
import { FakeFrameUses } from './fake-frame-uses.js';
import { FakeQuestions } from './fake-questions.js';
import { fakeSearch } from './fake-search.js';
import { FakeBlobs, FakeCameras, FakeChanges, FakeEvents, FakeResults } from './fake-stores.js';
import { type Parts, partial } from './partial.js';
import { FakeVisits } from './visits.js';

/** Folder of uploads. It exists only after one. */
export const UPLOADS = join(tmpdir(), `sd-api-${process.pid}`);

class FakeQueue {
  readonly queues = [];
  readonly jobs: { comparisonId: string; traceId: string; queue: string; priority: number }[] = [];
  readonly cancelled: string[] = [];
  /** as if Redis were away */
  away = false;

  #reach() {
    if (this.away) throw new ScenedeltaError('queue-unavailable', 'Queueing: Redis cannot be reached');
  }
  async addComparison(
    ids: { comparisonId: string; traceId: string },
    { queue = 'live', priority = 5 }: { queue?: string; priority?: number } = {},
  ) {
    this.#reach();
    this.jobs.push({ ...ids, queue, priority });
  }
  readonly turns: string[] = [];
  readonly snapshots = new Map<string, number>();
  async addTurn(camera: string) {
    this.#reach();
    this.turns.push(camera);
  }
  /** ids of deliveries */
  readonly deliveries: string[] = [];
  async addDelivery({ deliveryId }: { deliveryId: string }) {
    this.#reach();
    this.deliveries.push(deliveryId);
  }
  async forget() {}
  readonly batches: string[] = [];
  async addBatch({ id }: { id: string }) {
    this.#reach();
    this.batches.push(id);
  }
  async cancelBatch(id: string) {
    this.#reach();
    this.cancelled.push(id);
  }
  /** ids of batches of which a worker still holds a job */
  readonly held = new Set<string>();
  async forgetBatch(id: string) {
    this.#reach();
    return !this.held.has(id);
  }
  async scheduleSnapshots(camera: string, intervalSeconds: number | null) {
    this.#reach();
    if (intervalSeconds === null) this.snapshots.delete(camera);
    else this.snapshots.set(camera, intervalSeconds);
  }
  async cancel(id: string) {
    this.#reach();
    this.cancelled.push(id);
  }
  async counts() {
    this.#reach();
    const none = { waiting: 0, prioritized: 0, delayed: 0, active: 0 };
    return { live: { ...none, prioritized: this.jobs.length }, archive: none, fetch: none, delivery: none };
  }
  /** epoch ms */
  oldestLive: number | undefined;
  async oldest() {
    this.#reach();
    return this.oldestLive === undefined ? {} : { live: this.oldestLive };
  }
  async waiting() {
    this.#reach();
    return this.jobs.length + this.turns.length;
  }
  async ping() {
    return !this.away;
  }
  /** Redis answers and refuses writes */
  full = false;
  evicting = false;
  async mayEvict() {
    return this.evicting;
  }
  async takesWrites() {
    return !this.away && !this.full;
  }
  async close() {}
}

/** Reservations in memory, by the same rules as the records in Redis. */
function fakeIdempotency(): IdempotencyRecords {
  const kept = new Map<string, { fingerprint: string; id: string; accepted: boolean }>();
  const name = (r: { apiKeyId: string; key: string }) => `${r.apiKeyId} ${r.key}`;
  const isReservedBy = (r: { apiKeyId: string; key: string; id: string }) => {
    const found = kept.get(name(r));
    return found?.id === r.id && !found.accepted;
  };
  return {
    async reserve(request) {
      const found = kept.get(name(request));
      if (found === undefined) {
        kept.set(name(request), { ...request, accepted: false });
        return undefined;
      }
      if (found.fingerprint !== request.fingerprint) {
        throw new ScenedeltaError('idempotency-mismatch', 'used with another body');
      }
      if (!found.accepted) throw new ScenedeltaError('idempotency-in-flight', 'in progress');
      return found;
    },
    async confirm(request) {
      if (isReservedBy(request)) kept.set(name(request), { ...request, accepted: true });
    },
    async release(request) {
      if (isReservedBy(request)) kept.delete(name(request));
    },
  };
}

export const MODEL: ModelDescription = {
  name: 'scorer-surveillance',
  version: '0.1.0',
  sha256: 'ab'.repeat(32),
  architecture: 'scorer-two-glance',
  licence: 'MIT',
  provider: 'cpu',
  default: true,
  metrics: { bleu4: 0.4 },
};
/** of this run alone */
const EVIDENCE_KEY = generateKeyPairSync('ed25519').privateKey;
export const workerWith = (...models: ModelDescription[]): WorkerDescription => ({
  id: 'worker-1',
  host: 'localhost',
  pid: 1,
  started_at: '2026-01-01T00:00:00.000Z',
  models,
});

/**
 * @param logger silent unless a test reads the log
 * @returns the production app on fakes. AUTH is off unless a test turns it on.
 */
export async function fakeApp(
  overrides: Partial<ApiOptions> = {},
  replaced: Parts<ApiDependencies> = {},
  logger = createLogger({ level: 'silent', name: 'test' }),
  bodyLimits?: BodyLimits,
) {
  const events = new FakeEvents();
  const cameras = new FakeCameras();
  const changes = new FakeChanges();
  const results = new FakeResults(events, cameras);
  const fakes = {
    events,
    results,
    frameUses: new FakeFrameUses(results, cameras),
    blobs: new FakeBlobs(),
    cameras,
    deliveries: new FakeDeliveries(),
    endpoints: new FakeEndpoints(),
    changes,
    search: fakeSearch(changes, cameras),
    queryVectors: async (text: string) => changes.queryVectors.get(text) ?? ({ missing: 'no_worker' } as const),
    questions: new FakeQuestions(),
    days: new FakeDays(),
    visits: new FakeVisits(),
    batches: new FakeBatches(),
    files: createBatchFiles(UPLOADS),
    apiKeys: new FakeApiKeys(),
    queue: new FakeQueue(),
    idempotency: fakeIdempotency(),
    workers: { live: [] as WorkerDescription[], list: async () => fakes.workers.live },
    rates: fakeRates(),
    linkKey: linkKey('whsec_test'),
    loginKey: Buffer.alloc(32, 1),
    evidenceKey: async () => EVIDENCE_KEY,
    consoleFolder: null,
    documentsFolder: DOCUMENTS,
    clock: Date.now,
    disk: { shortage: null as DiskShortage | null },
    diskShortage: async () => fakes.disk.shortage,
  };
  const options: ApiOptions = { ...loadConfig({ AUTH: 'off' }), ...overrides };
  const app = await buildApp(partial<ApiDependencies>({ ...fakes, ...replaced }), options, logger, {
    ...(bodyLimits === undefined ? {} : { bodyLimits }),
  });
  await app.ready();
  /** Back to an empty service: building an app costs a few hundred milliseconds, so a file's tests share one. */
  const reset = () => {
    fakes.events.kept.length = 0;
    fakes.results.kept.clear();
    fakes.blobs.kept.clear();
    fakes.frameUses.queued.length = 0;
    for (const map of [fakes.cameras.kept, fakes.cameras.states, fakes.cameras.snapshots, fakes.cameras.waiting])
      map.clear();
    fakes.cameras.failures.clear();
    fakes.cameras.orders.length = 0;
    fakes.queue.turns.length = 0;
    Object.assign(fakes.queue, { full: false, evicting: false });
    fakes.disk.shortage = null;
    fakes.queue.snapshots.clear();
    fakes.deliveries.kept.length = 0;
    fakes.endpoints.kept.clear();
    fakes.queue.deliveries.length = 0;
    fakes.changes.kept.length = 0;
    fakes.changes.keptVectors.clear();
    fakes.changes.queryVectors.clear();
    fakes.questions.asked.length = 0;
    fakes.questions.answer = undefined;
    fakes.visits.kept.length = 0;
    fakes.days.changes.length = 0;
    fakes.days.spans.length = 0;
    fakes.days.asked.length = 0;
    fakes.days.truncated = false;
    fakes.changes.queries.length = 0;
    fakes.changes.nextCursor = null;
    fakes.queue.jobs.length = 0;
    fakes.queue.cancelled.length = 0;
    fakes.queue.away = false;
    fakes.workers.live = [];
  };
  /** @returns the request of the first queued comparison */
  const queuedRequest = () => fakes.results.kept.get(fakes.queue.jobs[0]?.comparisonId ?? '')?.request;
  return { app, inject: checkedInject(app), reset, queuedRequest, ...fakes };
}

let contract: Contract | undefined;

/** @returns app.inject, which checks every answer against the OpenAPI description */
export function checkedInject(app: Api) {
  contract ??= contractOf(app.swagger() as unknown as OpenApi);
  const { check } = contract;
  return async (request: InjectOptions & { url: string }) => {
    const answer = await app.inject(request);
    const { statusCode, headers, body } = answer;
    check({ method: request.method ?? 'GET', url: request.url, statusCode, headers, body });
    return answer;
  };
}

function fakeRates() {
  const counts = new Map<string, number>();
  return {
    async count(apiKeyId: string, window: number) {
      const key = `${apiKeyId}:${window}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return counts.get(key) as number;
    },
  };
}
