/**
 * `npm run bench -- load [--seconds=20] [--comparisons=500 | --full] [--write]`: accepted (202) pairs per second
 * with files and Redis synced; latency of /livez while inference uses every core; memory over many comparisons (--full:
 * 5,000).
 */
import { Agent, request } from 'undici';
import { fresh, pairOfSize } from './lib/pairs.mjs';
import { mb, ms, percentile, report } from './lib/report.mjs';
import { formOf, numberOption, residentBytes, startService } from './lib/service.mjs';

const FRAME_BYTES = 250_000;
const SENDERS = 16;
const PROBE_EVERY_MS = 20;
const IN_FLIGHT = 8;
const seconds = numberOption('seconds', 20);
const comparisons = process.argv.includes('--full') ? 5_000 : numberOption('comparisons', 500);

const dispatcher = new Agent({ connections: 64, pipelining: 1 });
const pair = await pairOfSize(FRAME_BYTES);
const newPair = () => formOf({ before: fresh(pair.before), after: fresh(pair.after) });

async function post(url, form, prefer) {
  const { statusCode, body } = await request(`${url}/v1/comparisons`, {
    method: 'POST',
    body: form.body,
    headers: { ...form.headers, prefer },
    dispatcher,
  });
  const text = await body.text();
  return { status: statusCode, text };
}

/** Rate at which the API accepts, stores and queues, without a worker. */
async function acceptance() {
  const service = await startService({ worker: false, env: { MAX_WAITING: '1000000' } });
  try {
    for (let i = 0; i < 20; i++) await post(service.url, newPair(), 'respond-async');
    const took = [];
    const until = performance.now() + seconds * 1000;
    const start = performance.now();
    const sender = async () => {
      while (performance.now() < until) {
        const form = newPair();
        const sent = performance.now();
        const { status, text } = await post(service.url, form, 'respond-async');
        if (status !== 202) throw new Error(`expected 202, got ${status}: ${text}`);
        took.push(performance.now() - sent);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
    const perSecond = took.length / ((performance.now() - start) / 1000);
    return [
      [
        'accepted (202) per second',
        perSecond.toFixed(0),
        `${SENDERS} senders, ${seconds} s, two frames of ${(pair.before.length / 1000).toFixed(0)} and ` +
          `${(pair.after.length / 1000).toFixed(0)} kB, fdatasync and appendfsync always; no worker running`,
      ],
      [
        'acceptance p50 / p99',
        `${ms(percentile(took, 0.5))} / ${ms(percentile(took, 0.99))} ms`,
        `${took.length} requests`,
      ],
    ];
  } finally {
    await service.stop();
  }
}

/** Keeps `IN_FLIGHT` comparisons running; `each` is called with the number done. */
async function saturate(url, keepOn, each = () => {}) {
  let done = 0;
  const runner = async () => {
    while (keepOn(done)) {
      const { status, text } = await post(url, newPair(), 'wait=60');
      if (status !== 200) throw new Error(`expected 200, got ${status}: ${text}`);
      done += 1;
      each(done);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, runner));
  return done;
}

async function probes(service) {
  const took = [];
  const single = new Agent({ connections: 1 });
  let probing = true;
  const until = performance.now() + seconds * 1000;
  const probe = async () => {
    while (probing) {
      const sent = performance.now();
      const { statusCode, body } = await request(`${service.url}/livez`, { dispatcher: single });
      await body.dump();
      if (statusCode !== 200) throw new Error(`/livez answered ${statusCode}`);
      took.push(performance.now() - sent);
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
    }
  };
  const probed = probe();
  const start = performance.now();
  const done = await saturate(service.url, () => performance.now() < until);
  const perSecond = done / ((performance.now() - start) / 1000);
  probing = false;
  await probed;
  await single.close();
  return [
    [
      '/livez p50 / p99 / max',
      [0.5, 0.99, 1]
        .map((share) => ms(percentile(took, share)))
        .join(' / ')
        .concat(' ms'),
      `${took.length} probes while ${IN_FLIGHT} comparisons were always in flight (${perSecond.toFixed(1)} a second)`,
    ],
  ];
}

async function memory(service) {
  const samples = [];
  const every = Math.max(1, Math.floor(comparisons / 20));
  const sample = (done) => {
    if (done % every !== 0) return;
    samples.push({
      done,
      api: residentBytes(service.pid('api')),
      worker: residentBytes(service.pid('worker')),
    });
    console.error(`${done}/${comparisons}: api ${mb(samples.at(-1).api)}, worker ${mb(samples.at(-1).worker)}`);
  };
  let begun = 0;
  await saturate(service.url, () => begun++ < comparisons, sample);
  const rows = [];
  for (const name of ['api', 'worker']) {
    const values = samples.map((one) => one[name]);
    const half = values.slice(Math.floor(values.length / 2));
    const course = [0, 0.25, 0.5, 0.75, 1].map((share) => values[Math.round(share * (values.length - 1))]);
    rows.push([
      `${name} resident memory, most`,
      mb(Math.max(...values)),
      `over ${samples.at(-1).done} comparisons: ${course.map(mb).join(', ')} at 0, 25, 50, 75, 100 %; growth ` +
        `over the second half ${mb(half.at(-1) - half[0])}`,
    ]);
  }
  return rows;
}

const rows = [];
try {
  rows.push(...(await acceptance()));
  const service = await startService({ env: { MALLOC_ARENA_MAX: '2' } });
  try {
    rows.push(...(await probes(service)), ...(await memory(service)));
  } finally {
    await service.stop();
  }
  report(
    'load',
    'Load: acceptance, probes, memory',
    [['what', 'measured', 'how'], ...rows],
    [
      'The client runs on the same machine and takes its share of the cores.',
      'Every frame is new to the service (other bytes, same image). The worker runs with MALLOC_ARENA_MAX=2, ' +
        'as in the images.',
    ],
  );
} finally {
  await dispatcher.close();
}
