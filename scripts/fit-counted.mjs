/**
 * `node scripts/fit-counted.mjs PAIRS.ndjson [--set=MORE.ndjson ...] [--bundle=NAME] [--write]`: from which score of
 * the change map a place counts as changed although its clause is too uncertain to be written ("and one more place has
 * changed"; `calibration.facts.counted` of the manifest). The pairs are labelled real ones: generated pairs have hardly
 * any false places. Prints the table, and writes it into the manifest with --write.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { startProgress } from '../dist/cli/progress.js';
import { loadConfig } from '../dist/config.js';
import { normalise, parsePairs } from '../dist/evaluation/pairs.js';
import { sharedArea } from '../dist/images.js';
import { createLogger } from '../dist/logger.js';
import { Pipeline } from '../dist/pipeline/compare.js';
import { readOptions } from './lib/options.mjs';
import { runMain } from './lib/shell.mjs';

const { values, positionals } = readOptions(
  { set: { type: 'string', multiple: true, default: [] }, bundle: { type: 'string' }, write: { type: 'boolean' } },
  { arguments: ['PAIRS.ndjson'] },
);
/** Share of the smaller box that a region and a labelled box have in common at least. */
const MIN_OVERLAP = 0.25;
const SCORES = [0, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95];

const area = ({ width, height }) => width * height;
const overlaps = (a, b) => sharedArea(a, b) > MIN_OVERLAP * Math.min(area(a), area(b));

/** The places of a changed pair whose clause is not certain enough, with whether something changed there. */
async function samplesOf(pair, folder, pipeline, describedBy, truth) {
  const files = [pair.frames.before, pair.frames.after].map((file) => join(folder, file));
  const [before, after] = files.map((file) => readFileSync(file));
  const described = await describedBy(() => pipeline.compare({ before, after }));
  const [first, second] = await Promise.all(files.map((file) => sharp(file).metadata()));
  const { boxes } = normalise(pair, { before: first, after: second });
  return (described?.statements ?? []).slice(1).flatMap(({ probability, regions }) => {
    if (probability >= truth) return [];
    const isTrue = regions.some(({ side, box }) => boxes[side].some((labelled) => overlaps(box, labelled)));
    return [{ score: Math.min(...regions.map(({ score }) => score)), isTrue }];
  });
}

/** Shares of true places from each score on, never falling; at a score of 1 all are taken as true. */
function tableOf(samples) {
  let least = 0;
  const measured = SCORES.map((score) => {
    const above = samples.filter((one) => one.score >= score);
    const right = above.filter(({ isTrue }) => isTrue).length;
    console.log(`from ${score}: ${right} of ${above.length} places changed`);
    least = Math.max(least, Number((right / Math.max(1, above.length)).toFixed(3)));
    return [least, score];
  }).filter(([share], i, all) => i === 0 || share > all[i - 1][0]);
  return least < 1 ? [...measured, [1, 1]] : measured;
}

await runMain(async () => {
  const settings = loadConfig();
  const config = { ...settings, defaultModel: values.bundle ?? settings.defaultModel };
  let described = null;
  const pipeline = await Pipeline.start({
    ...{ config, logger: createLogger({ level: 'silent', name: 'fit' }), onlyDefault: true, warmUp: false },
    onDescribed: (description) => {
      described = description;
    },
  });
  const describedBy = async (compare) => {
    described = null;
    await compare();
    return described;
  };
  const samples = [];
  for (const file of [...positionals, ...values.set]) {
    const pairs = parsePairs(readFileSync(file, 'utf8'), file).filter(({ changed }) => changed);
    const progress = startProgress(pairs.length, 'pairs');
    for (const pair of pairs) {
      samples.push(...(await samplesOf(pair, dirname(file), pipeline, describedBy, config.truth)));
      progress.step();
    }
    progress.end();
  }
  await pipeline.close();
  const counted = tableOf(samples);
  console.log(JSON.stringify(counted));
  if (!values.write) return;
  const path = join(config.modelsDir, config.defaultModel, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  const facts = { ...manifest.calibration.facts, counted };
  writeFileSync(path, `${JSON.stringify({ ...manifest, calibration: { ...manifest.calibration, facts } }, null, 1)}\n`);
});
