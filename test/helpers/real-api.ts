/** The API on the stores of a bench, at an address of this machine, for programs that use it over HTTP. */
import type { AddressInfo } from 'node:net';
import { buildApp } from '../../src/api/app.js';
import { createIdempotencyRecords } from '../../src/api/intake/idempotency.js';
import { createRateCounter } from '../../src/api/rate-counter.js';
import { createLiveSearch } from '../../src/api/search/live-index.js';
import { createJobProducer } from '../../src/jobs/producer.js';
import type { Questioner } from '../../src/jobs/questioner.js';
import { loadConfig } from '../../src/process/config.js';
import { createChangeLog } from '../../src/stores/changes/change-log.js';
import { createStores } from '../../src/stores/create.js';
import { createEventReader } from '../../src/stores/delivery/events.js';
import { createApiKeyStore } from '../../src/stores/redis/api-keys.js';
import { DOCUMENTS } from './documents.js';
import { type Bench, logger } from './workers.js';

/**
 * @param env settings besides AUTH=off and the folder of the bench
 * @param options.ask answers in place of a worker; absent: nothing is asked
 * @param options.clock epoch ms
 */
export async function startApi(
  { redis, folder, blobs }: Bench,
  env: Record<string, string> = {},
  { ask, clock = Date.now }: { readonly ask?: Questioner['ask']; readonly clock?: () => number } = {},
) {
  const config = loadConfig({ AUTH: 'off', DATA_DIR: folder, RATE_LIMIT: '0', ...env });
  const stores = { ...(await createStores(config, redis)), apiKeys: createApiKeyStore(redis) };
  const events = createEventReader(redis);
  const queue = createJobProducer(redis);
  const never = () => Promise.reject(new Error('not asked'));
  const app = await buildApp(
    {
      ...stores,
      blobs,
      search: createLiveSearch({ ...stores, changeLog: createChangeLog(redis) }, { most: 10, clock, logger }),
      queryVectors: async () => ({ missing: 'no_worker' }),
      questions: { ask: ask ?? never, close: async () => {} },
      events,
      queue,
      idempotency: createIdempotencyRecords(redis),
      rates: createRateCounter(redis),
      linkKey: Buffer.alloc(32),
      loginKey: Buffer.alloc(32),
      evidenceKey: never,
      consoleFolder: null,
      documentsFolder: DOCUMENTS,
      clock,
      diskShortage: async () => null,
    },
    config,
    logger,
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    stores,
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await Promise.all([events.close(), queue.close()]);
    },
  };
}
