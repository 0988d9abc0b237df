/**
 * `npm run fit:quiet -- --data=FOLDER [--count=100] [--check=300] [--only-check]`: chooses the bound of
 * src/camera/quiet/fitted.json from made frames of `count` fixed cameras, with ten small changes and ten unchanged
 * frames each. The bound is a quarter above the score that 99 of 100 unchanged frames keep, because the frames of a
 * real camera differ in more than made ones do, and at most the score that 999 of 1,000 small changes exceed. Then
 * `check` other cameras measure it: the share of missed changes and the share of unchanged frames that are quiet.
 * Plates and textures are training data. The changed development pairs choose nothing; the last line says how many of
 * them would be quiet.
 *
 * tmp/quiet-samples.ndjson gets a line per pair with the scores, so that misses can be made again and looked at
 * (`set` and `index` are the seed).
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProgress } from '../dist/cli/progress.js';
import { dataFolder, readOptions } from './lib/options.mjs';
import { quietDevelopmentPairs } from './lib/quiet-dev-pairs.mjs';
import { ROOT, runMain } from './lib/shell.mjs';
import { inThreads } from './lib/threads.mjs';

const FITTED_FILE = join(ROOT, 'src/camera/quiet/fitted.json');
/** Share of the small changes that the bound may miss, and of the unchanged frames that it may exceed. */
const MISSED = 0.001;
const EXAMINED = 0.01;
/** Factor of the bound above the score of the unchanged frames. */
const RESERVE = 1.25;

const { values } = readOptions({
  data: { type: 'string' },
  count: { type: 'string', default: '100' },
  check: { type: 'string', default: '300' },
  'only-check': { type: 'boolean', default: false },
});

const measure = async (set, count, unbounded, folder) => {
  const progress = startProgress(count, set);
  const items = Array.from({ length: count }, (_, index) => ({ set, index }));
  const script = new URL('./lib/quiet-samples.mjs', import.meta.url);
  const samples = await inThreads(script, items, { folder, unbounded }, () => progress.step());
  progress.end();
  return samples.flat();
};
const ascending = (samples, kind) => samples.map((sample) => sample[kind]).sort((a, b) => a - b);
const percent = (count, of) => Number(((100 * count) / of).toFixed(2));

await runMain(async () => {
  const folder = dataFolder(values.data);
  const fitted = JSON.parse(readFileSync(FITTED_FILE, 'utf8'));
  if (!values['only-check']) {
    const samples = await measure('fit', Number(values.count), true, folder);
    const [changed, unchanged] = [ascending(samples, 'changed'), ascending(samples, 'unchanged')];
    const most = changed[Math.floor(MISSED * changed.length)];
    const least = unchanged[Math.ceil((1 - EXAMINED) * unchanged.length) - 1];
    fitted.bound = Number(Math.min(most, RESERVE * least).toFixed(2));
    fitted.chosen_by = { unchanged_99_of_100: least, changed_999_of_1000: most, pairs: samples.length };
    fitted.command = `npm run fit:quiet -- --data=FOLDER --count=${values.count} --check=${values.check}`;
    writeFileSync(FITTED_FILE, `${JSON.stringify(fitted, null, 2)}\n`);
  }
  const samples = await measure('held-out', Number(values.check), true, folder);
  const missed = samples.filter(({ changed }) => changed <= fitted.bound);
  const quiet = samples.filter(({ unchanged }) => unchanged <= fitted.bound);
  fitted.figures = {
    pairs: samples.length,
    changes_missed_percent: percent(missed.length, samples.length),
    unchanged_quiet_percent: percent(quiet.length, samples.length),
  };
  if (!values['only-check']) writeFileSync(FITTED_FILE, `${JSON.stringify(fitted, null, 2)}\n`);
  mkdirSync(join(ROOT, 'tmp'), { recursive: true });
  writeFileSync(
    join(ROOT, 'tmp/quiet-samples.ndjson'),
    samples.map((sample) => `${JSON.stringify(sample)}\n`).join(''),
  );
  console.log(JSON.stringify({ bound: fitted.bound, ...fitted.figures }, null, 2));
  const development = await quietDevelopmentPairs(folder);
  console.log(`${development.quiet.length} of ${development.pairs} changed development pairs are quiet`);
  for (const { index, width, noise, quality, changed, change } of missed) {
    const about = `${change.kind} ${change.width}x${change.height} of ${change.contrast.toFixed(1)} levels`;
    console.log(
      `missed: check ${index}: ${about} (${width} px, noise ${noise.toFixed(1)}, quality ${quality}): ${changed.toFixed(2)}`,
    );
  }
});
