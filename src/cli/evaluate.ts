/** `scenedelta evaluate`: measures a bundle, or predictions made before, on labelled pairs. */
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { type Config, loadConfig } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import type { Signal } from '../evaluation/baselines.js';
import type { Pair } from '../evaluation/manifest.js';
import { MADE_NUISANCES, type MadeNuisance } from '../evaluation/nuisances.js';
import {
  alignPredictions,
  formatPrediction,
  type Prediction,
  parsePredictions,
} from '../evaluation/predictions.js';
import {
  type DetectorRun,
  evaluate,
  type NuisanceResult,
  nuisanceResult,
  type Run,
} from '../evaluation/report.js';
import { formatReport } from '../evaluation/table.js';
import type { Command } from './command.js';
import { openPairs, type PairFolder, readText, withNuisance } from './evaluation/frames.js';
import { createLooker, type Looker, subtract } from './evaluation/looker.js';
import { startProgress } from './progress.js';
import { writeWhole } from './write-whole.js';

const USAGE = `evaluate PAIRS.ndjson [--bundle NAME] [--json FILE] [--predictions FILE]
       [--from-predictions FILE] [--baseline NAME=FILE]... [--nuisance NAME]...

Says how often captions, verdicts and maps are right on labelled pairs, beside the best constant sentences,
the people who wrote the references, subtraction of pixels and untrained matching of features.
The figures are defined in src/evaluation/README.md.

--bundle NAME            which model; default: DEFAULT_MODEL of MODELS_DIR
--json FILE              also writes everything that was measured
--predictions FILE       also writes what the model said, one line a pair
--from-predictions FILE  judges what was written by --predictions; runs no model, and so no untrained matching
--baseline NAME=FILE     predictions to print beside, e.g. of a model that sees no picture or of another seed
--nuisance NAME          also tells pairs apart under made nuisances: ${MADE_NUISANCES.join(', ')}, or all`;

export const command: Command = { usage: USAGE, run };

interface Measured {
  readonly run: Run;
  readonly detectors: readonly DetectorRun[];
  readonly nuisances: readonly NuisanceResult[];
}

/** @throws ScenedeltaError 'invalid-request' naming file, line and reason; 'unknown-model' */
export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      bundle: { type: 'string' },
      json: { type: 'string' },
      predictions: { type: 'string' },
      'from-predictions': { type: 'string' },
      baseline: { type: 'string', multiple: true, default: [] },
      nuisance: { type: 'string', multiple: true, default: [] },
    },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) {
    throw new ScenedeltaError(
      'invalid-request',
      `evaluate takes one NDJSON file of pairs, got ${positionals.length}`,
    );
  }
  const nuisances = chosenNuisances(values.nuisance);
  const given = values['from-predictions'];
  if (given !== undefined && (values.bundle !== undefined || nuisances.length > 0)) {
    throw new ScenedeltaError(
      'invalid-request',
      '--from-predictions runs no model: expected neither --bundle nor --nuisance with it',
    );
  }
  const settings = loadConfig();
  const config = { ...settings, defaultModel: values.bundle ?? settings.defaultModel };
  const folder = await openPairs(file);
  const baselines = await Promise.all(values.baseline.map((text) => readBaseline(text, folder.pairs)));
  const measured =
    given === undefined
      ? await measureBundle(folder, config, nuisances)
      : await measurePredictions(folder, config, given);

  const report = evaluate(folder.pairs, measured.run, { ...measured, baselines });
  // Printed before it is written: a full disk does not take an hour's figures with it.
  process.stdout.write(formatReport(report));
  const { predictions } = measured.run;
  if (values.predictions !== undefined)
    await writeWhole(values.predictions, predictions.map(formatPrediction).join(''));
  if (values.json !== undefined) await writeWhole(values.json, `${JSON.stringify(report, null, 2)}\n`);
  return 0;
}

function chosenNuisances(names: readonly string[]): MadeNuisance[] {
  const known: readonly string[] = MADE_NUISANCES;
  for (const name of names) {
    if (name !== 'all' && !known.includes(name)) {
      throw new ScenedeltaError(
        'invalid-request',
        `--nuisance ${JSON.stringify(name)}: expected one of ${known.join(', ')}, or all`,
      );
    }
  }
  return MADE_NUISANCES.filter((name) => names.includes('all') || names.includes(name));
}

