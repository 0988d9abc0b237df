/**
 * `npm run bench -- overhead [--seconds=20] [--rounds=3] [--write]`: throughput of the service as a share of a bare
 * loop of the same pipeline, which has no HTTP, queue, files or messages between threads. Both run in turns, so that a
 * change of the machine's speed affects both. CPU time per pair is measured too: other programs on the machine change
 * it less.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { Agent, request } from 'undici';
import { fresh, fullHdPairs } from './lib/pairs.mjs';
import { ms, report } from './lib/report.mjs';
import { cpuMs, dist, formOf, numberOption, startService } from './lib/service.mjs';

const seconds = numberOption('seconds', 20);
const rounds = numberOption('rounds', 3);
const service = await startService({ env: { FEATURE_CACHE_MB: '0' } });
const { loadConfig } = await dist('process/config.js');
const { loadBundles } = await dist('pipeline/bundles.js');
const { createLogger } = await dist('process/logger.js');

const config = loadConfig();
const threads = config.inferenceThreads || availableParallelism();
const pairs = await fullHdPairs();
const dispatcher = new Agent({ connections: 64, pipelining: 1 });

async function startBareThreads() {
  const bundles = await loadBundles(
    config.modelsDir,
    config.defaultModel,
    createLogger({ level: 'warn', name: 'bench' }),
  );
  const workerData = { bundle: bundles[0], pairs, config };
  const workers = Array.from(
    { length: threads },
    () => new Worker(new URL('./bare-thread.mjs', import.meta.url), { workerData }),
  );
  await Promise.all(workers.map((worker) => answerOf(worker)));
  return workers;
}
const answerOf = (worker) =>
  new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });

/** CPU-ms so far: of this process, and of each process of the service. */
const cpuSoFar = () => ({
  ofClient: cpuMs('self'),
  ...Object.fromEntries(PROCESSES.map((name) => [name, cpuMs(service.pid(name))])),
});
const PROCESSES = ['api', 'worker', 'redis'];

/** Runs a round. @returns pairs per second, and CPU-ms per pair by process */
async function measured(round) {
  const [start, before] = [performance.now(), cpuSoFar()];
  const done = await round();
  const elapsed = (performance.now() - start) / 1000;
  const after = cpuSoFar();
  const cpu = Object.fromEntries(Object.keys(after).map((name) => [name, (after[name] - before[name]) / done]));
  return { rate: done / elapsed, cpu };
}

/** @param evidence whether the loop examines the frames too, as the service does. @returns the number of pairs */
async function bareRound(workers, evidence) {
  const until = Date.now() + seconds * 1000;
  const answers = await Promise.all(
    workers.map((worker) => {
      const answer = answerOf(worker);
      worker.postMessage({ until, evidence });
      return answer;
    }),
  );
  return answers.reduce((sum, answer) => sum + answer.done, 0);
}

/** @returns the number of pairs */
async function serviceRound() {
  const until = performance.now() + seconds * 1000;
  let done = 0;
  const sender = async () => {
    while (performance.now() < until) {
      const pair = pairs[done % pairs.length];
      const { body, headers } = formOf({ before: fresh(pair.before), after: fresh(pair.after) });
      const response = await request(`${service.url}/v1/comparisons`, {
        method: 'POST',
        body,
        headers: { ...headers, prefer: 'wait=60' },
        dispatcher,
      });
      const text = await response.body.text();
      if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: threads * 3 }, sender));
  return done;
}

const workers = await startBareThreads();
try {
  await serviceRound(); // every thread compiles its code at its first runs
  const rows = [];
  for (let round = 1; round <= rounds; round++) {
    const bare = await measured(() => bareRound(workers, false));
    const examined = await measured(() => bareRound(workers, true));
    const served = await measured(serviceRound);
    const serviceCpu = PROCESSES.reduce((sum, name) => sum + served.cpu[name], 0);
    rows.push({
      bare: bare.rate,
      examined: examined.rate,
      served: served.rate,
      bareCpu: bare.cpu.ofClient,
      examinedCpu: examined.cpu.ofClient,
      ...served.cpu,
      serviceCpu,
    });
    console.error(`round ${round}/${rounds}: ${JSON.stringify(rows.at(-1))}`);
  }
  const mean = Object.fromEntries(
    Object.keys(rows[0]).map((of) => [of, rows.reduce((sum, row) => sum + row[of], 0) / rows.length]),
  );
  const share = (part, of) => `${((100 * part) / of).toFixed(0)} %`;
  const line = (name, row) => [
    name,
    ...[row.bare, row.examined, row.served].map((rate) => rate.toFixed(2)),
    share(row.served, row.examined),
    share(row.served, row.bare),
    ...[row.bareCpu, row.examinedCpu, row.serviceCpu].map(ms),
    share(row.bareCpu, row.serviceCpu),
  ];
  report(
    'overhead',
    'Overhead: the service beside a bare loop of the same decoding and graphs',
    [
      [
        'round',
        'bare loop, pairs/s',
        'with evidence, pairs/s',
        'service, pairs/s',
        'share of the loop with evidence',
        'of the bare loop',
        'bare loop, CPU-ms per pair',
        'with evidence',
        'service',
        'CPU of the bare loop in that of the service',
      ],
      ...rows.map((row, i) => line(String(i + 1), row)),
      line('mean', mean),
    ],
    [
      `CPU-ms per pair of the service: ${PROCESSES.map((name) => `${name} ${ms(mean[name])}`).join(', ')}; of its ` +
        `client, in this process: ${ms(mean.ofClient)}.`,
      `${threads} inference threads on both sides, 1080p JPEGs, rounds of ${seconds} s in turn. The service ` +
        `receives HTTP requests from ${threads * 3} senders on the same machine, every frame new, its feature ` +
        'cache off, files and Redis synced.',
      'Evidence: registration and nuisances (src/viewpoint), which every comparison measures beside the graphs.',
    ],
  );
} finally {
  for (const worker of workers) await worker.terminate();
  await dispatcher.close();
  await service.stop();
}
