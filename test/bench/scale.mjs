/**
 * `npm run bench -- scale [--sleep=600] [--rounds=5] [--frames=2000] [--write]`: the queue without the model. Inference
 * is replaced by a sleep of --sleep ms, so that up to 64 workers (queue workers of this process) and 1,000 cameras fit
 * one machine: time beside the sleep per job, and Redis commands, bytes and processor time per comparison and per
 * frame, from which follows where one Redis ends.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { readOptions, wholeNumber } from '../../scripts/lib/options.mjs';
import { ROOT, runMain } from '../../scripts/lib/shell.mjs';
import { makeFrames } from '../chaos/load.mjs';
import { ms, report } from './lib/report.mjs';
import { cpuMs, dist, formOf, startService } from './lib/service.mjs';

const WORKERS = [1, 4, 16, 64];
const CAMERAS = [10, 100, 1000];
/** Workers that process frames; quiet frames do not reach the inference that sleeps. */
const FRAME_WORKERS = 4;
const SENDERS = 8;
const BUNDLE = { MODELS_DIR: join(ROOT, 'test/fixtures'), DEFAULT_MODEL: 'bundle-tiny', INFERENCE_THREADS: '1' };

await runMain(async () => {
  const { values } = readOptions({
    sleep: { type: 'string', default: '600' },
    rounds: { type: 'string', default: '5' },
    frames: { type: 'string', default: '2000' },
    write: { type: 'boolean' },
  });
  const [sleepMs, rounds, frames] = ['sleep', 'rounds', 'frames'].map((name) => wholeNumber(name, values[name]));
  const env = { ...BUNDLE, LOG_LEVEL: 'error', WORKER_CONCURRENCY: '1', MAX_WAITING: '1000000' };
  const service = await startService({ worker: false, env });
  const workers = await workersOf(service, env, sleepMs);
  try {
    const pictures = await makeFrames();
    const rows = [];
    for (const count of WORKERS) rows.push(await comparisons(service, workers, { count, rounds, sleepMs, pictures }));
    for (const count of CAMERAS) rows.push(await cameras(service, workers, { count, frames, pictures }));
    report(
      'scale',
      'Scale: queues without the model',
      [
        [
          'what',
          'jobs',
          'jobs/s',
          'beside the sleep, ms per job',
          'commands',
          'kB to Redis',
          'kB from Redis',
          'Redis CPU-ms',
        ],
        ...rows,
      ],
      [
        `Inference sleeps ${sleepMs} ms. Workers are queue workers of one process. ` +
          'Commands, bytes and processor time are per job, of accepting and working together. Redis syncs each write.',
        'Beside the sleep: time of the backlog, per job of one worker, minus the sleep. Every tenth frame is busy, the others are quiet.',
      ],
    );
  } finally {
    await workers.close();
    await service.stop();
  }
});

/** @returns start(count): queue workers with connections of their own, as processes have them */
async function workersOf({ redisUrl, dataDir }, env, sleepMs) {
  const { loadConfig } = await dist('process/config.js');
  const { createLogger } = await dist('process/logger.js');
  const { createOutboundClient } = await dist('outbound/client.js');
  const { Pipeline } = await dist('pipeline/compare.js');
  const { createStores } = await dist('stores/create.js');
  const { connectRedis } = await dist('stores/redis/redis.js');
  const { startHeartbeat } = await dist('stores/redis/workers.js');
  const { createWorkerMetrics } = await dist('workers/metrics.js');
  const { serveQueues } = await dist('workers/serve-queues.js');
  const config = loadConfig({ ...env, DATA_DIR: dataDir, REDIS_URL: redisUrl });
  const logger = createLogger({ level: 'error', name: 'bench' });
  const real = await Pipeline.start({ config, logger, onCacheLookup: () => {} });
  const found = new Map();
  const compare = async (input) => {
    const key = input.before === undefined ? '' : String(input.before.data?.[0]);
    if (!found.has(key)) found.set(key, await real.compare(input));
    await sleep(sleepMs);
    return found.get(key);
  };
  const pipeline = new Proxy(real, {
    get: (of, name) => (name === 'compare' ? compare : typeof of[name] === 'function' ? of[name].bind(of) : of[name]),
  });
  const running = [];
  const closeAll = () => Promise.all(running.splice(0).map((close) => close()));
  return {
    async start(count) {
      for (let i = 0; i < count; i++) {
        const redis = connectRedis(redisUrl, { role: 'consumer', logger });
        const stores = await createStores(config, redis);
        const outbound = createOutboundClient(config, { rtsp: config });
        const heartbeat = startHeartbeat({ workers: stores.workers, logger });
        const common = { config, logger, redis, stores, outbound, pipeline };
        const rest = { secret: 'whsec_AAAA', metrics: createWorkerMetrics(async () => []), worker: heartbeat.id };
        const queues = await serveQueues({ ...common, ...rest });
        running.push(async () => {
          await queues.close();
          await heartbeat.close();
          await outbound.close();
          redis.disconnect();
        });
      }
    },
    stop: closeAll,
    async close() {
      await closeAll();
      await real.close();
    },
  };
}

