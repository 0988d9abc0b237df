/**
 * `npm run fit:viewpoint -- --data=FOLDER [--count=3000] [--bundle=models/scorer-surveillance] [--measurements=FILE]
 * [--only=tampers|joint]`: measures pairs made of plates and sprites, and fits every weight and threshold of
 * src/viewpoint/fitted.json to them (training/fits/viewpoint.py, scikit-learn). The development pairs choose nothing.
 *
 * The measurements go to FILE, one NDJSON line per pair, and a second run continues with the lines that FILE holds.
 * FILE becomes useless when a measurement changes. `--only=tampers` keeps the nuisances of the fit before;
 * `--only=joint` keeps the evidence of tampering too and fits only its fusion with the features: enough, with fewer
 * pairs, for another backbone.
 */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Value } from 'typebox/value';
import { startProgress } from '../dist/cli/progress.js';
import { loadBundle } from '../dist/model/manifest.js';
import { FittedSchema } from '../dist/viewpoint/fitted-schema.js';
import { openMaterial, sourcesOf } from './lib/made-pairs.mjs';
import { dataFolder, readOptions } from './lib/options.mjs';
import { ensurePython } from './lib/python.mjs';
import { ROOT, run, runMain, Stop } from './lib/shell.mjs';
import { inThreads } from './lib/threads.mjs';
import { NUISANCE_VARIANTS, VARIANTS } from './lib/variants.mjs';

const FITTED_FILE = join(ROOT, 'src/viewpoint/fitted.json');
/** Frames that hold noise and nothing else have corners everywhere, and none of them in both frames. */
const NOISE_PAIRS = 40;

const { values } = readOptions({
  data: { type: 'string' },
  bundle: { type: 'string', default: 'models/scorer-surveillance' },
  count: { type: 'string', default: '3000' },
  measurements: { type: 'string', default: 'tmp/viewpoint-measurements.ndjson' },
  only: { type: 'string', default: 'all' },
});

await runMain(async () => {
  const folder = dataFolder(values.data);
  const measurements = resolve(ROOT, values.measurements);
  const bundleFolder = resolve(ROOT, values.bundle);
  const { manifest } = await loadBundle(bundleFolder);
  if (manifest.calibration.least_agreement === undefined)
    throw new Stop(`${bundleFolder} has no calibration.least_agreement, expected a bundle with one`);
  const { python, missing } = await ensurePython();
  if (missing) throw new Stop(missing);
  await measure(measurements, itemsOf(Number(values.count), values.only), { folder, bundle: bundleFolder });
  const out = join(mkdtempSync(join(tmpdir(), 'fit-viewpoint-')), 'fit.json');
  const { ok } = await run(
    python,
    [
      ...['-m', 'training.fits', 'viewpoint', '--measurements', measurements, '--out', out],
      ...['--features', `${manifest.name} ${manifest.version}`],
      ...(values.only === 'all' ? [] : ['--only', values.only, '--known', FITTED_FILE]),
    ],
    { show: true },
  );
  if (!ok) throw new Stop('the fit failed; nothing was written');
  const { figures, ...weights } = JSON.parse(readFileSync(out, 'utf8'));
  const only = values.only === 'all' ? '' : ` --only=${values.only}`;
  const command = `npm run fit:viewpoint -- --data=FOLDER --count=${values.count}${only}`;
  const fitted = { command, figures, fittedOn: sourcesOf(openMaterial(folder)), ...weights };
  const [fault] = Value.Errors(FittedSchema, fitted);
  if (fault) throw new Stop(`the fit has no valid ${fault.instancePath}: ${fault.message}`);
  writeFileSync(FITTED_FILE, `${JSON.stringify(fitted, null, 2)}\n`);
});

/**
 * The pairs to measure. `mixed` pairs also show bare places and drift, and have every variant; `alike` pairs show whole
 * plates whose frames were exposed and coded alike, and have no tampering; `noise` pairs share nothing.
 */
function itemsOf(count, only) {
  const unaltered = [null, null, null];
  const variants = [...unaltered, ...Object.keys(VARIANTS)];
  const untampered = [...unaltered, ...Object.keys(NUISANCE_VARIANTS)];
  const inTurn = (set, length, names) =>
    Array.from({ length }, (_, index) => ({ set, index, variant: names[index % names.length] }));
  const mixed = inTurn('mixed', count, variants);
  if (only !== 'all') return mixed;
  // As many per variant as in the mixed pairs.
  const alike = inTurn('alike', Math.round((count * untampered.length) / variants.length), untampered);
  return [...mixed, ...alike, ...inTurn('noise', NOISE_PAIRS, [null])];
}

/**
 * Leaves one line per item in the file, in the order of the items; lines that the file already holds are not measured
 * again.
 */
async function measure(file, items, settings) {
  const keyOf = ({ set, index }) => `${set} ${index}`;
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  const known = new Map(lines.map((line) => [keyOf(JSON.parse(line)), line]));
  const missing = items.filter((item) => !known.has(keyOf(item)));
  mkdirSync(dirname(file), { recursive: true });
  const progress = startProgress(missing.length, 'pairs');
  await inThreads(new URL('./lib/made-samples.mjs', import.meta.url), missing, settings, (sample) => {
    const line = JSON.stringify(sample);
    known.set(keyOf(sample), line);
    appendFileSync(file, `${line}\n`);
    progress.step();
  });
  progress.end();
  writeFileSync(file, items.map((item) => `${known.get(keyOf(item))}\n`).join(''));
}