async function readBaseline(text: string, pairs: readonly Pair[]): Promise<Run> {
  const [, name, file] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || file === undefined) {
    throw new ScenedeltaError('invalid-request', `--baseline ${JSON.stringify(text)}: expected NAME=FILE`);
  }
  return { name, predictions: await readPredictions(file, pairs) };
}

const readPredictions = async (file: string, pairs: readonly Pair[]): Promise<Prediction[]> =>
  alignPredictions(pairs, parsePredictions(await readText(file), file), file);

async function measurePredictions(folder: PairFolder, config: Config, file: string): Promise<Measured> {
  const predictions = await readPredictions(file, folder.pairs);
  const signals = await forEachPair(folder, 1, folder.pairs.length, async (pair) =>
    subtract(await folder.read(pair), config.pixelLimit),
  );
  return {
    run: { name: basename(file).replace(/\.[^.]*$/, ''), predictions },
    detectors: detectorRuns(signals),
    nuisances: [],
  };
}

interface Seen {
  readonly pair: Pair;
  readonly prediction: Prediction;
  readonly signals: Readonly<Record<string, Signal>>;
}

async function measureBundle(
  folder: PairFolder,
  config: Config,
  nuisances: readonly MadeNuisance[],
): Promise<Measured> {
  const looker = await createLooker(config);
  try {
    const looks = folder.pairs.length * (1 + nuisances.length);
    const seen = await forEachPair(folder, looker.concurrency, looks, (pair, step) =>
      lookAtPair(looker, folder, config, pair, nuisances, step),
    );
    const name = config.defaultModel;
    const column = (i: number) => seen.map((views) => views[i] as Seen);
    const runOf = (views: readonly Seen[]): Run => ({
      name,
      predictions: views.map((view) => view.prediction),
    });
    const detectorsOf = (views: readonly Seen[]) => detectorRuns(views.map((view) => view.signals));
    return {
      run: runOf(column(0)),
      detectors: detectorsOf(column(0)),
      nuisances: nuisances.map((nuisance, i) => {
        const views = column(i + 1);
        const pairs = views.map((view) => view.pair);
        return nuisanceResult(nuisance, pairs, runOf(views), detectorsOf(views));
      }),
    };
  } finally {
    await looker.close();
  }
}

/** The pair as it is, then with each nuisance; one after the other, so that the before frame's features are computed once. */
async function lookAtPair(
  looker: Looker,
  folder: PairFolder,
  config: Config,
  pair: Pair,
  nuisances: readonly MadeNuisance[],
  step: () => void,
): Promise<Seen[]> {
  const bytes = await folder.read(pair);
  const views: Seen[] = [];
  for (const nuisance of [null, ...nuisances]) {
    const view =
      nuisance === null ? { pair, bytes } : await withNuisance(nuisance, pair, bytes, config.pixelLimit);
    const { prediction, signals } = await looker.look(view.bytes);
    views.push({ pair: view.pair, prediction: { id: pair.id, ...prediction }, signals });
    step();
  }
  return views;
}

/** Some pairs beside each other, results in their order. The first error ends it, with the pair's line in the message. */
async function forEachPair<T>(
  folder: PairFolder,
  concurrency: number,
  steps: number,
  work: (pair: Pair, step: () => void) => Promise<T>,
): Promise<T[]> {
  const progress = startProgress(steps, 'pairs');
  const results: T[] = [];
  let next = 0;
  const lane = async () => {
    for (let i = next++; i < folder.pairs.length; i = next++) {
      const pair = folder.pairs[i] as Pair;
      try {
        results[i] = await work(pair, () => progress.step());
      } catch (error) {
        next = folder.pairs.length;
        throw folder.blame(pair, error);
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: concurrency }, lane));
  progress.end();
  for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason;
  return results;
}

const detectorRuns = (signals: readonly Readonly<Record<string, Signal>>[]): DetectorRun[] =>
  Object.keys(signals[0] ?? {}).map((name) => ({ name, signals: signals.map((of) => of[name] as Signal) }));
