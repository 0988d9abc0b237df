/**
 * `npm run test:cluster [-- --jobs=300] [--seeds=3] [--seed=N] [--short]`: seven hosts as network
 * namespaces: Redis, two APIs, three workers, and a receiver. The link of each host is cut twice while jobs come, and
 * the clock of one worker is five minutes ahead. Every accepted job, one of them a batch, must end as it does in calm,
 * and be delivered once. `--short`, a part of `npm test`: one API, two workers, each link cut once, and few jobs.
 */
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { firstKey, waitUntilReady } from '../../scripts/lib/example.mjs';
import { readOptions, wholeNumber } from '../../scripts/lib/options.mjs';
import { ROOT, runMain, Stop, say } from '../../scripts/lib/shell.mjs';
import { dist } from '../bench/lib/service.mjs';
import { createLoad, makeMedia } from '../chaos/load.mjs';
import { canMakeHosts, makeHosts } from './hosts.mjs';

const PORT = 8080;
const CLIENTS = 6;
const CHANGED_EVERY = 4;
/** Its position among the tasks. */
const BATCH_AT = 1;
/**
 * In the long form, a cut may outlast the lock of a job, so that a worker that is cut off loses its jobs to another. In
 * the short form no job and no request (outboundMs) ends by a cut: the third attempt of a delivery takes minutes.
 */
const LONG = {
  hosts: ['store', 'api-1', 'api-2', 'worker-1', 'worker-2', 'worker-3', 'receiver'],
  ...{ cutsEach: 2, cutMs: [2_000, 9_000], lockMs: 4_000, outboundMs: 3_000, framesPerCamera: 24, jobs: 300, seeds: 3 },
};
const SHORT = {
  hosts: ['store', 'api-1', 'worker-1', 'worker-2', 'receiver'],
  ...{ cutsEach: 1, cutMs: [500, 2_000], lockMs: 4_000, outboundMs: 8_000, framesPerCamera: 8, jobs: 60, seeds: 1 },
};
const DELIVERY_LIMIT_MS = 600_000;
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const AHEAD = { LD_PRELOAD: FAKETIME, FAKETIME: '+300s', FAKETIME_DONT_FAKE_MONOTONIC: '1' };

const { values } = readOptions({
  jobs: { type: 'string' },
  seeds: { type: 'string' },
  seed: { type: 'string', default: '1' },
  short: { type: 'boolean' },
});
const form = values.short ? SHORT : LONG;

await runMain(async () => {
  const [jobs, seeds, first] = ['jobs', 'seeds', 'seed'].map((name) => wholeNumber(name, values[name] ?? form[name]));
  if (!canMakeHosts()) return say('skipped', 'no network namespaces with links can be made here (root, ip)');
  for (let seed = first; seed < first + seeds; seed++) {
    const outcome = await runOnce(seed, jobs);
    say(`seed ${seed}`, JSON.stringify(outcome));
    if (outcome.faults > 0) process.exitCode = 1;
  }
});
process.exit();

