/**
 * `npm run bench -- search [--changes=100000] [--inserts=20000] [--write]`: the search over made changes by HTTP, the
 * memory of its index, and the rate at which changes are written with and without it.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Agent, request } from 'undici';
import { readOptions } from '../../scripts/lib/options.mjs';
import {
  answerQuestions,
  DIMENSIONS,
  LEAST,
  MADE,
  madeChange,
  madeVector,
  QUERIES,
  writesOf,
} from './lib/made-changes.mjs';
import { mb, ms, percentile, report } from './lib/report.mjs';
import { cpuMs, dist, numberOption, residentBytes, startService } from './lib/service.mjs';

readOptions({ changes: { type: 'string' }, inserts: { type: 'string' }, write: { type: 'boolean' } });
const count = numberOption('changes', 100_000);
const inserts = numberOption('inserts', 20_000);
const { KEYS } = await dist('stores/redis/keys.js');
const { connectRedis } = await dist('stores/redis/redis.js');
const { createLogger } = await dist('process/logger.js');
const { SearchIndex } = await dist('search/search-index.js');

const logger = createLogger({ level: 'silent', name: 'bench' });
const ROUNDS = 5;
const QUERY_ROUNDS = 20;
const AT_ONCE = 64;
const PACE = 1_000;

let made = 0;

/** Saves one change as the commit of a camera's turn does. @param logged whether it has a vector and a log entry */
async function save(redis, change, logged) {
  const writes = writesOf(change, logged ? madeVector() : undefined);
  const multi = redis.multi();
  for (const [name, ...args] of writes) {
    if (logged || args[0] !== KEYS.changeLog) multi.call(name, ...args.map(String));
  }
  await multi.exec();
}

