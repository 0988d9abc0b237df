/**
 * `npm run bench -- model [--count=50] [--write]`: CPU time per stage of one changed 1080p pair, stage by stage on one
 * thread, beside the same pair through the pipeline with its threads and messages. CPU time is that of the whole
 * process, so that the decoder's own threads count.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fresh, fullHdPairs } from './lib/pairs.mjs';
import { ms, percentile, report } from './lib/report.mjs';
import { dist, numberOption } from './lib/service.mjs';

const count = numberOption('count', 50);
const WARM_UP = 5;
const { loadConfig } = await dist('process/config.js');
const { createLogger } = await dist('process/logger.js');
const { Captioner } = await dist('model/captioner.js');
const { resizeNormalised, fullFrame } = await dist('model/preprocess.js');
const { chooseRegionCrops, cropOfRegion, findRegions, toPixels } = await dist('model/regions.js');
const { openGraph } = await dist('model/session.js');
const { loadBundles } = await dist('pipeline/bundles.js');
const { Pipeline } = await dist('pipeline/compare.js');
const { wordHeatmaps } = await dist('pipeline/word-heatmaps.js');
const { composeSentence } = await dist('pipeline/sentence.js');
const { peopledRegions } = await dist('pipeline/people.js');
const { inBothDirections } = await dist('pipeline/both-directions.js');
const { describeLocations } = await dist('pipeline/statements.js');
const { mostProbableKind } = await dist('model/calibration.js');
const { decodeFrame } = await dist('frames/decode.js');
const { examine } = await dist('viewpoint/examine.js');

const logger = createLogger({ level: 'warn', name: 'bench' });
const dataDir = mkdtempSync(join(tmpdir(), 'sd-bench-'));
const config = { ...loadConfig(), dataDir };
const [bundle] = await loadBundles(config.modelsDir, config.defaultModel, logger);
const { manifest, directory } = bundle;

const rows = [];
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
let stages = 0;

/**
 * @param times how often a pair needs this stage; 0 = the row is not a stage
 * @returns the last result of `work`
 */
async function time(name, times, work) {
  const took = [];
  let cpu = 0;
  let result;
  for (let i = 0; i < WARM_UP + count; i++) {
    const [start, used] = [performance.now(), cpuMs()];
    result = await work();
    if (i < WARM_UP) continue;
    took.push(performance.now() - start);
    cpu += cpuMs() - used;
  }
  const ofPair = (cpu / count) * times;
  stages += ofPair;
  const wall = [0.5, 0.95].map((share) => ms(percentile(took, share)));
  rows.push([name, ...wall, ms(cpu / count), times === 0 ? '' : ms(ofPair)]);
  return result;
}

const { width, height } = manifest.input;
const decode = (bytes, side) =>
  decodeFrame(bytes, {
    field: side,
    pixelLimit: config.pixelLimit,
    allocate: (length) => new Uint8Array(new SharedArrayBuffer(length)),
  });
const image = (frame, box, w, h) => {
  const out = new Float32Array(3 * w * h);
  resizeNormalised(frame, box, w, h, manifest.input, out);
  return out;
};

const [pair] = await fullHdPairs();