async function runOnce(seed, jobs) {
  const { uniformNumbers } = await dist('base/random.js');
  const next = uniformNumbers(seed);
  const folder = mkdtempSync(join(tmpdir(), 'sd-cluster-'));
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const hosts = makeHosts(form.hosts, folder);
  try {
    const services = await startAll(hosts, dataDir);
    const receiver = await startReceiver(hosts);
    const media = { ...(await makeMedia(folder, next)), framesPerCamera: form.framesPerCamera, hook: receiver.hook };
    const loads = services.map((service) => createLoad(service, media));
    const calm = {};
    for (const kind of ['unchanged', 'changed', 'camera', 'batch']) {
      const task = loads[0].tasks[kind](`calm-${seed}-${kind}`);
      await task.send();
      calm[kind] = await task.outcome();
    }
    const tasks = Array.from({ length: Math.ceil(jobs / 3) }, (_, i) => {
      const ordinary = i % CHANGED_EVERY === 0 ? 'changed' : 'unchanged';
      const kind = i === BATCH_AT ? 'batch' : i % 20 === 0 ? 'camera' : ordinary;
      return { kind, ...loads[i % loads.length].tasks[kind](`${kind}-${seed}-${i}`) };
    });
    const queue = [...tasks];
    let allowed = 0;
    const client = async () => {
      while (queue.length > 0) {
        // So that work is left for the cuts to come.
        if (tasks.length - queue.length < allowed) await queue.shift().send();
        else await pause(20);
      }
    };
    const cuts = Array.from({ length: form.cutsEach }, () => form.hosts)
      .flat()
      .sort(() => next() - 0.5);
    const disturb = async () => {
      for (const [i, name] of cuts.entries()) {
        hosts.cut(name);
        allowed = Math.ceil((tasks.length * (i + 1)) / cuts.length);
        await pause(form.cutMs[0] + (form.cutMs[1] - form.cutMs[0]) * next());
        hosts.mend(name);
        while (tasks.length - queue.length < allowed) await pause(20);
      }
    };
    await Promise.all([disturb(), ...Array.from({ length: CLIENTS }, client)]);
    return { tasks: tasks.length, cuts: cuts.length, ...(await judge(tasks, calm, receiver)) };
  } catch (error) {
    for (const name of form.hosts) {
      const log = join(folder, `${name}.log`);
      if (existsSync(log)) say(name, readFileSync(log, 'utf8').slice(-1500));
    }
    throw error;
  } finally {
    hosts.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns the address for a query, and the state: payloads by query, and repetitions of accepted ones */
async function startReceiver(hosts) {
  const file = join(ROOT, 'test/cluster/receiver.mjs');
  const child = hosts.run('receiver', process.execPath, [file, hosts.addresses.receiver]);
  const ended = once(child, 'exit').then(() => {
    throw new Stop('the receiver has ended: its log says why');
  });
  const message = () => Promise.race([once(child, 'message'), ended]);
  ended.catch(() => undefined);
  const [{ url }] = await message();
  return {
    hook: (query) => url + query,
    async state() {
      child.send('state');
      const [{ payloads, repeated }] = await message();
      return { payloads: new Map(payloads), repeated };
    },
  };
}

/** @returns the services, as createLoad takes them */
async function startAll(hosts, dataDir) {
  const redis = hosts.addresses.store;
  const settings = '--protected-mode no --appendonly yes --maxmemory-policy noeviction --save';
  hosts.run('store', 'redis-server', ['--bind', redis, '--dir', dataDir, ...settings.split(' '), '']);
  const isAhead = existsSync(FAKETIME);
  if (!isAhead) say('skipped', 'libfaketime is missing (apt-get install faketime): no clock is ahead');
  const env = {
    ...{
      REDIS_URL: `redis://${redis}:6379`,
      DATA_DIR: dataDir,
      PORT: String(PORT),
      RATE_LIMIT: '0',
      LOG_LEVEL: 'warn',
    },
    ...{ MODELS_DIR: join(ROOT, 'test/fixtures'), DEFAULT_MODEL: 'bundle-tiny', INFERENCE_THREADS: '1' },
    ...{
      JOB_LOCK_MS: String(form.lockMs),
      OUTBOUND_ALLOW: '10.0.0.0/8',
      OUTBOUND_TIMEOUT_MS: String(form.outboundMs),
      MAX_WAITING: '100000',
    },
  };
  const processes = form.hosts.filter((name) => /^(api|worker)/.test(name));
  for (const name of processes) {
    const part = name.startsWith('api') ? 'api' : 'workers';
    const clock = name === 'worker-2' && isAhead ? AHEAD : {};
    const address = { HOST: hosts.addresses[name], WORKER_METRICS_PORT: '0' };
    hosts.run(name, process.execPath, [join(ROOT, 'dist', part, 'main.js')], { ...env, ...address, ...clock });
  }
  const apis = processes.filter((name) => name.startsWith('api'));
  const urls = apis.map((name) => `http://${hosts.addresses[name]}:${PORT}`);
  for (const url of urls) await waitUntilReady(url, 180_000);
  const { headers } = await firstKey(urls[0], dataDir, { ...process.env, ...env });
  return urls.map((url) => ({ url, headers }));
}

/** @returns numbers of tasks that are lost, failed or wrong, and of those that were not delivered, or twice */
async function judge(tasks, calm, receiver) {
  const counts = { lost: 0, failed: 0, wrong: 0, doubled: 0, silent: 0 };
  for (const task of tasks) {
    const outcome = await task.outcome();
    if (outcome === calm[task.kind]) continue;
    const fault = outcome === 'lost' ? 'lost' : outcome.startsWith('failed') ? 'failed' : 'wrong';
    counts[fault]++;
    say(fault, `${task.name}: ${outcome.slice(0, 300)}`);
  }
  const end = Date.now() + DELIVERY_LIMIT_MS;
  const posted = tasks.filter(({ hooks }) => hooks !== 0);
  let state = await receiver.state();
  for (; posted.some(({ name }) => !state.payloads.has(name)) && Date.now() < end; state = await receiver.state()) {
    await pause(200);
  }
  for (const { name, kind } of posted) {
    const payloads = state.payloads.get(name) ?? 0;
    if (payloads === 0) counts.silent++;
    if (kind !== 'camera' && payloads > 1) counts.doubled++;
  }
  const faults = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { ...counts, repeated: state.repeated, faults };
}
