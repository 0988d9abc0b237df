/**
 * `npm run fit:viewpoint -- --data=FOLDER [--count=3000] [--bundle=models/scorer-surveillance] [--keep=FILE]`: chooses every
 * threshold and weight of src/viewpoint/fitted.json on pairs made of plates and sprites, and says what they reach on places that
 * they were not fitted on. The development pairs choose nothing. What was measured is kept in FILE, so that a run that was cut
 * short goes on; the file is of no use any more once what is measured changes. Nuisances are fitted on pairs of whole plates whose
 * frames were exposed and coded alike, tampering on pairs that also show bare places and drift. With --tampering the weights of
 * the nuisances stay as they are; with --joint those of tampering do too, and only the rule that joins the evidence with the features
 * is fitted: enough, and with fewer pairs, for another backbone.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startProgress } from '../dist/cli/progress.js';
import { seededRandom } from '../dist/evaluation/random.js';
import { loadBundle } from '../dist/model/manifest.js';
import { examine, isBare } from '../dist/viewpoint/examine.js';
import { FITTED } from '../dist/viewpoint/fitted.js';
import { MEASUREMENTS } from '../dist/viewpoint/measure.js';
import { LEAST_CORNERS } from '../dist/viewpoint/register.js';
import { logitOf, NUISANCES, scoreOf, TAMPERS } from '../dist/viewpoint/scores.js';
import { boundsBy, crossFitted, fitLogistic, sigmoid } from './lib/logistic.mjs';
import { NUISANCE_VARIANTS, openMaterial, sourcesOf, VARIANTS } from './lib/made-pairs.mjs';
import { dataFolder, readOptions } from './lib/options.mjs';
import { ROOT } from './lib/shell.mjs';
import { inThreads } from './lib/threads.mjs';
import { grain } from './lib/variants.mjs';

const { values } = readOptions({
  data: { type: 'string' },
  bundle: { type: 'string', default: 'models/scorer-surveillance' },
  count: { type: 'string', default: '3000' },
  keep: { type: 'string', default: '' },
  joint: { type: 'boolean', default: false },
  tampering: { type: 'boolean', default: false },
});
const { keep, joint: jointOnly } = values;
const count = Number(values.count);
const folder = dataFolder(values.data);
const bundleFolder = resolve(ROOT, values.bundle);
const nuisancesStay = jointOnly || values.tampering;
const { name: bundleName, version, calibration } = (await loadBundle(bundleFolder)).manifest;
const least = calibration.least_agreement;
if (least === undefined)
  throw new Error(
    `${bundleFolder} has no calibration.least_agreement, expected a bundle that tells places apart`,
  );
/** Two views that share nothing agree by chance on fewer corners than this, but for one pair in a hundred; three times that is asked for. */
const CHANCE = 0.99;
const SAFETY = 3;
/** A similarity has four unknowns and two corners carry it; what four times as many do not carry is no measured motion. */
const LEAST_BORNE = 8;
/** A name is given where nine of ten such names are true. */
const PRECISION = 0.9;
/** Share of pairs without tampering that one class of tampering may accuse. */
const FALSE_TAMPER = 0.002;

/** Share of the pairs with a tampering whose features agree no more than is let through: the rest is not found. */
const KEPT_BY_AGREEMENT = 0.98;
/** More than two frames can agree: in the dark there is nothing that features could contradict. */
const ANY = 2;
/** A covered lens and a turned camera show another place, which the features see; out of focus and in the dark it is the same one. */
const ANOTHER_PLACE = ['blocked', 'turned'];
/** Margin of the agreement that 199 of 200 pairs of one place keep: what shows the same place is neither covered nor turned away. */
const ONE_PLACE = 0;
/** Where the features agree with it, evidence for one of four ways of tampering need not be more than even among them. */
const LEAST_JOINT_SCORE = 0.25;