/** @param perSecond 0: as fast as possible. @returns the rate reached and the times of the saves in ms */
async function insert(redis, number, logged, perSecond = 0) {
  const changes = Array.from({ length: number }, () => madeChange(made++));
  const took = [];
  const begun = performance.now();
  let sent = 0;
  const run = async () => {
    while (sent < number) {
      const i = sent++;
      const wait = perSecond === 0 ? 0 : begun + (i * 1000) / perSecond - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const start = performance.now();
      await save(redis, changes[i], logged);
      took.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  return { rate: (1000 * number) / (performance.now() - begun), took };
}

/** Heap of an index of these changes, and the CPU time of its searches, in this process. */
function indexAlone() {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  made = 0;
  collect();
  const used = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const before = used();
  const index = new SearchIndex();
  const begun = performance.now();
  for (let i = 0; i < count; i++) index.put(madeChange(made++), madeVector());
  const builtIn = performance.now() - begun;
  collect();
  const bytes = used() - before;
  const took = [];
  for (let round = 0; round < QUERY_ROUNDS; round++) {
    for (const query of QUERIES) {
      const start = performance.now();
      index.search(query, {}, { ...madeVector(), least: LEAST });
      took.push(performance.now() - start);
    }
  }
  return { bytes, builtIn, took };
}

/** searches by HTTP that also compared vectors */
let withVectors = 0;
async function queries(url, filter = '') {
  const dispatcher = new Agent({ connections: 1 });
  const took = [];
  for (let round = 0; round < QUERY_ROUNDS; round++) {
    for (const query of QUERIES) {
      const start = performance.now();
      const { statusCode, body } = await request(`${url}/v1/changes?q=${encodeURIComponent(query)}${filter}`, {
        dispatcher,
      });
      const { search } = await body.json();
      if (statusCode !== 200 || !search.complete) throw new Error(`expected a complete answer, got ${statusCode}`);
      if (search.words_alone === null) withVectors++;
      took.push(performance.now() - start);
    }
  }
  await dispatcher.close();
  return took;
}

const alone = indexAlone();
console.error(`index alone: ${mb(alone.bytes)}, ${ms(percentile(alone.took, 0.5))} ms`);
const service = await startService({ worker: false, env: { SEARCH_CHANGES: '10000000' } });
const redis = connectRedis(service.redisUrl, { role: 'consumer', logger });
const answering = answerQuestions(redis, logger);
try {
  const search = async () => {
    const { body } = await request(`${service.url}/v1/changes?q=car&limit=1`);
    return (await body.json()).search;
  };
  await search();
  const residentEmpty = residentBytes(service.pid('api'));
  const begun = performance.now();
  // The first changes are no measured inserts, so they need not be on the disk.
  await redis.config('SET', 'appendfsync', 'no');
  await insert(redis, count, true);
  await redis.config('SET', 'appendfsync', 'always');
  while ((await search()).changes < count) await new Promise((resolve) => setTimeout(resolve, 100));
  const residentFull = residentBytes(service.pid('api'));
  const redisFull = residentBytes(service.pid('redis'));
  const loaded = performance.now() - begun;
  const cpuBefore = cpuMs(service.pid('api'));
  const took = await queries(service.url);
  const cpu = (cpuMs(service.pid('api')) - cpuBefore) / took.length;
  const filtered = await queries(service.url, '&camera=camera-7');
  console.error(`queries: p50 ${ms(percentile(took, 0.5))} ms`);

  const rates = { with: [], without: [] };
  const paced = { with: [], without: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ['without', 'with']) {
      rates[name].push((await insert(redis, inserts / ROUNDS, name === 'with')).rate);
      paced[name].push(...(await insert(redis, PACE, name === 'with', PACE)).took);
      // The index follows before the next round, which would otherwise be slowed by it.
      await search();
    }
  }
  const middle = (values) => percentile(values, 0.5).toFixed(0);
  const times = (values) => [0.5, 0.95, 0.99].map((share) => ms(percentile(values, share))).join(' / ');
  report(
    'search',
    `Search over ${count.toLocaleString('en')} changes`,
    [
      ['what', 'measured'],
      ['search by HTTP, all cameras: p50 / p95 / p99', `${times(took)} ms`],
      ['search by HTTP, one camera of 100: p50 / p95 / p99', `${times(filtered)} ms`],
      ['CPU of the API per search', `${ms(cpu)} ms`],
      ['the index alone: p50 / p95 / p99', `${times(alone.took)} ms`],
      ['memory of the index', `${mb(alone.bytes)}, ${Math.round(alone.bytes / count)} bytes per change`],
      ['resident memory of the API, without and with the changes', `${mb(residentEmpty)}, ${mb(residentFull)}`],
      ['resident memory of Redis with the changes', mb(redisFull)],
      ['writing the changes and following them', `${(loaded / 1000).toFixed(0)} s`],
      ['building the index in memory', `${ms(alone.builtIn)} ms`],
      ['inserts per second, as fast as possible, without search', middle(rates.without)],
      ['inserts per second, as fast as possible, with search', middle(rates.with)],
      [`one insert at ${PACE} per second without search: p50 / p95 / p99`, `${times(paced.without)} ms`],
      [`one insert at ${PACE} per second with search: p50 / p95 / p99`, `${times(paced.with)} ms`],
    ],
    [
      `${MADE}; ${QUERIES.length} queries, ${QUERY_ROUNDS} times each, one after the other, 20 hits per page.`,
      `Search vectors of ${DIMENSIONS} numbers around one direction per noun, those of queries too; ${withVectors} of ` +
        `${took.length + filtered.length} searches by HTTP compared them. Queries repeat, so most vectors of queries ` +
        'come from the cache of the API; the model does not run.',
      'Inserts: the Redis commands of the commit of a camera turn with one new change, with its vector, the entry of ' +
        `the log and an API that follows it, and without these; ${AT_ONCE} at a time, median of ${ROUNDS} rounds in turn. ` +
        'Redis syncs each write to the disk. Client, API and Redis share the cores.',
    ],
  );
} finally {
  await answering.close();
  redis.disconnect();
  await service.stop();
}
