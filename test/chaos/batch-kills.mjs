/**
 * `npm run test:kills [-- --seeds=5] [--seed=N] [--workers=3] [--cameras=4] [--minutes=20] [--write]`: a batch of
 * footage is processed once without a disturbance. Then, per seed, the same batch runs again while the API, Redis and
 * a worker are each killed (SIGKILL) twice, each when a drawn share of the frames is done. Every result must have the
 * same bytes. The exit status is 1 if any result differs, a batch does not complete, or a kill hit a batch that had
 * ended. --minutes: length of the footage of each camera; --write puts the table into test/bench/RESULTS.md.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readOptions, wholeNumber } from '../../scripts/lib/options.mjs';
import { ROOT, runMain, Stop, say } from '../../scripts/lib/shell.mjs';
import { report } from '../bench/lib/report.mjs';
import { dist, startService } from '../bench/lib/service.mjs';
import { writeBlocks } from './block-video.mjs';

const CAMERAS = ['east', 'north', 'south', 'west'];
const KINDS = ['api', 'redis', 'worker', 'api', 'redis', 'worker'];
const FORMATS = ['ndjson', 'csv', 'json', 'html', 'stats'];
/** Share of the frames after which the last kill comes at the latest: the rest takes longer than any restart. */
const LAST_SHARE = 0.75;
/** Without an answer, or without progress of the batch: how long all of it takes depends on the machine. */
const LIMIT_MS = 600_000;
const POLL_MS = 100;
/** Progress before a kill is read more often, so that the batch does not end in between. */
const WATCH_MS = 20;

function nameOf(camera) {
  return `vtt/${camera}-2026-06-01T12-00-00.vtt`;
}

await runMain(async () => {
  const { values } = readOptions({
    seeds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '3' },
    cameras: { type: 'string', default: String(CAMERAS.length) },
    minutes: { type: 'string', default: '20' },
    write: { type: 'boolean' },
  });
  const [seeds, firstSeed, workers, count, minutes] = ['seeds', 'seed', 'workers', 'cameras', 'minutes'].map((name) =>
    wholeNumber(name, values[name]),
  );
  const cameras = CAMERAS.slice(0, count);
  // A single camera has a single file.
  const captions = cameras.length === 1 ? ['vtt'] : cameras.map((camera) => `vtt&name=${nameOf(camera)}`);
  const formats = [...FORMATS, ...captions];
  const { uniformNumbers } = await dist('base/random.js');
  const folder = mkdtempSync(join(tmpdir(), 'sd-kills-'));
  const service = await startService({
    workers,
    env: {
      ...{ MODELS_DIR: join(ROOT, 'test/fixtures'), DEFAULT_MODEL: 'bundle-tiny', INFERENCE_THREADS: '1' },
      ...{ JOB_LOCK_MS: '4000', LOG_LEVEL: 'info' },
    },
  });
  try {
    const files = cameras.map((camera, i) => {
      const file = join(folder, `${camera}-2026-06-01T12-00-00.mp4`);
      writeBlocks(file, { minutes, next: uniformNumbers(i + 1) });
      return file;
    });
    const calm = await runBatch(service, files, { formats });
    const changes = calm.results.ndjson.split('\n').length - 1;
    say('calm', `${calm.ms} ms, ${calm.batch.frames} frames, ${changes} changes, ${calm.batch.failures} failures`);
    const rows = [['none', '', '', seconds(calm.ms), 'the reference']];
    let [differ, hits] = [0, 0];
    for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
      const kills = planKills(uniformNumbers(seed), workers);
      const { batch, results, ms, killed } = await runBatch(service, files, {
        formats,
        kills,
        frames: calm.batch.frames,
      });
      const wrong = formats.filter((format) => results[format] !== calm.results[format]);
      differ += wrong.length;
      const hit = killed.filter(({ at }) => at < Date.parse(batch.finished_at)).length;
      hits += hit;
      const list = killed.map(({ name, share }) => `${name} at ${Math.round(100 * share)} %`).join(', ');
      const outcome =
        wrong.length > 0 ? `other bytes in ${wrong.join(', ')}` : `same bytes in ${formats.length} results`;
      rows.push([String(seed), list, `${hit} of ${kills.length}`, seconds(ms), outcome]);
      say(`seed ${seed}`, rows.at(-1).slice(1).join('; '));
    }
    const kills = seeds * KINDS.length;
    report(
      'test:kills',
      'Batches: the results after kills of the API, Redis and workers',
      [['seed', 'killed when so much of the batch was done', 'hit the running batch', 'time', 'outcome'], ...rows],
      [
        `Cameras: ${cameras.length}, with ${minutes} minutes each (${calm.batch.frames} frames, ${changes} changes), ` +
          `over ${workers} workers; every process comes back. ` +
          'Compared: NDJSON, CSV, JSON, page, evidence and captions.',
      ],
    );
    console.log(`${hits} of ${kills} kills hit a running batch, ${differ} results of other bytes`);
    if (differ > 0 || hits < kills) process.exitCode = 1;
  } catch (error) {
    for (const name of readdirSync(service.dataDir).filter((file) => file.endsWith('.log'))) {
      console.error(`--- ${name}\n${readFileSync(join(service.dataDir, name), 'utf8').slice(-3000)}`);
    }
    throw error;
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
});

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