/** @returns figures of Redis so far */
async function redisFigures({ redisUrl, pid }) {
  const { Redis } = await import('ioredis');
  const redis = new Redis(redisUrl.replace('unix://', ''));
  const info = await redis.info('stats');
  redis.disconnect();
  const of = (name) => Number(new RegExp(`${name}:(\\d+)`).exec(info)[1]);
  const bytes = [of('total_net_input_bytes'), of('total_net_output_bytes')];
  return [of('total_commands_processed'), ...bytes, cpuMs(pid('redis'))];
}

/** Runs `work`. @returns the cells of a row */
async function measured(service, name, jobs, work) {
  const before = await redisFigures(service);
  const { seconds, beside } = await work();
  const [commands, to, from, cpu] = (await redisFigures(service)).map((value, i) => (value - before[i]) / jobs);
  const cells = [
    (jobs / seconds).toFixed(1),
    beside,
    commands.toFixed(1),
    (to / 1000).toFixed(1),
    (from / 1000).toFixed(1),
  ];
  const row = [name, String(jobs), ...cells, ms(cpu)];
  console.error(row.join(', '));
  return row;
}

async function send(service, path, { headers, body }) {
  const more = { ...headers, prefer: 'respond-async' };
  const answer = await fetch(`${service.url}${path}`, { method: 'POST', headers: more, body });
  if (answer.status !== 202) throw new Error(`POST ${path} answers ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** Waits until no job waits or runs. */
async function drained(service) {
  for (;;) {
    const scale = await (await fetch(`${service.url}/internal/scale`)).json();
    if (Object.values(scale).every(({ backlog }) => !backlog)) return;
    await sleep(50);
  }
}

/** A backlog of `rounds` jobs per worker, which they then work off. */
function comparisons(service, workers, { count, rounds, sleepMs, pictures: { empty, thing } }) {
  const jobs = count * rounds;
  return measured(service, `comparisons, ${count} workers`, jobs, async () => {
    const form = formOf({ before: empty, after: thing });
    const limit = pLimit(SENDERS);
    await Promise.all(Array.from({ length: jobs }, () => limit(() => send(service, '/v1/comparisons', form))));
    const start = performance.now();
    await workers.start(count);
    await drained(service);
    const seconds = (performance.now() - start) / 1000;
    await workers.stop();
    return { seconds, beside: ms((seconds * 1000) / rounds - sleepMs) };
  });
}

/** Frames of so many cameras in turn. */
async function cameras(service, workers, { count, frames, pictures: { empty, thing } }) {
  const each = Math.max(2, Math.floor(frames / count));
  const limit = pLimit(SENDERS);
  const all = (work) => Promise.all(Array.from({ length: count }, (_, i) => limit(() => work(`cam-${count}-${i}`))));
  const headers = { 'content-type': 'application/json' };
  await all((id) => fetch(`${service.url}/v1/cameras/${id}`, { method: 'PUT', headers, body: '{}' }));
  await workers.start(FRAME_WORKERS);
  const row = await measured(service, `frames of ${count} cameras`, each * count, async () => {
    const start = performance.now();
    const from = Date.now() - 86_400_000;
    for (let i = 0; i < each; i++) {
      const frame = i % 10 === 9 ? thing : empty;
      const form = formOf({ frame }, { captured_at: new Date(from + i * 1000).toISOString() });
      await all((id) => send(service, `/v1/cameras/${id}/frames`, form));
    }
    await drained(service);
    return { seconds: (performance.now() - start) / 1000, beside: '' };
  });
  await workers.stop();
  return row;
}