/** What tampering is told by; the rest (colour, streaks, blocks, ...) would only be learned by heart. */
const OF_TAMPERING = [
  ...[
    'refused',
    'displacement',
    'hidden',
    'structure_kept',
    'structure_lost',
    'structure_new',
    'covered',
    'detailed',
    'level_kept',
    'correlation',
  ],
  ...['coarse_correlation', 'detail_ratio', 'detail_ratio_best', 'flat_gained', 'dark_after', 'dark_fall'],
  ...['contrast_after', 'contrast_fall', 'sharpness_fall', 'changed_share', 'tone_kept'],
  ...['edge_change', 'edge_before', 'edge_after'],
];
/** Softness only says that a camera is out of focus: by it, the others would be told from that alone. */
const inputsOf = (name) => (name === 'defocused' ? [...OF_TAMPERING, 'edge_soft'] : OF_TAMPERING);
/** What only tampering is told by; it tells nothing more of nuisances. */
const OF_TAMPERING_ALONE = ['tone_kept', 'edge_change', 'edge_before', 'edge_after', 'edge_soft'];
const OF_NUISANCES = MEASUREMENTS.filter((name) => !OF_TAMPERING_ALONE.includes(name));
/** Whether the camera moved is a matter of where things are, whatever the light does. */
const OF_MOTION = ['refused', 'displacement', 'hidden'];
const RIDGE = 3;

const unaltered = [null, null, null];
const inTurn = (length, variants, alike) =>
  Array.from({ length }, (_, index) => ({ index, variant: variants[index % variants.length], alike }));
const variants = [...unaltered, ...Object.keys(VARIANTS)];
const untampered = [...unaltered, ...Object.keys(NUISANCE_VARIANTS)];
const all = await measured([
  ...inTurn(count, variants, false),
  // As many of each variant as there are with tampering among them.
  ...(nuisancesStay
    ? []
    : inTurn(Math.round((count * untampered.length) / variants.length), untampered, true)),
]);
const samples = all.filter(({ alike }) => !alike);
const alikes = all.filter(({ alike }) => alike);

/** @returns one sample an item: from the file of `--keep`, as far as it has them, else made and measured now */
async function measured(items) {
  const kept = new Map();
  if (keep !== '' && existsSync(keep))
    for (const line of readFileSync(keep, 'utf8').trim().split('\n')) {
      const sample = JSON.parse(line);
      kept.set(keyOf(sample), sample);
    }
  const missing = items.filter((item) => !kept.has(keyOf(item)));
  const progress = startProgress(missing.length, 'pairs');
  const thread = new URL('./lib/made-samples.mjs', import.meta.url);
  await inThreads(thread, missing, { folder, bundle: bundleFolder }, (sample) => {
    kept.set(keyOf(sample), sample);
    if (keep !== '') appendFileSync(keep, `${JSON.stringify(sample)}\n`);
    progress.step();
  });
  progress.end();
  return items.map((item) => kept.get(keyOf(item)));
}
function keyOf({ index, alike }) {
  return `${alike ? 'alike' : 'mixed'} ${index}`;
}

/** Noise has corners everywhere, and none of them in two frames. */
const noiseOnly = Array.from({ length: nuisancesStay ? 0 : 40 }, (_, i) => {
  const random = seededRandom(`noise only ${i}`);
  const grey = { width: 544, height: 408, data: new Uint8Array(544 * 408 * 3).fill(random.uniform(20, 230)) };
  const [before, after] = [0, 1].map(() => grain(grey, random.uniform(5, 60), random));
  return examine(before, after, { ...FITTED, leastInliers: 1 }).registration?.inliers ?? 0;
});
const unrelated = [
  ...samples.filter(({ variant }) => variant === 'turned').map(({ inliers }) => inliers),
  ...noiseOnly,
];
unrelated.sort((a, b) => a - b);
const leastInliers = nuisancesStay
  ? FITTED.leastInliers
  : Math.max(LEAST_BORNE, Math.ceil(SAFETY * (unrelated[Math.floor(CHANCE * (unrelated.length - 1))] + 1)));
console.log(
  `unrelated views agree on at most ${unrelated.at(-1)} corners (${unrelated.length} pairs): leastInliers ${leastInliers}`,
);

/** Places are halved once: what is fitted on one half, thresholds included, is tried on the other. */
const places = [...new Set(all.map(({ place }) => place))].sort();
for (const sample of all) {
  sample.half = places.indexOf(sample.place) % 2;
  if (sample.inliers < leastInliers) sample.measurements = sample.measurementsIfRefused;
  // Of a place that shows nothing, no tampering is claimed (examine.ts): it is not fitted on either.
  sample.judgeable = sample.corners >= LEAST_CORNERS;
  sample.bounded = isBare(sample.measurements) ? 'bareThreshold' : 'threshold';
}

