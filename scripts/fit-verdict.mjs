/**
 * `npm run fit:verdict -- --data=FOLDER [--bundle=models/scorer-surveillance] [--count=400]`: fits how that bundle's belief and the
 * viewpoint's evidence become one verdict, on pairs made of plates and sprites, and writes verdict.json into the bundle. To be
 * run again whenever the bundle's weights, its manifest's calibration or src/viewpoint/fitted.json change. The development pairs choose nothing.
 *
 * With `--align-from=PIXELS` (at 640 px width) nothing is fitted: the bundle keeps its own calibration and decides alone, of frames
 * that are aligned where the camera moved by as much. What to give is read off `npm run bench:viewpoint`.
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startProgress } from '../dist/cli/progress.js';
import { seededRandom } from '../dist/evaluation/random.js';
import { loadBundle } from '../dist/model/manifest.js';
import { calibrationSha256, RULE_FILE } from '../dist/pipeline/nuisance-fusion.js';
import { examine } from '../dist/viewpoint/examine.js';
import { logitOf, NUISANCES } from '../dist/viewpoint/scores.js';
import { crossFitted, fitLogistic, sigmoid } from './lib/logistic.mjs';
import { alignedTo, openLook } from './lib/look.mjs';
import { MIXED, madePair, NUISANCE_VARIANTS, openMaterial } from './lib/made-pairs.mjs';
import { dataFolder, onlyOptions, option } from './lib/options.mjs';
import { ROOT } from './lib/shell.mjs';

onlyOptions('--data=', '--bundle=', '--count=', '--align-from=');
const count = Number(option('count', '400'));
const folder = resolve(ROOT, option('bundle', 'models/scorer-surveillance'));
const given = option('align-from', '');
if (given !== '') {
  await keepCalibration(Number(given));
  process.exit(0);
}
const material = openMaterial(dataFolder());
/** Pixels at 640 px width; null = frames are never aligned. */
const ALIGN_FROM = [null, 2, 4, 8, 16];
const TIE = 0.01;
const RATES = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1];
const DEFAULT_RATE = 0.02;
const PRECISION = 0.9;

const variants = [null, null, ...Object.keys(NUISANCE_VARIANTS), 'shift', 'roll', 'zoom'];
const look = await openLook(folder);
const { manifest, sha256 } = look.bundle;
const samples = [];
const progress = startProgress(count, 'pairs');
for (let i = 0; i < count; i++) {
  const random = seededRandom(`fit-verdict ${i}`);
  const changes = random.uniform(0, 1) < 0.5;
  const pair = await madePair(material, variants[i % variants.length], changes, MIXED, random);
  const { nuisances, registration } = examine(pair.before, pair.after);
  const before = await look.encode(pair.before);
  const asItIs = await look.compare(before, await look.encode(pair.after));
  const displacement = registration?.displacement ?? 0;
  const aligned =
    displacement * 640 < ALIGN_FROM[1]
      ? asItIs
      : await look.compare(before, await look.encode(alignedTo(pair.before, pair.after, registration)));
  const { place, changed, nuisance } = pair;
  samples.push({ place, changed, nuisance, nuisances, displacement, asItIs, aligned });
  progress.step();
}
progress.end();
await look.release();

const places = samples.map(({ place }) => place);
const changed = samples.map((s) => s.changed);
const seen = (s, from) => (from !== null && 640 * s.displacement >= from ? s.aligned : s.asItIs);
const rowsFor = (from) =>
  samples.map((s) => [seen(s, from).changeLogit, ...NUISANCES.map((name) => logitOf(s.nuisances[name]))]);
const CALIBRATED = { balanced: false, ridge: 3 };

/** Share of unchanged pairs that are at least as probable as the most certain `recall` of the changed ones. */
function falseAlarms(scores, recall) {
  const hits = scores.filter((_, i) => changed[i]).sort((a, b) => b - a);
  const threshold = hits[Math.ceil(recall * hits.length) - 1];
  const quiet = scores.filter((_, i) => !changed[i]);
  return quiet.filter((score) => score >= threshold).length / quiet.length;
}
/** Probability that a changed pair scores above an unchanged one. */
function auroc(scores) {
  const [hits, quiet] = [scores.filter((_, i) => changed[i]), scores.filter((_, i) => !changed[i])];
  const wins = hits.reduce((sum, h) => sum + quiet.filter((q) => q < h).length, 0);
  return wins / (hits.length * quiet.length);
}

const alone = samples.map(
  (s) => manifest.calibration.change.scale * s.asItIs.changeLogit + manifest.calibration.change.offset,
);
const recall =
  alone.filter((logit, i) => changed[i] && sigmoid(logit) >= manifest.calibration.threshold).length /
  changed.filter(Boolean).length;
