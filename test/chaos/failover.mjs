/**
 * `npm run test:failover [-- --jobs=5000] [--kills=5] [--seeds=3] [--seed=N] [--short]`: comparisons with callbacks
 * while the primary of three Redis nodes is killed again and again and sentinels replace it. Per seed: each accepted
 * comparison must finish, with its true answer, and its webhook must come once. The exit status is 1 otherwise.
 */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readOptions, wholeNumber } from '../../scripts/lib/options.mjs';
import { ROOT, runMain, Stop, say } from '../../scripts/lib/shell.mjs';
import { report } from '../bench/lib/report.mjs';
import { dist, formOf, startService } from '../bench/lib/service.mjs';
import { startSentinels } from './sentinels.mjs';

const SHORT = { jobs: 60, kills: 1, seeds: 1 };
/** Posts at a time. */
const CLIENTS = 8;
const PAUSE_MS = 20;
const LIMIT_MS = 300_000;
/** Every so many pairs one has a change. */
const CHANGED_EVERY = 10;

await runMain(async () => {
  const { values } = readOptions({
    jobs: { type: 'string', default: '5000' },
    kills: { type: 'string', default: '5' },
    seeds: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    short: { type: 'boolean' },
  });
  const [jobs, kills, seeds, first] = ['jobs', 'kills', 'seeds', 'seed'].map((name) =>
    wholeNumber(name, (values.short && SHORT[name]) || values[name]),
  );
  const { uniformNumbers } = await dist('random.js');
  const pairs = await makePairs();
  const rows = [];
  let faults = 0;
  for (let seed = first; seed < first + seeds; seed++) {
    const outcome = await runOnce({ jobs, kills, pairs, next: uniformNumbers(seed) });
    const { lost, failed, wrong, doubled, silent } = outcome;
    faults += lost + failed + wrong + doubled + silent;
    rows.push(
      [seed, jobs, kills, lost, failed, wrong, doubled, silent, outcome.refused, outcome.longestMs].map(String),
    );
    say(`seed ${seed}`, JSON.stringify(outcome));
  }
  report(
    'test:failover',
    'Redis that fails over',
    [
      [
        ...['seed', 'accepted', 'kills', 'lost', 'failed', 'wrong', 'webhooks twice', 'webhooks missing'],
        ...['refused POSTs', 'longest wait for a 202 (ms)'],
      ],
      ...rows,
    ],
    [
      `Three nodes of Redis with a sentinel each; the primary is killed (SIGKILL) ${kills} times while ${CLIENTS} ` +
        'clients send comparisons with callbacks and repeat a refused POST with its Idempotency-Key.',
    ],
  );
  if (faults > 0) process.exitCode = 1;
});

/** @returns two pairs as forms: one without a change, one with */
async function makePairs() {
  const { default: sharp } = await import('sharp');
  const plainOf = (width, height, background) => ({ create: { width, height, channels: 3, background } });
  const thing = { input: plainOf(60, 60, 'red'), left: 220, top: 90 };
  const picture = (hasThing) =>
    sharp(plainOf(320, 240, '#6a7a6a'))
      .composite(hasThing ? [thing] : [])
      .jpeg()
      .toBuffer();
  const [plain, other] = await Promise.all([picture(false), picture(true)]);
  return [
    { before: plain, after: plain, changed: false },
    { before: plain, after: other, changed: true },
  ];
}

async function runOnce({ jobs, kills, pairs, next }) {
  const redis = await startSentinels();
  const webhooks = new Map();
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      const id = request.headers['webhook-id'];
      webhooks.set(id, (webhooks.get(id) ?? 0) + 1);
      response.end();
    });
  });
  await new Promise((done) => receiver.listen(0, '127.0.0.1', done));
  const hook = `http://127.0.0.1:${receiver.address().port}/hook`;
  const service = await startService({
    redisUrl: redis.url,
    env: {
      ...{ MODELS_DIR: join(ROOT, 'test/fixtures'), DEFAULT_MODEL: 'bundle-tiny', INFERENCE_THREADS: '1' },
      ...{ JOB_LOCK_MS: '4000', LOG_LEVEL: 'info', OUTBOUND_ALLOW: '127.0.0.1', MAX_WAITING: String(2 * jobs) },
    },
  });
  try {
    const accepted = [];
    let [refused, longestMs, sent] = [0, 0, 0];
    const client = async () => {
      while (sent < jobs) {
        const number = sent++;
        const pair = pairs[number % CHANGED_EVERY === 0 ? 1 : 0];
        const form = formOf({ before: pair.before, after: pair.after }, { callback_url: hook });
        const headers = { ...form.headers, prefer: 'respond-async', 'idempotency-key': `job-${number}` };
        const start = Date.now();
        for (;;) {
          const request = { method: 'POST', headers, body: form.body };
          const answer = await fetch(`${service.url}/v1/comparisons`, request).catch(() => undefined);
          if (answer?.status === 202) {
            accepted.push({ id: (await answer.json()).id, changed: pair.changed });
            break;
          }
          // 409: an earlier attempt, whose answer never came, is still being accepted.
          await answer?.arrayBuffer();
          if (answer !== undefined && ![409, 503].includes(answer.status))
            throw new Stop(`POST answers ${answer.status}`);
          if (Date.now() - start > LIMIT_MS) throw new Stop(`no 202 for ${LIMIT_MS} ms`);
          refused++;
          await pause(100);
        }
        longestMs = Math.max(longestMs, Date.now() - start);
        await pause(PAUSE_MS);
      }
    };
    const clients = Promise.all(Array.from({ length: CLIENTS }, client));
    for (let kill = 0; kill < kills; kill++) {
      const due = ((kill + 0.2 + 0.6 * next()) * jobs) / kills;
      while (accepted.length < due) await pause(10);
      await killPrimary(redis, next);
    }
    await clients;
    return { ...(await outcomeOf(service, accepted, webhooks)), refused, longestMs };
  } finally {
    await service.stop();
    receiver.close();
    redis.stop();
  }
}

async function killPrimary(redis, next) {
  const old = await redis.primary();
  redis.kill(old);
  const end = Date.now() + LIMIT_MS;
  let now = -1;
  while (now < 0 || now === old) {
    if (Date.now() > end) throw new Stop('no node became primary');
    await pause(100);
    now = await redis.primary();
  }
  await pause(500 * next());
  await redis.restart(old);
}

async function outcomeOf(service, accepted, webhooks) {
  const counts = { lost: 0, failed: 0, wrong: 0, doubled: 0, silent: 0 };
  const end = Date.now() + LIMIT_MS;
  for (const { id, changed } of accepted) {
    let body;
    for (;;) {
      const answer = await fetch(`${service.url}/v1/comparisons/${id}`).catch(() => undefined);
      body = answer?.ok ? await answer.json() : undefined;
      if (answer?.status === 404 || body?.status === 'finished' || body?.status === 'failed' || Date.now() > end) break;
      await pause(50);
    }
    if (body === undefined || !['finished', 'failed'].includes(body.status)) counts.lost++;
    else if (body.status === 'failed') counts.failed++;
    else if (!changed && body.verdict !== 'none') counts.wrong++;
  }
  const hooksOf = () => [...webhooks.values()];
  while (webhooks.size < accepted.length && Date.now() < end) await pause(200);
  counts.silent = accepted.length - webhooks.size;
  counts.doubled = hooksOf().filter((times) => times > 1).length;
  return counts;
}
