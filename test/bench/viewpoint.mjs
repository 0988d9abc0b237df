/**
 * `npm run bench -- viewpoint --data=FOLDER [--every=1] [--bundle=models/scorer-surveillance] [--write]`: quality
 * of registration, nuisance and tamper scores and of the verdict, on the development pairs and on synthetic variants of
 * them. It chooses no threshold; `npm run fit:viewpoint` chose them on synthetic pairs.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startProgress } from '../../dist/cli/progress.js';
import { predictionOf } from '../../dist/model/calibration.js';
import { loadBundle } from '../../dist/model/manifest.js';
import { fuse } from '../../dist/pipeline/nuisance-fusion.js';
import { namedTampers } from '../../dist/viewpoint/evidence.js';
import { examine } from '../../dist/viewpoint/examine.js';
import { FITTED } from '../../dist/viewpoint/fitted.js';
import { NUISANCES, TAMPERS } from '../../dist/viewpoint/scores.js';
import { MARGIN } from '../../scripts/lib/camera-view.mjs';
import { load, resized } from '../../scripts/lib/images.mjs';
import { dataFolder, readOptions } from '../../scripts/lib/options.mjs';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { inThreads } from '../../scripts/lib/threads.mjs';
import { NUISANCE_VARIANTS } from '../../scripts/lib/variants.mjs';
import { percentile, report } from './lib/report.mjs';

const { values } = readOptions({
  data: { type: 'string' },
  every: { type: 'string', default: '1' },
  bundle: { type: 'string', default: 'models/scorer-surveillance' },
  write: { type: 'boolean' }, // read by lib/report.mjs
});
const data = join(dataFolder(values.data), 'dev_pairs');
const every = Number(values.every);
const bundleFolder = resolve(ROOT, values.bundle);
/** Runs of examine before its machine code is optimised. */
const WARMING = 12;
/** Pixels at 640 px width. */
const ALIGN_FROM = [null, 0, 2, 4, 8, 16];

const bundle = await loadBundle(bundleFolder);
const { manifest } = bundle;