const policies = ALIGN_FROM.map((from) => {
  const scores = crossFitted(rowsFor(from), changed, places, CALIBRATED);
  return { from, scores, rate: falseAlarms(scores, recall), area: auroc(scores) };
});
// Aligning costs a second run of the graphs: the least of it whose false alarms are within a point of the fewest.
const fewest = Math.min(...policies.map(({ rate }) => rate));
const chosen = policies
  .filter(({ rate }) => rate <= fewest + TIE)
  .sort((a, b) => (b.from ?? Number.POSITIVE_INFINITY) - (a.from ?? Number.POSITIVE_INFINITY))[0];
const percent = (value) => `${(100 * value).toFixed(2)} %`;
const name = (from) => (from === null ? 'never aligned' : `aligned from ${from} px on`);
const figures = [
  `${count} pairs of ${new Set(places).size} places; figures are of places not fitted on, false alarms at the model's own recall of ${percent(recall)}`,
  `model alone: false alarms ${percent(falseAlarms(alone, recall))}, AUROC ${auroc(alone).toFixed(4)}`,
  ...policies.map(
    ({ from, rate, area }) =>
      `with evidence, ${name(from)}: false alarms ${percent(rate)}, AUROC ${area.toFixed(4)}`,
  ),
  `chosen: ${name(chosen.from)}`,
];

const round = (value) => Number(value.toPrecision(5));
const whole = fitLogistic(rowsFor(chosen.from), changed, CALIBRATED);
const probabilities = chosen.scores.map(sigmoid);
const point = (rate) => {
  const quiet = probabilities.filter((_, i) => !changed[i]).sort((a, b) => b - a);
  const threshold = Math.min(1, (quiet[Math.floor(rate * quiet.length)] ?? 0) + 1e-6);
  const hits = probabilities.filter((_, i) => changed[i]);
  return {
    false_alarm_rate: rate,
    threshold: round(threshold),
    recall: round(hits.filter((p) => p >= threshold).length / hits.length),
  };
};
const operatingPoints = RATES.map(point);

const nuisances = {};
for (const nuisance of NUISANCES) {
  const index = manifest.nuisances.indexOf(nuisance);
  const rows = samples.map((s) => [
    index < 0 ? 0 : seen(s, chosen.from).nuisanceLogits[index],
    logitOf(s.nuisances[nuisance]),
  ]);
  const truths = samples.map((s) => s.nuisance === nuisance);
  const scores = crossFitted(rows, truths, places, { ridge: 1 }).map(sigmoid);
  const { offset, weights } = fitLogistic(rows, truths, { ridge: 1 });
  nuisances[nuisance] = {
    offset: round(offset),
    model: round(weights[0]),
    evidence: round(weights[1]),
    threshold: precise(scores, truths),
  };
}

/** The rule that says of every pair what the bundle says of it alone, but aligns frames from `pixels` on. */
async function keepCalibration(pixels) {
  if (!(pixels >= 0 && pixels <= 640))
    throw new RangeError(`--align-from is ${given}, expected 0 to 640 pixels`);
  const { manifest, sha256 } = await loadBundle(folder);
  const { change, threshold, operating_points } = manifest.calibration;
  save({
    format: 'scenedelta-verdict/1',
    bundle_sha256: sha256,
    calibration_sha256: calibrationSha256(manifest),
    align_from: pixels / 640,
    change: { offset: change.offset, model: change.scale, weights: {} },
    threshold,
    operating_points: operating_points ?? [],
    nuisances: {},
    fitted: {
      command: `npm run fit:verdict -- --align-from=${pixels}`,
      figures: [
        "the bundle's own calibration; alignment by the development pairs, see test/bench/RESULTS.md",
      ],
    },
  });
}

/** The lowest threshold from 0.5 on at which PRECISION of those named are true. */
function precise(scores, truths) {
  for (let threshold = 0.5; threshold < 0.99; threshold += 0.01) {
    const said = scores.flatMap((score, i) => (score >= threshold ? [truths[i]] : []));
    if (said.length > 0 && said.filter(Boolean).length / said.length >= PRECISION) return round(threshold);
  }
  return 0.99;
}

console.log(figures.join('\n'));
save({
  format: 'scenedelta-verdict/1',
  bundle_sha256: sha256,
  calibration_sha256: calibrationSha256(manifest),
  align_from: chosen.from === null ? null : chosen.from / 640,
  change: {
    offset: round(whole.offset),
    model: round(whole.weights[0]),
    weights: Object.fromEntries(NUISANCES.map((name, k) => [name, round(whole.weights[k + 1])])),
  },
  threshold: operatingPoints[RATES.indexOf(DEFAULT_RATE)].threshold,
  operating_points: operatingPoints,
  nuisances,
  fitted: { command: `npm run fit:verdict -- --data=FOLDER --count=${count}`, figures },
});

function save(rule) {
  writeFileSync(join(folder, RULE_FILE), `${JSON.stringify(rule, null, 1)}\n`);
  console.log(`written to ${join(folder, RULE_FILE)}`);
}
