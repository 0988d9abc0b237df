/**
 * `npm run test:hostile [-- --images=3000 --seed=1 --default-bundle | --short | --self-test]`: sends generated hostile
 * images to a service of its own, and bombs eight at a time. README.md in this folder says what is generated and what
 * is a fault.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readOptions } from '../../scripts/lib/options.mjs';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { mb } from '../bench/lib/report.mjs';
import { startService } from '../bench/lib/service.mjs';
import { BOMBS } from './lib/bombs.mjs';
import { solidPng } from './lib/encoders.mjs';
import { hostileImages } from './lib/images.mjs';
import { makeCamera, startFrameServer, waysToSend } from './lib/send.mjs';
import { watch } from './lib/watch.mjs';

const MiB = 1024 * 1024;
/** Bounds of the memory with the small bundle, above the peaks of the runs in README.md. */
const MEMORY = { api: 1024 * MiB, worker: 1536 * MiB };
/** Bound of the worker in the self-test: a worker at rest has less, one that holds an interlaced PNG has more. */
const SELF_TEST_MEMORY = { ...MEMORY, worker: 300 * MiB };
/**
 * Processor time of API and worker for one image, which does not depend on other programs as wall time does: twice what
 * an interlaced PNG of 16 bits takes on a common machine.
 */
const LONGEST_SECONDS = 3;
/** As LONGEST_SECONDS, in the self-test, whose slow image takes two to three seconds. */
const SELF_TEST_SECONDS = 1;
const BOMBS_AT_ONCE = 8;
const SHORT = { images: 150, bombs: 16 };
const FULL = { images: 3000, bombs: 72 };

const SMALL_BUNDLE = {
  MODELS_DIR: resolve(ROOT, 'test/fixtures'),
  DEFAULT_MODEL: 'bundle-tiny',
  INFERENCE_THREADS: '1',
};
const ENVIRONMENT = {
  OUTBOUND_ALLOW: '127.0.0.0/8',
  MALLOC_ARENA_MAX: '2',
};

const { values } = readOptions({
  images: { type: 'string' },
  seed: { type: 'string', default: '1' },
  short: { type: 'boolean', default: false },
  'default-bundle': { type: 'boolean', default: false },
  'self-test': { type: 'boolean', default: false },
});

/** Findings of a run. `faults` has one line each. */
class Findings {
  faults = [];
  images = 0;
  errors = 0;
  slowest = { ms: 0, name: 'none' };
  costliest = { seconds: 0, name: 'none' };

  /** @param {HostileImage} image @param seconds of processor time; undefined if others ran at the same time */
  add(image, way, { status, text }, ms, seconds) {
    const name = `${image.name} (${way})`;
    this.images++;
    if (ms > this.slowest.ms) this.slowest = { ms, name };
    if (seconds > this.costliest.seconds) this.costliest = { seconds, name };
    const slow = seconds > (values['self-test'] ? SELF_TEST_SECONDS : LONGEST_SECONDS);
    if (status >= 500) this.errors++;
    if (status >= 500 || status === 202 || slow) {
      const what = slow ? `${seconds.toFixed(1)} s of processor time` : `${status} ${text.slice(0, 300)}`;
      this.faults.push(`${name}: ${what}; kept as ${keep(image)}`);
    }
  }

  end({ restarts, peaks }) {
    if (restarts > 0) this.faults.push(`${restarts} restarts`);
    const bounds = values['self-test'] ? SELF_TEST_MEMORY : MEMORY;
    for (const [name, bytes] of Object.entries(peaks)) {
      if (!values['default-bundle'] && bytes > bounds[name])
        this.faults.push(`${name}: ${mb(bytes)}, expected at most ${mb(bounds[name])}`);
    }
    const { slowest, costliest } = this;
    return (
      `${this.images} images, ${this.errors} x 5xx, ${restarts} restarts, peak memory api ${mb(peaks.api)} and ` +
      `worker ${mb(peaks.worker)}, slowest answer ${(slowest.ms / 1000).toFixed(1)} s (${slowest.name}), most ` +
      `processor time ${costliest.seconds.toFixed(2)} s (${costliest.name})`
    );
  }
}

/** Keeps an image that showed a fault, so that it can be sent again. @returns its path */
function keep({ name, bytes }) {
  const file = join('tmp', 'hostile', name.replace(/[^a-z0-9]+/gi, '-').slice(0, 80));
  mkdirSync(join(ROOT, 'tmp', 'hostile'), { recursive: true });
  writeFileSync(join(ROOT, file), bytes);
  return file;
}