/**
 * One kill in each of equal parts of the batch, in a drawn order of the kinds: a killed process is back before the next
 * kill.
 * @returns kills with the share of the frames, 0 to 1, after which each comes
 */
function planKills(next, workers) {
  const order = KINDS.map((kind) => ({ kind, rank: next() })).sort((a, b) => a.rank - b.rank);
  return order.map(({ kind }, i) => {
    const number = 1 + Math.floor(next() * workers);
    const name = kind === 'worker' && number > 1 ? `worker-${number}` : kind;
    return { name, share: ((i + next()) / KINDS.length) * LAST_SHARE };
  });
}

/**
 * Uploads the files as a batch, kills, and waits for its end.
 * @param frames of the whole batch, to which the shares of the kills refer
 */
async function runBatch(service, files, { formats, kills = [], frames = 0 }) {
  const form = new FormData();
  const request = { template: '{camera}-{t:%Y-%m-%dT%H-%M-%S}.mp4', every: '1s', exact: true, merge_window_s: 20 };
  form.append('request', JSON.stringify(request));
  for (const file of files) form.append('footage', new Blob([readFileSync(file)]), file.split('/').at(-1));
  const created = await fetch(`${service.url}/v1/batches`, { method: 'POST', body: form });
  const { id } = await created.json();
  if (created.status !== 202) throw new Stop(`POST /v1/batches answered ${created.status}`);
  const started = Date.now();
  const killing = killAll(service, id, { kills, frames });
  const batch = await waitUntilEnded(service, id);
  const ms = Date.now() - started;
  const killed = await killing;
  if (batch.status !== 'completed') throw new Stop(`the batch is ${batch.status}: ${JSON.stringify(batch.error)}`);
  const results = {};
  for (const format of formats) {
    results[format] = (await persistently(`${service.url}/v1/batches/${id}/results?format=${format}`)).text;
  }
  const copies = existsSync(join(service.dataDir, 'batches', id))
    ? readdirSync(join(service.dataDir, 'batches', id))
    : [];
  if (copies.some((name) => !name.startsWith('upload-'))) throw new Stop(`${id} left ${copies.join(', ')}`);
  const answer = await fetch(`${service.url}/v1/batches/${id}`, { method: 'DELETE' });
  if (answer.status !== 204) throw new Stop(`DELETE answered ${answer.status}`);
  return { batch, results, ms, killed };
}

/** @returns the kills with the share that was done, and their time, epoch ms */
async function killAll(service, id, { kills, frames }) {
  const killed = [];
  for (const { name, share } of kills) {
    const done = await untilDone(service, id, share * frames);
    await untilAlive(service, name);
    process.kill(service.pid(name), 'SIGKILL');
    killed.push({ name, share: done / frames, at: Date.now() });
  }
  return killed;
}

/** @returns the frames that are done, once they are as many as wanted, or the batch has ended */
async function untilDone(service, id, wanted) {
  for (;;) {
    const { body } = await persistently(`${service.url}/v1/batches/${id}`, WATCH_MS);
    if (body.frames >= wanted || !['queued', 'running'].includes(body.status)) return body.frames;
    await pause(WATCH_MS);
  }
}

/** A process that was killed before comes back after a moment. */
async function untilAlive(service, name) {
  for (;;) {
    try {
      process.kill(service.pid(name), 0);
      return;
    } catch {
      await pause(20);
    }
  }
}

async function waitUntilEnded(service, id) {
  let [frames, until] = [0, 0];
  for (;;) {
    const { body } = await persistently(`${service.url}/v1/batches/${id}`);
    if (!['queued', 'running'].includes(body.status)) return body;
    if (until === 0 || body.frames > frames) [frames, until] = [body.frames, Date.now() + LIMIT_MS];
    if (Date.now() > until) throw new Stop(`the batch does not progress: ${JSON.stringify(body)}`);
    await pause(POLL_MS);
  }
}

/** Asks until the API answers 200: it and Redis may just have been killed. Any other answer must be a 503. */
async function persistently(url, pollMs = POLL_MS) {
  const until = Date.now() + LIMIT_MS;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    const text = await answer?.text().catch(() => undefined);
    if (answer?.status === 200 && text !== undefined) {
      return {
        text,
        body: answer.headers.get('content-type').startsWith('application/json') ? JSON.parse(text) : null,
      };
    }
    if (answer !== undefined && answer.status !== 200 && answer.status !== 503) {
      throw new Stop(`${url} answered ${answer.status}: ${text}`);
    }
    if (Date.now() > until) throw new Stop(`${url} does not answer`);
    await pause(pollMs);
  }
}
