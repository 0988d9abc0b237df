/**
 * `npm run test:chaos [-- --jobs=10000] [--seeds=3] [--seed=N] [--redis=one|three] [--short]`: comparisons with
 * callbacks, frames of cameras and batches while the service is disturbed: kills, frozen processes, a Redis that
 * refuses, a full disk, clocks that jump, receivers that flap, comparisons that kill each worker that reads their
 * frame. With `--redis=three` the primary of three nodes is killed and sentinels replace it. Every accepted job must
 * end as it does in calm, and be delivered. The guarantees are in docs/reliability.md. The exit status is 1 if anything
 * was lost, failed, wrong, doubled or not delivered.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readOptions, wholeNumber } from '../../scripts/lib/options.mjs';
import { ROOT, runMain, Stop, say } from '../../scripts/lib/shell.mjs';
import { report } from '../bench/lib/report.mjs';
import { dist, startService } from '../bench/lib/service.mjs';
import { disturbances } from './disturbances.mjs';
import { createLoad, makeMedia } from './load.mjs';
import { startReceiver } from './receiver.mjs';
import { startSentinels } from './sentinels.mjs';

const CLIENTS = 8;
const WORKERS = 2;
/** Share of the jobs that are frames of cameras, and one batch per so many jobs. */
const FRAMES = 0.4;
const JOBS_PER_BATCH = 250;
/** Every so many comparisons one has a change. */
const CHANGED_EVERY = 4;
/** Comparisons that kill each worker which reads their frame. */
const POISON = { long: 3, short: 1 };
const FRAMES_PER_CAMERA = 24;
/** rounds: how often each disturbance comes; kills: how often the primary is killed */
const LONG = { jobs: 10_000, seeds: 3, rounds: 3, kills: 5 };
const SHORT = { jobs: 120, seeds: 1, rounds: 1, kills: 1 };
/** Space for a run, which 'fill the disk' takes away. */
const DISK = '2g';
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
/** The allocator of Redis reads the clock before libfaketime is ready; that of libc does not. */
const LIBC = 'libc.so.6';
/** A receiver that fails twice is tried a third time after five minutes. */
const DELIVERY_LIMIT_MS = 900_000;
const COUNTS = ['lost', 'failed', 'wrong', 'doubled', 'silent', 'afterRecorded'];

const { values } = readOptions({
  jobs: { type: 'string' },
  seeds: { type: 'string' },
  seed: { type: 'string', default: '1' },
  redis: { type: 'string', default: 'one' },
  short: { type: 'boolean' },
  write: { type: 'boolean' },
});
const size = values.short ? SHORT : LONG;

await runMain(async () => {
  if (!['one', 'three'].includes(values.redis)) throw new Stop(`--redis=${values.redis}: expected one or three`);
  const [jobs, seeds, first] = ['jobs', 'seeds', 'seed'].map((name) =>
    wholeNumber(name, values[name] ?? String(size[name])),
  );
  const rows = [];
  const named = [];
  for (let seed = first; seed < first + seeds; seed++) {
    const start = Date.now();
    const { counts, ...outcome } = await runOnce({ seed, jobs });
    if (COUNTS.some((name) => counts[name] > 0)) process.exitCode = 1;
    const { accepted, refused, longestMs, repeated, list } = outcome;
    const figures = [seed, accepted, list.length, ...COUNTS.map((name) => counts[name]), repeated.length, refused];
    if (repeated.length > 0)
      named.push(`Seed ${seed}, posted again after a 200 that was not recorded: ${repeated.join(', ')}.`);
    rows.push([...figures, (longestMs / 1000).toFixed(1), ((Date.now() - start) / 60_000).toFixed(1)].map(String));
    say(`seed ${seed}`, `${JSON.stringify({ ...counts, ...outcome })}`);
  }
  report(
    'test:chaos',
    values.redis === 'one' ? 'Chaos' : 'Chaos: Redis that fails over',
    [
      [
        ...['seed', 'accepted', 'disturbances', 'lost', 'failed', 'wrong', 'doubled', 'not delivered'],
        ...['posts after a recorded 200', 'after an unrecorded one', 'refused requests', 'longest wait for a 202 (s)'],
        'minutes',
      ],
      ...rows,
    ],
    [`${CLIENTS} clients, ${WORKERS} workers; a refused request is sent again with its Idempotency-Key.`, ...named],
    `test:chaos-${values.redis}`,
  );
});
// After an error clients still repeat their requests.
process.exit();