async function timed(work) {
  const start = performance.now();
  // A connection that is cut is a fault like an answer of 5xx.
  const answer = await work().catch((error) => ({ status: 599, text: error.message }));
  return { answer, ms: performance.now() - start };
}

/** Sends the images one after the other, so that the processor time of each is known, in all ways in turn. */
async function sendAll(images, ways, watched, findings) {
  const names = Object.keys(ways);
  let i = 0;
  for await (const image of images) {
    const way = names[i++ % names.length];
    const before = watched.processorSeconds();
    const { answer, ms } = await timed(() => ways[way](image));
    findings.add(image, way, answer, ms, watched.processorSeconds() - before);
    if (i % 250 === 0) console.error(`${i} images`);
  }
}

/** Sends bombs, as both frames of a pair and to a masked camera, eight at a time. */
async function sendBombs(count, ways, findings) {
  const names = Object.keys(BOMBS);
  let begun = 0;
  const sender = async () => {
    while (begun < count) {
      const i = begun++;
      const name = names[i % names.length];
      const image = { name: `bomb ${i}: ${name}`, bytes: await BOMBS[name](), type: 'image/jpeg' };
      const way = i % 4 === 3 ? 'masked camera' : 'both frames';
      const { answer, ms } = await timed(() => ways[way](image));
      findings.add(image, way, answer, ms);
    }
  };
  await Promise.all(Array.from({ length: BOMBS_AT_ONCE }, sender));
}

async function withService(env, work) {
  const bundle = values['default-bundle'] ? {} : SMALL_BUNDLE;
  const service = await startService({ env: { ...ENVIRONMENT, ...bundle, ...env } });
  const server = await startFrameServer();
  const findings = new Findings();
  try {
    await makeCamera(service.url);
    const ways = waysToSend({ url: service.url, good: solidPng(96, 64), server });
    const watched = watch(service.pid);
    console.error(`worker after its start: ${mb(watched.peak('worker'))}`);
    await work({ service, ways, watched, findings });
    const { answer } = await timed(() => ways.form({ bytes: solidPng(96, 64), type: 'image/png' }));
    if (answer.status !== 200) findings.faults.push(`afterwards a good pair is answered ${answer.status}`);
    const line = findings.end(watched.end());
    return { findings, line };
  } finally {
    server.close();
    await service.stop();
  }
}

async function run() {
  const size = values.short ? SHORT : { ...FULL, images: Number(values.images ?? FULL.images) };
  const { findings, line } = await withService({}, async ({ ways, watched, findings }) => {
    await sendAll(hostileImages(Number(values.seed), size.images), ways, watched, findings);
    await sendBombs(size.bombs, ways, findings);
  });
  for (const fault of findings.faults) console.log(`fault: ${fault}`);
  console.log(line);
  return findings.faults.length === 0;
}

/** Faults that are planted, each with the line that the test must report. */
const PLANTED = {
  'a slow image': /s of processor time/,
  'much memory': /^worker: \d+ MB, expected/,
  'an answer of 503': /: 503 /,
  'a killed worker': /restarts/,
};

/** Runs against a service with the pixel limit lifted, a Redis that stops, and a worker that is killed. */
async function selfTest() {
  const env = { PIXEL_LIMIT: '268000000', DECODE_TIMEOUT: '60' };
  const { findings } = await withService(env, async ({ service, ways, watched, findings }) => {
    const large = (depth, side, interlaced) => {
      const bytes = solidPng(side, side, { depth, colourType: 6, interlaced });
      return { name: `png ${side}x${side}`, bytes, type: 'image/png' };
    };
    await sendAll([large(16, 16_000, false), large(16, 4_000, true)], { form: ways.form }, watched, findings);
    process.kill(service.pid('redis'), 'SIGSTOP');
    await sendAll([large(8, 64, false)], { form: ways.form }, watched, findings);
    process.kill(service.pid('redis'), 'SIGCONT');
    const worker = service.pid('worker');
    process.kill(worker, 'SIGKILL');
    while (service.pid('worker') === worker) await new Promise((resolve) => setTimeout(resolve, 50));
  });
  const missed = Object.entries(PLANTED).filter(([, line]) => !findings.faults.some((fault) => line.test(fault)));
  for (const fault of findings.faults) console.log(`found: ${fault}`);
  for (const [name] of missed) console.log(`not found: ${name}`);
  const planted = Object.keys(PLANTED).length;
  console.log(`self-test: ${planted - missed.length} of ${planted} planted faults found`);
  return missed.length === 0;
}

const passed = await (values['self-test'] ? selfTest() : run());
process.exitCode = passed ? 0 : 1;