const pairs = readFileSync(join(data, 'pairs.ndjson'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
  .filter((_, i) => i % every === 0);
const items = pairs.map((pair, i) => {
  const others = pairs.filter(({ scene }) => scene !== pair.scene);
  return { pair, stranger: others[(i * 7) % others.length].after };
});
const progress = startProgress(items.length, 'pairs');
const thread = new URL('./lib/viewpoint-pairs.mjs', import.meta.url);
const samples = (await inThreads(thread, items, { data, bundle: bundleFolder }, () => progress.step())).flat();
progress.end();

// Timed without the threads above; the first, unoptimised runs do not count.
const milliseconds = [];
for (const pair of pairs) {
  const frames = await Promise.all(
    [pair.before, pair.after].map(async (file) =>
      resized(await load(join(data, file), 640), { width: 640, height: 480 }),
    ),
  );
  milliseconds.push(...[1, 2, 3].map(() => timed(...frames)));
}
milliseconds.splice(0, Math.min(WARMING, milliseconds.length - 3));

/** CPU time in ms, because other processes may use the cores. */
function timed(before, after) {
  const start = process.cpuUsage();
  examine(before, after);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

const percent = (hits, all) => `${((100 * hits) / Math.max(1, all)).toFixed(1)} % (${hits}/${all})`;
const count = (list, test) => percent(list.filter(test).length, list.length);
const rows = [];
const row = (...cells) => rows.push(cells);

const moved = samples.filter(({ variant }) => ['shift', 'roll', 'zoom'].includes(variant));
for (const variant of ['shift', 'roll', 'zoom']) {
  const ofVariant = moved.filter((s) => s.variant === variant);
  const errors = ofVariant.flatMap(({ error }) => (error === null ? [] : [error]));
  const [middle, corner] = [errors.map((e) => e.middle), errors.map((e) => e.corner)];
  const both = (values) => `${percentile(values, 0.5).toFixed(2)} / ${percentile(values, 0.95).toFixed(2)} px`;
  const refused = ofVariant.filter(({ evidence }) => evidence.registration === null).length;
  row(
    `${variant}: error in the middle, median / p95; worst corner, median / p95; measured on; refused`,
    `${both(middle)}; ${both(corner)}; ${errors.length}; ${refused} of ${ofVariant.length}`,
    variant === 'shift' ? '<= 1 px median' : '',
  );
}

/** Output of the captioner with alignment from `from` pixels on; null = never. */
const outputAlignedFrom = (s, from) => {
  const { registration } = s.evidence;
  return from !== null && registration !== null && 640 * registration.displacement >= from ? s.aligned : s.unaligned;
};
const alignFrom = manifest.align_from ?? null;
const inUse = (s) => outputAlignedFrom(s, alignFrom === null ? null : 640 * alignFrom);
const ownVerdict = (s) => fuse(inUse(s), s.evidence, manifest, undefined);

const altered = samples.filter(({ nuisance }) => nuisance !== undefined);
const asItWas = new Map(samples.filter(({ variant }) => variant === 'as it is').map((s) => [s.id, s]));
/** Nuisances of the unaltered pair (a drifting camera, a cloud), which may be named besides the synthetic one. */
const natural = (s) =>
  NUISANCES.filter((name) => asItWas.get(s.id).evidence.nuisances[name] >= FITTED.nuisances[name].threshold);
const strongest = (s) =>
  NUISANCES.filter((name) => name === s.nuisance || !natural(s).includes(name)).reduce((best, name) =>
    s.evidence.nuisances[name] > s.evidence.nuisances[best] ? name : best,
  );
row(
  'the strongest additional nuisance is the synthetic one: evidence alone',
  count(altered, (s) => strongest(s) === s.nuisance),
  '>= 85 %',
);
for (const variant of Object.keys(NUISANCE_VARIANTS)) {
  const ofVariant = altered.filter((s) => s.variant === variant);
  row(
    `- ${variant}`,
    count(ofVariant, (s) => strongest(s) === s.nuisance),
    '',
  );
}

/** Nuisances in the answers, and those that the model alone would name. */
const answered = (s) => ownVerdict(s).nuisances;
const ofModel = (s) => predictionOf(inUse(s), manifest).nuisances;
const has = (names, s) => names(s).some(({ name }) => name === s.nuisance);
row(
  'the synthetic nuisance is named: in the answer; by the model alone',
  `${count(altered, (s) => has(answered, s))}; ${count(altered, (s) => has(ofModel, s))}`,
  '',
);
/** Words of the labels per nuisance; the labels are incomplete. */
const CONFIRMED_BY = {
  lighting: /light|exposure/,
  shadow: /shadow/,
  weather: /weather/,
  compression: /compression|re-encoded/,
  noise: /noise/,
  camera_moved: /jitter|drift|shift/,
  defocus: /blur/,
  foliage: /foliage|tree/,
};
const labels = new Map(pairs.map(({ id, nuisance }) => [id, nuisance.join(', ')]));
const confirmed = (names) => {
  const said = [...asItWas.values()].flatMap((s) => names(s).map(({ name }) => ({ name, id: s.id })));
  return count(said, ({ name, id }) => CONFIRMED_BY[name]?.test(labels.get(id)) ?? false);
};
row(
  'nuisances of unaltered pairs that labels confirm (labels are incomplete): in the answer; by the model alone',
  `${confirmed(answered)}; ${confirmed(ofModel)}`,
  '',
);

const tampered = samples.filter(({ tamper }) => tamper !== undefined);
const intact = samples.filter(({ tamper }) => tamper === undefined);
/** Names as served, and names by the evidence alone. */
const named = ({ tampers }) => tampers;
const byEvidence = ({ evidence }) => namedTampers(evidence).map(({ name }) => name);
const foundBoth = (list) =>
  `${count(list, (s) => named(s).length > 0)}; ${count(list, (s) => byEvidence(s).length > 0)}`;
row('tampering found: with the features, as the service does; by evidence alone', foundBoth(tampered), '>= 95 %');
for (const tamper of TAMPERS) {
  const ofTamper = tampered.filter((s) => s.tamper === tamper);
  row(`- ${tamper}`, `${foundBoth(ofTamper)}; named so ${count(ofTamper, (s) => named(s)[0] === tamper)}`, '');
}
row('falsely called tampering: with the features; by evidence alone', foundBoth(intact), '<= 1 %');

const hits = intact.filter((s) => s.changed);
const quiet = intact.filter((s) => !s.changed);
const alone = (s) => predictionOf(s.unaligned, manifest).change;
const recall = hits.filter((s) => alone(s) >= manifest.calibration.threshold).length / hits.length;
row(
  `captioner alone at its threshold: recall; false alarms`,
  `${(100 * recall).toFixed(1)} %; ${count(quiet, (s) => alone(s) >= manifest.calibration.threshold)}`,
  '',
);
for (const target of [recall, 0.99, 0.95]) {
  const rate = (score) => {
    const sorted = hits.map(score).sort((a, b) => b - a);
    const threshold = sorted[Math.ceil(target * sorted.length) - 1];
    return count(quiet, (s) => score(s) >= threshold);
  };
  const at = `false alarms at ${(100 * target).toFixed(1)} % recall`;
  row(`${at}: captioner alone`, rate(alone), '');
  for (const from of ALIGN_FROM) {
    const only = (s) => predictionOf(outputAlignedFrom(s, from), manifest).change;
    const chosen = (from === null ? null : from / 640) === alignFrom ? ' (in use)' : '';
    const how = from === null ? 'never aligned' : `aligned from ${from} px on`;
    row(`- ${how}: captioner${chosen}`, rate(only), chosen ? '<= half of alone' : '');
  }
}
const isServedAsChange = (s) => ownVerdict(s).changed && named(s).length === 0;
row(
  'as served, at the threshold of the bundle: recall; false alarms',
  `${count(hits, isServedAsChange)}; ${count(quiet, isServedAsChange)}`,
  '',
);
row(
  'examine at 640 x 480, CPU time per pair on one thread: p50 / p95',
  `${percentile(milliseconds, 0.5).toFixed(0)} / ${percentile(milliseconds, 0.95).toFixed(0)} ms`,
  '<= 40 ms',
);

report(
  'viewpoint',
  'Viewpoint: motion of the camera, lighting and changes of the scene',
  [['what', 'measured', 'aim'], ...rows],
  [
    `${pairs.length} development pairs, ${samples.length} pairs with their variants, at 640 px width ` +
      `less a margin of ${100 * MARGIN} % per side, so that a moved camera still sees real pixels. ` +
      'Variants alter `after`, in changed and unchanged pairs; strengths in scripts/lib/variants.mjs.',
    'Registration errors are those of the synthetic motion alone: the own motion of the camera is measured ' +
      'on the unaltered pair and removed. Pairs with a refused registration are left out.',
    `Bundle ${manifest.name} ${manifest.version} (sha256 ${bundle.sha256.slice(0, 12)}); thresholds and ` +
      'weights were fitted on synthetic pairs of other places (fit:viewpoint).',
  ],
);
