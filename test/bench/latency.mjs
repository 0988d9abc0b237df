/**
 * `npm run bench -- latency [--count=300] [--write]`: latency from a POST with two 1080p JPEGs to the
 * finished answer, at 2 requests per second. Open loop: requests leave on a fixed schedule, and time counts from the
 * schedule, so that a slow answer does not delay the clock of the next request (no coordinated omission).
 */
import { Agent, request } from 'undici';
import { fresh, fullHdPairs } from './lib/pairs.mjs';
import { ms, percentile, report } from './lib/report.mjs';
import { formOf, numberOption, startService } from './lib/service.mjs';

const EVERY_MS = 500;
const WARM_UP = 10;
const count = numberOption('count', 300);

const pairs = await fullHdPairs();
/** "before" repeats for one camera, and never for unrelated requests. */
const CASES = [
  {
    name: 'every frame new',
    frames: ({ before, after }) => ({ before: fresh(before), after: fresh(after) }),
  },
  {
    name: 'same "before" again (feature cache)',
    frames: ({ before, after }) => ({ before, after: fresh(after) }),
  },
];

const service = await startService();
const dispatcher = new Agent({ connections: 64, pipelining: 1 });

async function ask(frames, due) {
  const { body, headers } = formOf(frames);
  const response = await request(`${service.url}/v1/comparisons`, {
    method: 'POST',
    body,
    headers: { ...headers, prefer: 'wait=60' },
    dispatcher,
  });
  const comparison = await response.body.json();
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${JSON.stringify(comparison)}`);
  return { took: performance.now() - due, comparison };
}

async function measure({ name, frames }) {
  const answers = [];
  const start = performance.now();
  const total = WARM_UP + count;
  for (let i = 0; i < total; i++) {
    // Built before it is due, so that the schedule is kept.
    const ready = frames(pairs[i % pairs.length]);
    const due = start + i * EVERY_MS;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    answers.push(ask(ready, due));
    if (i % 50 === 49) console.error(`${name}: ${i + 1}/${total}`);
  }
  const done = (await Promise.all(answers)).slice(WARM_UP);
  const took = done.map((answer) => answer.took);
  const stage = (of) =>
    ms(
      percentile(
        done.map(({ comparison }) => comparison.timings_ms?.[of] ?? 0),
        0.5,
      ),
    );
  const changed = done.filter(({ comparison }) => comparison.verdict === 'change').length;
  return [
    name,
    String(count),
    ...[0.5, 0.95, 0.99].map((share) => ms(percentile(took, share))),
    ms(Math.max(...took)),
    ['queue', 'decode', 'encode', 'caption', 'heatmap'].map((of) => `${of} ${stage(of)}`).join(', '),
    `${changed}`,
  ];
}

try {
  const rows = [];
  for (const one of CASES) rows.push(await measure(one));
  report(
    'latency',
    'Latency: two 1080p JPEGs to a finished answer at 2 requests/s',
    [
      ['frames', 'requests', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', 'median of the stages, ms', 'verdict change'],
      ...rows,
    ],
    [
      'The client runs on the same machine and takes its share of the cores.',
      'Two pairs in turn: the example pair enlarged, and its mirror image with the person pasted elsewhere.',
    ],
  );
} finally {
  await dispatcher.close();
  await service.stop();
}
