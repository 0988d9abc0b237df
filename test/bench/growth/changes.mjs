/** How the cost of reading changes grows with the number that is stored: lists, search, the brief, counts per day. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { answerQuestions, MADE, madeChange, madeVector, QUERIES, writesOf } from '../lib/made-changes.mjs';
import { ms, percentile } from '../lib/report.mjs';
import { cpuMs, dist, residentBytes, startService } from '../lib/service.mjs';

const COUNTS = [1_000, 10_000, 100_000, 200_000, 1_000_000];
/** Changes that the search index of an API process holds. */
const INDEXED = 200_000;
const ROUNDS = 40;
const SEARCH_ROUNDS = 4;
const WARM_UP = 20;
const SETTLE_MS = 3_000;
/** Bytes that are sent to Redis at a time. */
const BLOCK = 1 << 20;

const DAY = '2026-01-20';
const KINDS = {
  list: { paths: ['/v1/changes?limit=50'], rounds: ROUNDS },
  'list, none fits': { paths: ['/v1/changes?limit=50&zone=nowhere'], rounds: ROUNDS },
  search: { paths: QUERIES.map((query) => `/v1/changes?q=${encodeURIComponent(query)}`), rounds: SEARCH_ROUNDS },
  'brief of a camera': { paths: [`/v1/brief?camera=camera-7&day=${DAY}&format=json`], rounds: ROUNDS },
  'counts of a year': { paths: ['/v1/changes/counts?from=2026-01-01&to=2026-12-31'], rounds: ROUNDS },
};
const SLOWEST = 'slowest search, ms';
const START = 'index read, s';
const REDIS = 'Redis, GB';