const intact = samples.filter(({ tamper }) => tamper === null);
const judgeable = samples.filter((s) => s.judgeable);
const share = (list, test) => list.filter(test).length / Math.max(1, list.length);
const margin = (s) => s.agreement - least;
const round = (value) => Number(value.toPrecision(4));
const byName = (names, of) => Object.fromEntries(names.map((name) => [name, of(name)]));

/** Weights of all samples; the score that each sample gets, under `kind`, is by weights of the half of the places that it is not of. */
function fitClass(name, kind, from, rowOf, isTrue) {
  const [rows, truths, halves] = [from.map(rowOf), from.map(isTrue), from.map(({ half }) => half)];
  const logits = crossFitted(rows, truths, halves, { ridge: RIDGE });
  from.forEach((s, i) => {
    s[kind] = { ...s[kind], [name]: sigmoid(logits[i]) };
  });
  const { offset, weights } = fitLogistic(rows, truths, { ridge: RIDGE });
  return { offset: round(offset), weights: weights.map(round) };
}

const always = (bounds) => ({ shipped: bounds, counted: [bounds, bounds] });

/** The lowest threshold from 0.5 on at which PRECISION of those named are true. */
const precise = (name) => (from) => {
  for (let threshold = 0.5; threshold < 0.99; threshold += 0.01) {
    const said = from.filter(({ scores }) => scores[name] >= threshold);
    if (said.length > 0 && share(said, ({ nuisance }) => nuisance === name) >= PRECISION)
      return { threshold: round(threshold) };
  }
  return { threshold: 0.99 };
};

/** The lowest thresholds from `atLeast` on that FALSE_TAMPER of the pairs without tampering reach, of bare places and of others. */
const rare = (name, kind, atLeast) => (from) =>
  byName(['threshold', 'bareThreshold'], (bounded) => {
    const quiet = from.filter((s) => s.tamper === null && s.bounded === bounded).map((s) => s[kind][name]);
    quiet.sort((a, b) => b - a);
    return round(Math.max(atLeast, (quiet[Math.floor(FALSE_TAMPER * quiet.length)] ?? 0) + 1e-4));
  });

/** What KEPT_BY_AGREEMENT of the pairs with this tampering agree at most. */
const mostOfOwn = (name) => (from) => {
  const own = from.filter(({ tamper }) => tamper === name).map(margin);
  own.sort((a, b) => a - b);
  return { mostAgreement: round(own[Math.ceil(KEPT_BY_AGREEMENT * (own.length - 1))]) };
};

const weighed = (inputs, { offset, weights }) => ({
  offset,
  weights: Object.fromEntries(inputs.map((input, k) => [input, weights[k]])),
});
const rowOf =
  (inputs) =>
  ({ measurements }) =>
    inputs.map((input) => measurements[input]);

const nuisanceBounds = {};
const nuisances = byName(NUISANCES, (name) => {
  if (nuisancesStay) return FITTED.nuisances[name];
  const inputs = name === 'camera_moved' ? OF_MOTION : OF_NUISANCES;
  const model = fitClass(name, 'scores', alikes, rowOf(inputs), (s) => s.nuisance === name);
  nuisanceBounds[name] = boundsBy(alikes, precise(name));
  return { ...weighed(inputs, model), ...nuisanceBounds[name].shipped };
});

const tamperBounds = {};
const tampers = byName(TAMPERS, (name) => {
  if (jointOnly) {
    const known = FITTED.tampers[name];
    for (const s of judgeable) s.scores = { ...s.scores, [name]: scoreOf(known, s.measurements) };
    const { threshold, bareThreshold } = known;
    tamperBounds[name] = always({ threshold, bareThreshold });
    return known;
  }
  const inputs = inputsOf(name);
  const model = fitClass(name, 'scores', judgeable, rowOf(inputs), (s) => s.tamper === name);
  tamperBounds[name] = boundsBy(judgeable, rare(name, 'scores', 0.5));
  return { ...weighed(inputs, model), ...tamperBounds[name].shipped };
});

