/**
 * `npm run bench -- budget --data=FOLDER [--write]`: whether alarm budgets hold per camera, with the bundle's
 * operating points as they are and with those of the camera's own frames (ADR 24). FOLDER has pairs.ndjson of
 *
 *     python -m training.worlds streams --out FOLDER
 *
 * and predictions.ndjson of `bin/scenedelta.js evaluate FOLDER/pairs.ndjson --predictions FOLDER/predictions.ndjson`.
 *
 * Half of a camera's unchanged frames are counted, with one changed frame after nine of them and without labels; the
 * other half is judged at the threshold that follows. Then the halves change places.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { thresholdFor } from '../../dist/camera/settings/alarm-budget.js';
import { countConfidence, rateRatio, scaledPoints } from '../../dist/camera/settings/rate-ratio.js';
import { ndjson } from '../../dist/lab/figures/pairs.js';
import { readOptions } from '../../scripts/lib/options.mjs';
import { Stop } from '../../scripts/lib/shell.mjs';
import { report } from './lib/report.mjs';

const { values } = readOptions({
  data: { type: 'string' },
  bundle: { type: 'string', default: 'models/scorer-surveillance' },
  write: { type: 'boolean' },
});
if (values.data === undefined) throw new Stop('--data is missing, expected a folder with pairs and predictions');
const POINTS = JSON.parse(readFileSync(join(values.bundle, 'manifest.json'), 'utf8')).calibration.operating_points;
/** Accepted false alarms per frame: 2 per day are .0002 with a frame per 10 s, and .014 with one per 10 min. */
const RATES = [0.0002, 0.001, 0.005, 0.014];
/** Unchanged frames to one changed frame among those that are counted. */
const UNCHANGED_PER_CHANGED = 9;

/** @returns per camera the confidences of its unchanged and of its changed frames */
function camerasOf(folder) {
  const read = (file) => ndjson(readFileSync(join(folder, file), 'utf8'), file).map(({ value }) => value);
  const confidence = new Map(read('predictions.ndjson').map((answer) => [answer.id, answer.confidence]));
  const cameras = new Map();
  for (const { id, scene, verdict } of read('pairs.ndjson')) {
    const camera = cameras.get(scene) ?? { unchanged: [], changed: [] };
    camera[verdict === 'none' ? 'unchanged' : 'changed'].push(confidence.get(id));
    cameras.set(scene, camera);
  }
  return [...cameras.values()];
}

const countsOf = (confidences) =>
  confidences.reduce(
    (counts, confidence) => countConfidence(counts, { verdict: 'none', confidence }, POINTS),
    undefined,
  );

/** One changed frame after every nine unchanged ones, as long as there are any. */
const mixed = (unchanged, changed) =>
  unchanged.flatMap((confidence, i) => {
    const next = (i + 1) % UNCHANGED_PER_CHANGED === 0 ? changed[(i + 1) / UNCHANGED_PER_CHANGED - 1] : undefined;
    return next === undefined ? [confidence] : [confidence, next];
  });

/** @returns per camera and half: the frames that are judged, and the operating points by the other half */
const foldsOf = ({ unchanged, changed }) =>
  [0, 1].map((fold) => {
    const half = (all, taken) => all.slice(...(taken === 0 ? [0, all.length / 2] : [all.length / 2]));
    const counts = countsOf(mixed(half(unchanged, 1 - fold), half(changed, 1 - fold)));
    return {
      unchanged: half(unchanged, fold),
      changed: half(changed, fold),
      ofCamera: scaledPoints(POINTS, rateRatio(counts, POINTS)),
    };
  });

const percent = (share) => `${(100 * share).toFixed(2)} %`;

function row(rate, name, folds, pointsOf) {
  let [alarms, found, unchanged, changed, over] = [0, 0, 0, 0, 0];
  for (const fold of folds) {
    const { threshold } = thresholdFor(rate, 1, pointsOf(fold));
    const reach = (all) => all.filter((confidence) => confidence >= threshold).length;
    const false_ = reach(fold.unchanged);
    alarms += false_;
    found += reach(fold.changed);
    unchanged += fold.unchanged.length;
    changed += fold.changed.length;
    // More than the largest number that a rate as promised gives in 99 of 100 folds.
    if (false_ > mostByChance(rate * fold.unchanged.length)) over++;
  }
  return [percent(rate), name, percent(alarms / unchanged), percent(found / changed), percent(over / folds.length)];
}

/** @returns the 99th percentile of a Poisson distribution */
function mostByChance(mean) {
  let [probability, sum, count] = [Math.exp(-mean), Math.exp(-mean), 0];
  while (sum < 0.99) {
    count++;
    probability *= mean / count;
    sum += probability;
  }
  return count;
}

const cameras = camerasOf(values.data);
const folds = cameras.flatMap(foldsOf);
const rows = RATES.flatMap((rate) => [
  row(rate, 'of the bundle', folds, () => POINTS),
  row(rate, 'of the camera', folds, ({ ofCamera }) => ofCamera),
]);
report(
  'budget',
  'Alarm budgets: false alarms and changes found',
  [['accepted', 'operating points', 'false alarms', 'changes found', 'halves with more'], ...rows],
  [
    `${cameras.length} made cameras, ${cameras.flatMap(({ unchanged }) => unchanged).length} unchanged and ` +
      `${cameras.flatMap(({ changed }) => changed).length} changed frames; shares of frames, before confirmation.`,
    'A half of a camera has more false alarms than accepted if fewer than one in a hundred would by chance.',
    'Nuisances of different frames are drawn independently, whereas real ones last.',
  ],
);