const encoded = (command) =>
  `*${command.length}\r\n${command.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`).join('')}`;

/** Sends commands to Redis without waiting for their replies. */
async function pour(redisUrl, commands) {
  const socket = connect(redisUrl.replace('unix://', ''));
  let block = encoded(['CLIENT', 'REPLY', 'OFF']);
  for (const command of commands) {
    block += encoded(command);
    if (block.length < BLOCK) continue;
    if (!socket.write(block)) await once(socket, 'drain');
    block = '';
  }
  // The only reply: all commands before it have run.
  socket.write(block + encoded(['CLIENT', 'REPLY', 'ON']));
  await once(socket, 'data');
  socket.destroy();
}

/** @param {string[]} skipped keys of streams, which have the latest entries only */
function* writes(from, to, skipped) {
  for (let i = from; i < to; i++) {
    for (const command of writesOf(madeChange(i), madeVector())) if (!skipped.includes(command[1])) yield command;
  }
}

async function get(url, dispatcher) {
  const { statusCode, body } = await request(url, { dispatcher });
  const answer = await body.json();
  if (statusCode !== 200) throw new Error(`${url}: ${statusCode} ${JSON.stringify(answer)}`);
  return answer;
}

/** An API process that starts with the stored changes. @returns a row */
async function figuresOf(redisUrl, redisPid, count) {
  const begun = performance.now();
  const api = await startService({ worker: false, build: false, redisUrl });
  const dispatcher = new Agent({ connections: 1 });
  try {
    const indexed = async () => (await get(`${api.url}/v1/changes?q=car&limit=1`, dispatcher)).search;
    while (!(await indexed()).complete) await sleep(200);
    const row = { x: count, [START]: (performance.now() - begun) / 1000 };
    // The garbage of building the index is collected before the figures.
    await sleep(SETTLE_MS);
    const spent = () => cpuMs(api.pid('api')) + cpuMs(redisPid);
    for (const [name, { paths, rounds }] of Object.entries(KINDS)) {
      for (let i = 0; i < WARM_UP; i++) await get(api.url + paths[i % paths.length], dispatcher);
      const took = [];
      const before = spent();
      for (let round = 0; round < rounds; round++) {
        for (const path of paths) {
          const sent = performance.now();
          await get(api.url + path, dispatcher);
          took.push(performance.now() - sent);
        }
      }
      row[name] = (spent() - before) / took.length;
      if (name === 'search') row[SLOWEST] = Math.max(...took);
      console.error(`${count} changes, ${name}: ${ms(row[name])} CPU-ms, p50 ${ms(percentile(took, 0.5))} ms`);
    }
    row['API, MB'] = residentBytes(api.pid('api')) / 2 ** 20;
    return row;
  } finally {
    await dispatcher.close();
    await api.stop();
  }
}

export const changes = {
  name: 'changes',
  title: 'Changes that are stored',
  x: { label: 'changes stored', type: 'log', ticks: [1_000, 10_000, 100_000, 1_000_000] },
  y: { label: 'CPU-ms per request', type: 'log' },
  series: Object.keys(KINDS),
  bounds: [{ x: INDEXED, text: 'SEARCH_CHANGES' }],
  columns: { [SLOWEST]: ms, [START]: (value) => value.toFixed(1), 'API, MB': ms, [REDIS]: (value) => value.toFixed(1) },
  notes: [
    `${MADE}; four of five have ended. CPU-ms of API and Redis per request. List: the latest 50. List, none fits: a filter that no ` +
      `change passes. Search: ${QUERIES.length} queries, with vectors. Counts: 365 days. Index read: from the start of ` +
      'the API to a complete index. A vector of a query comes from the cache; the model does not run.',
  ],
  async measure() {
    const { createLogger } = await dist('process/logger.js');
    const { connectRedis } = await dist('stores/redis/redis.js');
    const { KEYS } = await dist('stores/redis/keys.js');
    const logger = createLogger({ level: 'silent', name: 'bench' });
    // Its API indexes nothing; it is there for the settings of the camera.
    const service = await startService({ worker: false, build: false, env: { SEARCH_CHANGES: '0' } });
    const redis = connectRedis(service.redisUrl, { role: 'consumer', logger });
    const answering = answerQuestions(redis, logger);
    try {
      const headers = { 'content-type': 'application/json' };
      const put = await request(`${service.url}/v1/cameras/camera-7`, { method: 'PUT', headers, body: '{}' });
      await put.body.dump();
      // Only reading is measured, so nothing need be on the disk.
      await redis.config('SET', 'appendonly', 'no');
      const rows = [];
      for (const [i, count] of COUNTS.entries()) {
        await pour(service.redisUrl, writes(COUNTS[i - 1] ?? 0, count, [KEYS.events, KEYS.changeLog]));
        const stored = await redis.zcard(KEYS.changesByTime);
        if (stored !== count) throw new Error(`Redis has ${stored} changes, expected ${count}`);
        const row = await figuresOf(service.redisUrl, service.pid('redis'), count);
        rows.push({ ...row, [REDIS]: residentBytes(service.pid('redis')) / 2 ** 30 });
      }
      return rows;
    } finally {
      await answering.close();
      redis.disconnect();
      await service.stop();
    }
  },
  sentence(rows) {
    const values = (name) => rows.map((row) => row[name]);
    const range = (name) => `${ms(Math.min(...values(name)))} to ${ms(Math.max(...values(name)))}`;
    const growth = (name) => `from ${ms(rows[0][name])} to ${ms(rows.at(-1)[name])}`;
    return (
      `The list (${range('list')} CPU-ms), the list that finds nothing (${range('list, none fits')}: a page examines ` +
      `1,000 changes at most) and the counts (${range('counts of a year')}) do not grow. A search grows ` +
      `${growth('search')} CPU-ms, because it compares every indexed change, and bends at \`SEARCH_CHANGES\`: of more ` +
      `stored changes, the latest ${INDEXED.toLocaleString('en')} are searched. The brief grows ` +
      `${growth('brief of a camera')} CPU-ms with the changes of its camera, and reads 2,000 of each index at most.`
    );
  },
};
