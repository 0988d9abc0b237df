/**
 * `npm run bench -- model [--count=50] [--write]`: CPU time of a changed 1080p pair in each graph and outside of them,
 * by the pipeline in one thread, beside the pipeline with its threads and messages. CPU time is that of the whole
 * process, so that the decoder's own threads count.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { barePipeline } from './lib/bare-pipeline.mjs';
import { fresh, fullHdPairs } from './lib/pairs.mjs';
import { ms, percentile, report } from './lib/report.mjs';
import { dist, numberOption } from './lib/service.mjs';

const count = numberOption('count', 50);
const WARM_UP = 5;
const { loadConfig } = await dist('process/config.js');
const { createLogger } = await dist('process/logger.js');
const { loadBundles } = await dist('pipeline/bundles.js');
const { Pipeline } = await dist('pipeline/compare.js');
const { decodeFrame } = await dist('frames/decode.js');
const { examine } = await dist('viewpoint/examine.js');
const { serves } = await dist('inference/protocol.js');
const { collectAtOnce } = await dist('inference/garbage-collection.js');

/** Operation of the inference threads by its graph, where the names differ. */
const OPERATIONS = { features: 'encode', names: 'name', pair: 'embedPair', text: 'embedTexts' };

collectAtOnce(); // as the service does
const logger = createLogger({ level: 'warn', name: 'bench' });
const dataDir = mkdtempSync(join(tmpdir(), 'sd-bench-'));
const config = { ...loadConfig(), dataDir };
const [bundle] = await loadBundles(config.modelsDir, config.defaultModel, logger);
const pairs = await fullHdPairs();

/** @returns ms of processor time */
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Wall and processor time of each run, by what ran. */
const measured = new Map();
async function time(name, work) {
  const [start, used] = [performance.now(), cpuMs()];
  const result = await work();
  const runs = measured.get(name) ?? [];
  runs.push({ wall: performance.now() - start, cpu: cpuMs() - used });
  measured.set(name, runs);
  return result;
}

async function compareAll(pipeline, name) {
  for (let i = 0; i < WARM_UP + count; i++) {
    if (i === WARM_UP) measured.clear();
    const { before, after } = pairs[i % pairs.length];
    const pair = { before: fresh(before), after: fresh(after) };
    const { finding } = await time(name, () => pipeline.compare(pair));
    if (finding.verdict !== 'change') throw new Error(`the verdict is ${finding.verdict}, expected change`);
  }
}

const sum = (runs, of) => runs.reduce((total, run) => total + run[of], 0);
const ofPair = (runs) => sum(runs, 'cpu') / count;
const row = (name, runs) => {
  const walls = runs.map(({ wall }) => wall);
  const times = [percentile(walls, 0.5), percentile(walls, 0.95), sum(runs, 'cpu') / runs.length, ofPair(runs)];
  return [name, (runs.length / count).toFixed(1), ...times.map(ms)];
};

/** Stages outside of the graphs, alone. */
async function measureOutside() {
  const options = {
    field: 'frame',
    pixelLimit: config.pixelLimit,
    allocate: (length) => new Uint8Array(new SharedArrayBuffer(length)),
  };
  for (let i = 0; i < count; i++) {
    for (const side of ['before', 'after']) {
      await time('decoding', () => decodeFrame(pairs[i % pairs.length][side], options));
    }
  }
}

try {
  const wrap = (name, graph) => ({ ...graph, run: (feeds) => time(name, () => graph.run(feeds)) });
  const evidence = ({ before, after }) => time('registration, lighting and lens', async () => examine(before, after));
  const bare = await barePipeline(bundle, config, { wrap, evidence });
  await compareAll(bare, 'pair');
  const [runs, graphs] = [measured.get('pair'), Object.keys(bundle.manifest.graphs)];
  measured.delete('pair');
  const inGraphs = graphs.filter((name) => measured.has(name));
  const rows = [...measured].map(([name, stages]) => row(inGraphs.includes(name) ? `graph ${name}` : name, stages));
  const cpuOf = Object.fromEntries(inGraphs.map((name) => [name, ofPair(measured.get(name))]));
  const without = (of) => ofPair(runs) - inGraphs.filter(of).reduce((total, name) => total + cpuOf[name], 0);
  const onGpu = (setting) => (name) => serves('gpu', setting, OPERATIONS[name] ?? name);
  const rest = (name, cpu) => [name, '', '', '', '', ms(cpu)];
  measured.clear();
  await measureOutside();
  rows.push(row('decoding', measured.get('decoding')), row('whole pair, in one thread', runs));
  rows.push(
    rest(
      'of it outside of all graphs',
      without(() => true),
    ),
  );
  rows.push(rest('of it beside a GPU, `GPU_GRAPHS=large`', without(onGpu('large'))));
  rows.push(rest('of it beside a GPU, `GPU_GRAPHS=all`', without(onGpu('all'))));
  const pipeline = await Pipeline.start({ config, logger, onlyDefault: true });
  await compareAll(pipeline, 'pipeline').finally(() => pipeline.close());
  rows.push(row('whole pair, one at a time, by the pipeline', measured.get('pipeline')));
  report(
    'model',
    'A changed 1080p pair by graphs',
    [['', 'runs per pair', 'p50 ms', 'p95 ms', 'CPU-ms per run', 'CPU-ms per pair'], ...rows],
    [
      `${bundle.manifest.name} ${bundle.manifest.version} (sha256 ${bundle.sha256.slice(0, 12)}), ${count} pairs, two ` +
        'in turn. Every frame is new to the pipeline. Decoding was measured alone.',
    ],
  );
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
