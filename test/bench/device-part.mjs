/**
 * Process of one part of bench device. A process of its own, because a run on a device that hangs cannot be cancelled,
 * and because the memory of a device is given back when the process ends.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { probe } from '../../scripts/lib/shell.mjs';
import { barePipeline } from './lib/bare-pipeline.mjs';
import { fresh, fullHdPairs } from './lib/pairs.mjs';
import { percentile } from './lib/percentile.mjs';
import { dist } from './lib/service.mjs';

const { loadConfig } = await dist('process/config.js');
const { createLogger } = await dist('process/logger.js');
const { chooseProvider, RUNTIME_VERSION } = await dist('model/session.js');
const { loadBundles } = await dist('pipeline/bundles.js');
const { Pipeline } = await dist('pipeline/compare.js');
const { startPool } = await dist('pipeline/start-pool.js');
const { GPU_THREADS } = await dist('inference/pool.js');

const { part, device, models, threads = 1, graphs = 'large', ...more } = JSON.parse(process.argv[2]);
const { seconds, pairs: file, count } = more;
const logger = createLogger({ level: 'error', name: 'bench' });
const dataDir = mkdtempSync(join(tmpdir(), 'sd-bench-'));
const given = loadConfig();
const config = {
  ...given,
  ...(models === undefined ? {} : { modelsDir: models }),
  ...{ device, strictDevice: true, inferenceThreads: threads, gpuGraphs: graphs, featureCacheMb: 0, dataDir },
};
const onCpu = device === 'cpu';
/** Seconds of a round of the warm-up of a GPU, and the most rounds. */
const [SHORT_ROUND, MOST_ROUNDS] = [0.5, 8];
const times = (took) => ({ p50: percentile(took, 0.5), p95: percentile(took, 0.95) });

async function timed(took, work) {
  const start = performance.now();
  const result = await work();
  took.push(performance.now() - start);
  return result;
}

/** The example pairs at 1080p, and `count` pairs of a file with `before` and `after` per line, spread over it. */
async function measuredPairs() {
  const examples = await fullHdPairs();
  if (file === undefined) return examples;
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const chosen = lines.filter(
    (_, i) => Math.floor((i * count) / lines.length) < Math.floor(((i + 1) * count) / lines.length),
  );
  const read = (path) => readFileSync(resolve(dirname(file), path));
  return [
    ...examples,
    ...chosen.map((line) => {
      const { before, after } = JSON.parse(line);
      return { before: read(before), after: read(after) };
    }),
  ];
}

/** @returns properties of the first GPU, as nvidia-smi names them; null without nvidia-smi */
function ofGpu(properties) {
  const { ok, output } = probe('nvidia-smi', [`--query-gpu=${properties}`, '--format=csv,noheader']);
  return ok ? output.split('\n')[0] : null;
}

/**
 * Rounds that are not measured. Each thread compiles its code at its own first runs. On a GPU it also opens a session
 * at the first run of each shape, so that short rounds follow until one is hardly faster than the one before.
 */
async function warmUp(round, many) {
  if (onCpu) return round(many);
  let [rate, before] = [await round(many, [], SHORT_ROUND), 0];
  for (let more = MOST_ROUNDS - 1; more > 0 && rate > 1.1 * before; more--) {
    [rate, before] = [await round(many, [], SHORT_ROUND), rate];
  }
}