/** Evidence and features: a logistic regression of the evidence's own logit and the margin of the agreement. */
const jointBounds = {};
const joint = byName(TAMPERS, (name) => {
  if (!ANOTHER_PLACE.includes(name)) {
    for (const s of judgeable) s.jointScores = { ...s.jointScores, [name]: s.scores[name] };
    const most = name === 'darkened' ? always({ mostAgreement: ANY }) : boundsBy(judgeable, mostOfOwn(name));
    jointBounds[name] = together(most, tamperBounds[name]);
    return { offset: 0, evidence: 1, agreement: 0, ...jointBounds[name].shipped };
  }
  const both = (s) => [logitOf(s.scores[name]), margin(s)];
  const { offset, weights } = fitClass(name, 'jointScores', judgeable, both, (s) => s.tamper === name);
  const [evidence, agreement] = weights;
  const bounds = boundsBy(judgeable, rare(name, 'jointScores', LEAST_JOINT_SCORE));
  jointBounds[name] = together(always({ mostAgreement: ONE_PLACE }), bounds);
  return { offset, evidence, agreement, ...jointBounds[name].shipped };
});
function together(a, b) {
  return {
    shipped: { ...a.shipped, ...b.shipped },
    counted: [0, 1].map((half) => ({ ...a.counted[half], ...b.counted[half] })),
  };
}

const alone = (s) =>
  TAMPERS.filter((name) => s.judgeable && s.scores[name] >= tamperBounds[name].counted[s.half][s.bounded]);
const joined = (s) =>
  TAMPERS.filter((name) => {
    if (!s.judgeable) return false;
    const bounds = jointBounds[name].counted[s.half];
    return s.jointScores[name] >= bounds[s.bounded] && margin(s) <= bounds.mostAgreement;
  });
const percent = (value) => `${(100 * value).toFixed(1)} %`;
const strongest = (s) => NUISANCES.reduce((best, name) => (s.scores[name] > s.scores[best] ? name : best));
const found = (list, named) => {
  const own = list.filter(({ tamper }) => tamper !== null);
  return `${percent(share(own, (s) => named(s).length > 0))} of ${own.length}`;
};
const altered = alikes.filter(({ nuisance }) => nuisance !== null);
const isNamed = (s, name) => s.scores[name] >= nuisanceBounds[name].counted[s.half].threshold;
const pairsOf = (from) => `${from.length} pairs of ${new Set(from.map(({ place }) => place)).size} places`;
const figuresOfNuisances = () => [
  `nuisances: ${pairsOf(alikes)}; figures are of places that chose neither weights nor thresholds`,
  `strongest nuisance is the true one: ${percent(share(altered, (s) => strongest(s) === s.nuisance))} of ${altered.length}`,
  ...NUISANCES.map((name) => {
    const own = altered.filter(({ nuisance }) => nuisance === name);
    return `  ${name}: strongest ${percent(share(own, (s) => strongest(s) === name))}, named ${percent(share(own, (s) => isNamed(s, name)))} of ${own.length}`;
  }),
  `  falsely named: ${percent(share(alikes, (s) => NUISANCES.some((name) => name !== s.nuisance && isNamed(s, name))))} of ${alikes.length}`,
];
const ofTampers = [`tampering: ${pairsOf(samples)}`, ...ofTampering('evidence alone', alone)];
const ofJoint = [
  `joint: ${pairsOf(samples)}, features of ${bundleName} ${version}${jointOnly ? '; evidence as it was fitted before, on the same places' : ''}`,
  ...ofTampering('joint', joined),
];
function ofTampering(how, named) {
  return [
    `${how}: tampering found, of places that showed something before: ${found(judgeable, named)}`,
    ...TAMPERS.map((name) => {
      const own = judgeable.filter(({ tamper }) => tamper === name);
      return `  ${name}: ${found(own, named)}`;
    }),
    `${how}: falsely called tampering: ${percent(share(intact, (s) => named(s).length > 0))} of ${intact.length}`,
  ];
}
const file = join(ROOT, 'src/viewpoint/fitted.json');
const figures = {
  nuisances: nuisancesStay ? FITTED.figures.nuisances : figuresOfNuisances(),
  tampers: jointOnly ? FITTED.figures.tampers : ofTampers,
  joint: ofJoint,
};
const fittedOn = sourcesOf(openMaterial(folder));
console.log([...Object.values(figures), 'fitted on, and nothing else:', fittedOn].flat().join('\n'));

const command = [
  'npm run fit:viewpoint --',
  '--data=FOLDER',
  `--count=${count}`,
  ...(jointOnly ? ['--joint'] : []),
  ...(nuisancesStay && !jointOnly ? ['--tampering'] : []),
].join(' ');
writeFileSync(
  file,
  `${JSON.stringify({ command, figures, fittedOn, leastInliers, nuisances, tampers, joint }, null, 2)}\n`,
);