/** @returns a mounted folder, or undefined if this user may not mount */
function mountDisk(folder) {
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', folder]).status === 0) return folder;
  say('skipped', 'no file system may be mounted here: the disk is not filled');
  return undefined;
}

function hasFakeClock() {
  if (existsSync(FAKETIME)) return true;
  say('skipped', 'libfaketime is missing (apt-get install faketime): the clocks do not jump');
  return false;
}

/** @returns the environment in which the clock follows `file` within a second; empty without a file */
function fakeClock(file, { preload = FAKETIME } = {}) {
  if (file === undefined) return {};
  writeFileSync(file, '+0');
  return {
    ...{ LD_PRELOAD: preload, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_CACHE_DURATION: '1' },
    ...{ FAKETIME_DONT_FAKE_MONOTONIC: '1', FAKETIME_DONT_RESET: '1' },
  };
}

async function runOnce({ seed, jobs }) {
  const { uniformNumbers } = await dist('base/random.js');
  const next = uniformNumbers(seed);
  const three = values.redis === 'three';
  const folder = mkdtempSync(join(tmpdir(), 'sd-chaos-'));
  const disk = three ? undefined : mountDisk(folder);
  const parts = three || !hasFakeClock() ? [] : ['API', 'workers', 'Redis'];
  const clockFiles = Object.fromEntries(parts.map((part) => [part, join(folder, `clock-${part}`)]));
  const sentinels = three ? await startSentinels() : undefined;
  const media = await makeMedia(folder, next);
  const poison = createHash('sha256').update(media.poison).digest('hex');
  const service = await startService({
    folder,
    workers: WORKERS,
    redisUrl: sentinels?.url,
    apiEnv: fakeClock(clockFiles.API),
    redisEnv: fakeClock(clockFiles.Redis, { preload: `${FAKETIME}:${LIBC}` }),
    workerEnv: {
      NODE_OPTIONS: `--import=${join(ROOT, 'test/chaos/poison.mjs')}`,
      CHAOS_POISON: poison,
      ...fakeClock(clockFiles.workers),
    },
    env: {
      ...{ MODELS_DIR: join(ROOT, 'test/fixtures'), DEFAULT_MODEL: 'bundle-tiny', INFERENCE_THREADS: '1' },
      ...{ JOB_LOCK_MS: '4000', OUTBOUND_ALLOW: '127.0.0.1', OUTBOUND_TIMEOUT_MS: '2000', LOG_LEVEL: 'info' },
      ...{ MAX_WAITING: String(4 * jobs + 1000) },
    },
  });
  const redis = await clientOf(service.redisUrl);
  const receiver = await startReceiver({ next, attemptsOf: redis.attemptsOf });
  try {
    const load = createLoad(service, {
      ...media,
      framesPerCamera: FRAMES_PER_CAMERA,
      hook: receiver.url,
    });
    const calm = {};
    for (const [kind, make] of Object.entries(load.tasks).filter(([name]) => name !== 'poison')) {
      const task = make(`calm-${kind}`);
      await task.send();
      calm[kind] = await task.outcome();
      say('calm', `${kind}: ${calm[kind].slice(0, 300)}`);
    }
    load.state.accepted = 0;
    const tasks = planTasks(load.tasks, jobs, next);
    const queue = [...tasks];
    const client = async () => {
      for (let task = queue.shift(); task !== undefined; task = queue.shift()) await task.send();
    };
    const clients = Array.from({ length: CLIENTS }, client);
    const made = disturbances({
      ...{ service, next, sentinels, workers: WORKERS, redis: redis.client },
      ...{ disk, clockFiles },
    });
    const list = shuffled(
      Array(three ? size.kills : size.rounds)
        .fill(Object.keys(made))
        .flat(),
      next,
    );
    await Promise.all([...clients, disturb(list, made, { jobs, state: load.state, next })]);
    const counts = await judge(tasks, { calm, receiver, redis });
    return { counts, ...load.state, repeated: receiver.repeated, list };
  } catch (error) {
    showLogs(service.dataDir);
    throw error;
  } finally {
    redis.client.disconnect();
    await service.stop();
    receiver.close();
    sentinels?.stop();
    if (disk !== undefined) execFileSync('umount', ['-l', disk]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function shuffled(list, next) {
  const ranked = list.map((item) => ({ item, rank: next() }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}

/** @returns tasks with this many jobs, in a drawn order */
function planTasks(makers, jobs, next) {
  const batches = Math.max(1, Math.floor(jobs / JOBS_PER_BATCH));
  const cameras = Math.max(1, Math.round((jobs * FRAMES) / FRAMES_PER_CAMERA));
  const comparisons = jobs - batches - cameras * FRAMES_PER_CAMERA;
  const many = (count, kindOf) =>
    Array.from({ length: count }, (_, i) => {
      const kind = kindOf(i);
      return { kind, ...makers[kind](`${kind}-${i}`) };
    });
  const tasks = [
    ...many(batches, () => 'batch'),
    ...many(cameras, () => 'camera'),
    ...many(values.short ? POISON.short : POISON.long, () => 'poison'),
    ...many(comparisons, (i) => (i % CHANGED_EVERY === 0 ? 'changed' : 'unchanged')),
  ];
  return shuffled(tasks, next);
}

/** Runs the disturbances one after the other, each in its part of the jobs, while clients send them. */
async function disturb(list, made, { jobs, state, next }) {
  for (const [i, name] of list.entries()) {
    state.allowed = Math.floor((jobs * (i + 1)) / list.length);
    const due = (jobs * (i + 0.8 * next())) / list.length;
    while (state.accepted < due) await pause(20);
    console.error(`${state.accepted} of ${jobs} accepted: ${name}`);
    await made[name]();
  }
  state.allowed = Number.POSITIVE_INFINITY;
}

/** @returns a client of the Redis under test, which waits while it is away, and the attempts of a delivery */
async function clientOf(url) {
  const { connectRedis } = await dist('stores/redis/redis.js');
  const { createLogger } = await dist('process/logger.js');
  const { createDeliveryStore } = await dist('stores/delivery/deliveries.js');
  const client = connectRedis(url, { role: 'consumer', logger: createLogger({ level: 'silent', name: 'chaos' }) });
  const deliveries = createDeliveryStore(client, { retentionMs: 0 });
  return { client, attemptsOf: async (id) => (await deliveries.get(id))?.attempts ?? [] };
}

async function judge(tasks, { calm, receiver, redis }) {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, 0]));
  const fault = (name, { name: task }, why) => {
    counts[name]++;
    console.error(`${name}: ${task}: ${why}`);
  };
  const waiting = [...tasks];
  const reader = async () => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      const outcome = await task.outcome();
      if (outcome === 'lost') fault('lost', task, 'it has no end');
      else if (task.kind === 'poison' && outcome.includes('It ran alone')) continue;
      else if (outcome.startsWith('failed')) fault('failed', task, outcome);
      else if (outcome !== calm[task.kind]) fault('wrong', task, `${outcome}\ninstead of ${calm[task.kind]}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, reader));

  const receiving = tasks.filter(({ kind }) => kind !== 'batch');
  const end = Date.now() + DELIVERY_LIMIT_MS;
  while (receiving.some(({ name }) => !receiver.accepted.has(name)) && Date.now() < end) await pause(200);
  // A webhook that is sent twice comes after a while.
  await pause(5_000);
  for (const task of receiving) {
    const payloads = receiver.accepted.get(task.name) ?? new Map();
    if (payloads.size === 0) fault('silent', task, 'no webhook came');
    const messages = [...payloads.values()].map(({ type, data }) => `${type} of ${data.id ?? data.change.id}`);
    if (new Set(messages).size < messages.length || (task.kind !== 'camera' && messages.length > 1))
      fault('doubled', task, messages.join(', '));
    for (const id of payloads.keys()) {
      const good = (await redis.attemptsOf(id)).filter(({ error }) => error === null);
      if (good.length > 1) fault('afterRecorded', task, `${good.length} successes of ${id} are recorded`);
    }
  }
  counts.afterRecorded += receiver.afterRecorded.length;
  return counts;
}

function showLogs(folder) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.log'))) {
    console.error(`--- ${name}\n${readFileSync(join(folder, name), 'utf8').slice(-3000)}`);
  }
}