const PARTS = {
  /** Whether the device opens a graph. */
  async open() {
    const [{ directory, manifest }] = await loadBundles(config.modelsDir, config.defaultModel, logger);
    const took = [];
    const probe = join(directory, manifest.graphs.features.file);
    const { provider } = await timed(took, () => chooseProvider(device, true, probe));
    return { provider, ms: took[0], runtime: RUNTIME_VERSION, gpu: ofGpu('name,driver_version,memory.total') };
  },

  /** The answer to each pair, of a pipeline that has all of them in flight. */
  async answers() {
    const pipeline = await Pipeline.start({ config, logger, onlyDefault: true });
    const pairs = await measuredPairs();
    const outputs = await Promise.all(pairs.map((pair) => pipeline.compare(pair)));
    return {
      answers: outputs.map(({ finding, heatmaps }) => ({
        verdict: finding.verdict,
        caption: finding.caption,
        confidence: finding.confidence,
        words: finding.words.map(({ score }) => score),
        regions: finding.regions.map(({ side, box, score }) => ({ side, box, score })),
        maps: heatmaps === null ? [] : [heatmaps.before, heatmaps.after].map(({ data }) => Array.from(data)),
      })),
    };
  },

  /** Time per run of each graph over the pairs, one task at a time. */
  async graphs() {
    const [bundle] = await loadBundles(config.modelsDir, config.defaultModel, logger);
    const took = {};
    const wrap = (name, graph) => {
      took[name] = [];
      return { ...graph, run: (feeds) => timed(took[name], () => graph.run(feeds)) };
    };
    const buckets = onCpu ? null : [1, 2, 4, 8];
    const pipeline = await barePipeline(bundle, config, { provider: device, buckets, wrap });
    const pairs = await measuredPairs();
    const round = async () => {
      for (const name of Object.keys(took)) took[name] = [];
      for (const pair of pairs) await pipeline.compare(pair);
      const run = Object.entries(took).filter(([, list]) => list.length > 0);
      return Object.fromEntries(run.map(([name, list]) => [name, { runs: list.length, ...times(list) }]));
    };
    // A device prepares each shape at its first run.
    const first = await round();
    return { pairs: pairs.length, first, again: await round() };
  },

  /** Pairs per second of the pipeline with its threads full, and the latency of one pair at a time. */
  async speed() {
    const began = performance.now();
    const options = { config, logger, onlyDefault: true };
    const { served, pool } = await startPool(options);
    const firstReady = performance.now() - began;
    while (pool.threads < threads + (onCpu ? 0 : GPU_THREADS)) await sleep(20);
    const allReady = performance.now() - began;
    const pipeline = await Pipeline.start(options, { served, pool });
    // As many as a worker takes.
    const inFlight = 2 * threads;
    const changed = await fullHdPairs();
    const unchanged = await Promise.all(
      changed.map(async ({ before }) => ({ before, after: await sharp(before).jpeg({ quality: 80 }).toBuffer() })),
    );
    const results = {};
    for (const [kind, pairs] of Object.entries({ changed, unchanged })) {
      let done = 0;
      let wrong = 0;
      const compare = async () => {
        const { before, after } = pairs[done++ % pairs.length];
        const { finding } = await pipeline.compare({ before: fresh(before), after: fresh(after) });
        if ((finding.verdict === 'change') !== (kind === 'changed')) wrong += 1;
      };
      /** Compares for `lasts` seconds with so many pairs in flight. @returns pairs per second */
      const round = async (many, took = [], lasts = seconds) => {
        const from = performance.now();
        const until = from + 1000 * lasts;
        const before = done;
        const one = async () => {
          while (performance.now() < until) await timed(took, compare);
        };
        await Promise.all(Array.from({ length: many }, one));
        return (1000 * (done - before)) / (performance.now() - from);
      };
      await warmUp(round, inFlight);
      if (!onCpu) await warmUp(round, 1);
      const single = [];
      await round(1, single);
      results[kind] = { perSecond: await round(inFlight), ...times(single), wrong };
    }
    const gpuMemory = onCpu ? null : ofGpu('memory.used');
    return { threads, inFlight, firstReady, allReady, ...results, gpuMemory };
  },
};

const result = await PARTS[part]().then(
  (figures) => ({ ok: true, ...figures }),
  (error) => ({ ok: false, reason: error.message }),
);
rmSync(dataDir, { recursive: true, force: true });
// Without closing the pipeline, so that a device which fails at its end loses no figures.
process.send(result, () => process.exit());
