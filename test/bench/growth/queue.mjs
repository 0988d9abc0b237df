/** How the cost of accepting and of taking a job grows with the number of jobs that wait. */
import { Worker } from 'bullmq';
import pLimit from 'p-limit';
import { Agent, request } from 'undici';
import { makeFrames } from '../../chaos/load.mjs';
import { ms, percentile } from '../lib/report.mjs';
import { cpuMs, dist, formOf, startService } from '../lib/service.mjs';

const DEPTHS = [0, 100, 1_000, 10_000, 100_000];
/** Jobs that are accepted, then taken, at each depth. */
const MEASURED = 1_000;
/** Acceptances before the figures, in which Node compiles their code. */
const WARM_UP = 3_000;
const AT_ONCE = 8;
const FILLING = 64;

const ACCEPTING = 'accepting a pair';
const TAKING = 'taking a job';
const LATENCY = 'acceptance, p95 ms';
const MEMORY = 'Redis, MB';

/** @returns fill(depth), which makes so many jobs wait, with their comparisons, as the acceptance does */
async function filler(service, redis, example) {
  const { loadConfig } = await dist('process/config.js');
  const { createStores } = await dist('stores/create.js');
  const { createJobProducer } = await dist('jobs/producer.js');
  const { newId } = await dist('base/ids.js');
  const { results } = await createStores(loadConfig({ DATA_DIR: service.dataDir, REDIS_URL: service.redisUrl }), redis);
  const jobs = createJobProducer(redis);
  const stored = await results.get(example);
  const limit = pLimit(FILLING);
  const waiting = async () => (await jobs.counts()).live.prioritized;
  const add = async () => {
    const id = newId('cmp');
    const { traceId } = stored.request;
    await Promise.all([
      results.create({ ...stored, comparison: { ...stored.comparison, id } }),
      jobs.addComparison({ comparisonId: id, traceId }),
    ]);
  };
  return {
    async fill(depth) {
      // Filling is not measured, so it need not be on the disk.
      await redis.config('SET', 'appendfsync', 'no');
      // A rewrite of its file, which filling causes, would end among the figures.
      await redis.config('SET', 'auto-aof-rewrite-percentage', '0');
      const missing = depth - (await waiting());
      await Promise.all(Array.from({ length: Math.max(0, missing) }, () => limit(add)));
      await redis.config('SET', 'appendfsync', 'always');
    },
    waiting,
    close: () => jobs.close(),
  };
}

export const queue = {
  name: 'queue',
  title: 'Jobs that wait',
  x: { label: 'jobs that wait', type: 'symlog', ticks: DEPTHS },
  y: { label: 'CPU-ms per job', type: 'linear' },
  series: [ACCEPTING, TAKING],
  text: (value) => value.toFixed(2),
  columns: { [LATENCY]: ms, [MEMORY]: ms },
  notes: [
    `Accepting: CPU-ms of API and Redis per POST of two small frames, ${MEASURED} of them, ${AT_ONCE} at a time. Taking: ` +
      'CPU-ms of Redis per job that a worker takes and ends, without the comparison. Redis syncs each write.',
  ],
  async measure() {
    const { createLogger } = await dist('process/logger.js');
    const { connectRedis } = await dist('stores/redis/redis.js');
    const { QUEUES, QUEUE_PREFIX } = await dist('jobs/queues.js');
    const service = await startService({ worker: false, build: false, env: { MAX_WAITING: '1000000' } });
    const redis = connectRedis(service.redisUrl, {
      role: 'consumer',
      logger: createLogger({ level: 'silent', name: 'bench' }),
    });
    const dispatcher = new Agent({ connections: AT_ONCE });
    const { empty, thing } = await makeFrames();
    const { body, headers } = formOf({ before: empty, after: thing });

    const post = async () => {
      const begun = performance.now();
      const more = { ...headers, prefer: 'respond-async' };
      const answer = await request(`${service.url}/v1/comparisons`, {
        method: 'POST',
        headers: more,
        body,
        dispatcher,
      });
      if (answer.statusCode !== 202) throw new Error(`${answer.statusCode} ${await answer.body.text()}`);
      const { id } = await answer.body.json();
      return { id, took: performance.now() - begun };
    };
    const parts = { api: service.pid('api'), redis: service.pid('redis') };
    const limit = pLimit(AT_ONCE);
    const accept = async (count) => {
      const before = cpuMs(parts.api) + cpuMs(parts.redis);
      const done = await Promise.all(Array.from({ length: count }, () => limit(post)));
      const cost = (cpuMs(parts.api) + cpuMs(parts.redis) - before) / count;
      return {
        id: done[0].id,
        cost,
        p95: percentile(
          done.map(({ took }) => took),
          0.95,
        ),
      };
    };
    /** In microseconds, unlike the times of /proc: taking a job costs a fraction of a tick. @returns ms */
    const redisCpu = async () => {
      const info = await redis.info('cpu');
      return ['sys', 'user'].reduce(
        (sum, of) => sum + 1000 * Number(new RegExp(`used_cpu_${of}:(\\S+)`).exec(info)[1]),
        0,
      );
    };
    /** Takes and ends jobs, at least `count`. */
    const take = async (count) => {
      const options = {
        connection: { path: service.redisUrl.replace('unix://', '') },
        prefix: QUEUE_PREFIX,
        concurrency: AT_ONCE,
        autorun: false,
      };
      const before = await redisCpu();
      let taken = 0;
      const worker = new Worker(QUEUES.live, async () => void taken++, options);
      worker.on('completed', () => taken < count || void worker.close());
      await worker.run();
      return ((await redisCpu()) - before) / taken;
    };

    const { id } = await accept(WARM_UP);
    await take(WARM_UP);
    const jobs = await filler(service, redis, id);
    const rows = [];
    try {
      for (const depth of DEPTHS) {
        await jobs.fill(depth);
        const { cost, p95 } = await accept(MEASURED);
        const taking = await take(MEASURED);
        const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))[1]) / 2 ** 20;
        rows.push({ x: depth, [ACCEPTING]: cost, [TAKING]: taking, [LATENCY]: p95, [MEMORY]: used });
        console.error(`${depth} jobs (${await jobs.waiting()}): ${ms(cost)} + ${ms(taking)} CPU-ms`);
      }
      return rows;
    } finally {
      await jobs.close();
      await dispatcher.close();
      redis.disconnect();
      await service.stop();
    }
  },
  sentence(rows) {
    const [first, last] = [rows[0], rows.at(-1)];
    const kilobytes = ((last[MEMORY] - first[MEMORY]) * 1024) / (last.x - first.x);
    return (
      `Nothing bends: with ${last.x.toLocaleString('en')} jobs before it, accepting a pair costs ` +
      `${(last[ACCEPTING] / first[ACCEPTING]).toFixed(2)} times as much as with none, and taking a job ` +
      `${(last[TAKING] / first[TAKING]).toFixed(2)} times. Memory grows: a waiting pair takes ` +
      `${kilobytes.toFixed(1)} kB of Redis.`
    );
  },
};