async function measureStages() {
  const open = (name) => openGraph(join(directory, manifest.graphs[name].file), 'cpu');
  const captioner = new Captioner(
    bundle,
    {
      features: await open('features'),
      difference: await open('difference'),
      caption: await open('caption'),
      statements: await open('statements'),
      ...(manifest.names === undefined ? {} : { names: await open('names') }),
      ...(manifest.people === undefined ? {} : { people: await open('people') }),
      ...(manifest.check === undefined ? {} : { check: await open('check') }),
    },
    null,
  );
  await captioner.warmUpFrames();
  await captioner.warmUpWords();
  const after = await time('decode a frame', 2, () => decode(pair.after, 'after'));
  const before = await decode(pair.before, 'before');
  await time('evidence: registration, lighting, nuisances', 1, async () => examine(before, after));
  const resized = await time(`resize to ${width} x ${height}`, 2, async () =>
    image(after, fullFrame(after), width, height),
  );
  const [ofAfter] = await time('features of a frame', 2, () => captioner.encode([resized], height, width));
  const [ofBefore] = await captioner.encode([image(before, fullFrame(before), width, height)], height, width);
  const [difference] = await time('difference, both directions', 1, () =>
    captioner.difference([{ before: ofBefore, after: ofAfter }]),
  );
  const { exchanged } = difference;
  const maps = { before: difference.before, after: difference.after };
  const regions = await time('regions', 1, async () => findRegions(maps, manifest.regions));
  const crops = await measureCrops(captioner, { before, after }, regions);
  await time('caption: one row, by the graph of single rows', 0, () => captioner.caption([{ ...difference, crops }]));
  const people = await measureNames(captioner, { before, after }, crops);
  const run = async (sets, clauses) => {
    const outputs = await captioner.statements({
      ...{ given: difference, exchanged, crops, clauses },
      sets: sets.map((set) => set.map((crop) => crops.indexOf(crop))),
    });
    return sets.map((_, i) => inBothDirections(outputs[i], outputs[sets.length + i], manifest.kinds));
  };
  const strongest = crops.slice(0, manifest.glance?.regions ?? 0);
  const description = await time('caption: statements, both directions', 1, () =>
    describeLocations(crops, strongest, run, manifest),
  );
  const { joint: output } = description;
  const words = Math.max(...description.statements.map((one) => one.words.length));
  const kind = mostProbableKind(output.kindLogits ?? difference.kindLogits, manifest.kinds);
  await time('sentence and heatmaps of words', 1, async () =>
    wordHeatmaps(composeSentence(description, kind, regions, manifest), manifest.attention, difference.after),
  );
  if (manifest.check !== undefined) {
    const clause = manifest.vocabulary.slice(-12);
    for (const [count, times] of [
      [1, 1],
      [32, 0],
    ]) {
      const sentences = Array.from({ length: count }, () => clause);
      await time(`truth check: sentences of 12 words: ${count}`, times, () =>
        captioner.check({ ...difference, crops, sentences }),
      );
    }
  }
  await captioner.release();
  return { words, crops: crops.length, people };
}

/** Names of the crops, and the people of the regions whose names show some. @returns the number of these regions */
async function measureNames(captioner, frames, crops) {
  const { names: words, people: rule, glance } = manifest;
  if (words === undefined || crops.length === 0) return 0;
  const names = await time(`names of ${crops.length} crops`, 1, () => captioner.name(crops));
  const examined = rule === undefined ? [] : peopledRegions(crops, names, words);
  if (examined.length === 0) return 0;
  const look = async ({ side, ...region }) => {
    const { crop } = cropOfRegion({ side, ...region }, frames[side], { ...glance, ...rule });
    return captioner.people([image(frames[side], toPixels(crop, frames[side]), rule.size, rule.size)]);
  };
  await time('people of a region', examined.length, () => look(examined[0]));
  return examined.length;
}

async function measureCrops(captioner, frames, regions) {
  if (manifest.glance === null || regions.length === 0) return [];
  const { size } = manifest.glance;
  const chosen = chooseRegionCrops(regions, frames.before, manifest.glance);
  const images = (frame) => chosen.map(({ crop }) => image(frame, toPixels(crop, frame), size, size));
  const pixels = await time(`cut ${chosen.length} crops of ${size} x ${size}`, 2, async () => images(frames.after));
  const afters = await time(`features of ${chosen.length} crops`, 2, () => captioner.encode(pixels, size, size));
  const befores = await captioner.encode(images(frames.before), size, size);
  return chosen.map((crop, i) => ({ ...crop, before: befores[i], after: afters[i] }));
}

async function measurePipeline() {
  const pipeline = await Pipeline.start({ config, logger, onlyDefault: true });
  try {
    const compare = () => pipeline.compare({ before: fresh(pair.before), after: fresh(pair.after) });
    // Every thread compiles its code at its own first runs.
    for (let i = 0; i < 30; i++) await compare();
    const { finding } = await time('whole pair, one at a time, by the pipeline', 0, compare);
    if (finding.verdict !== 'change') throw new Error(`the verdict is ${finding.verdict}, expected change`);
  } finally {
    await pipeline.close();
  }
}

try {
  const { words, crops, people } = await measureStages();
  rows.push(['sum of the stages', '', '', '', ms(stages)]);
  await measurePipeline();
  report(
    'model',
    'Stages of a changed 1080p pair, each on one thread',
    [['stage', 'p50 ms', 'p95 ms', 'CPU-ms', 'CPU-ms per pair'], ...rows],
    [
      `${manifest.name} ${manifest.version} (sha256 ${bundle.sha256.slice(0, 12)}), ${count} runs each; the ` +
        `longest statement has ${words} words, ${crops} region crops per frame, ${people} regions with people. Every ` +
        'frame is new to the pipeline.',
    ],
  );
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
