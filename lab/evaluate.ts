/** `scenedelta evaluate`: measures a bundle, or predictions of an earlier run, on labelled pairs. */
import { basename } from 'node:path';
import { Option } from 'commander';
import pLimit from 'p-limit';
import { invalidRequest } from '../src/base/errors.js';
import { collect, createCommand } from '../src/cli/command.js';
import { printLine } from '../src/cli/print.js';
import { startProgress } from '../src/cli/progress.js';
import { writeAtOnce } from '../src/cli/write-at-once.js';
import type { PairRows } from '../src/pipeline/judge-evidence.js';
import { type Config, loadConfig } from '../src/process/config.js';
import type { Signal } from './figures/baselines.js';
import { MADE_NUISANCES, type MadeNuisance } from './figures/nuisances.js';
import type { Pair } from './figures/pairs.js';
import { alignPredictions, formatPrediction, type Prediction, parsePredictions } from './figures/predictions.js';
import { type DetectorRun, evaluate, type NuisanceResult, nuisanceResult, type Run } from './figures/report.js';
import type { Retrieval } from './figures/retrieval.js';
import { formatReport } from './figures/table.js';
import { type BundleRunner, createBundleRunner, folderOf, type PairBytes, pixelSignals } from './run/bundle-runner.js';
import { findPairs } from './run/find-pairs.js';
import { openPairs, type PairFolder, readText, withNuisance } from './run/frames.js';

interface Options {
  readonly bundle?: string;
  readonly json?: string;
  readonly predictions?: string;
  readonly fromPredictions?: string;
  readonly baseline?: readonly string[];
  readonly nuisance?: readonly string[];
  readonly swapped?: boolean;
  readonly evidence?: string;
}

interface Measured {
  readonly run: Run;
  readonly swapped?: readonly Prediction[];
  readonly detectors: readonly DetectorRun[];
  readonly nuisances: readonly NuisanceResult[];
  readonly retrieval: Retrieval | null;
  /** lines of --evidence */
  readonly evidence?: readonly string[];
}

export const command = createCommand('evaluate')
  .description(
    'Says how often captions, verdicts and maps are right on labelled pairs, beside the best constant sentences, the ' +
      'people who wrote the references, subtraction of pixels and untrained matching of features. The figures are ' +
      'defined in lab/README.md.',
  )
  .argument('<pairs>', 'NDJSON file of labelled pairs')
  .option('--bundle <name>', 'model to measure, of MODELS_DIR or research/models; default: DEFAULT_MODEL')
  .option('--json <file>', 'also write everything that was measured')
  .option('--predictions <file>', 'also write the predictions of the model, one line per pair')
  .addOption(
    new Option(
      '--from-predictions <file>',
      'judge a file of --predictions; runs no model, and so no untrained matching',
    ).conflicts(['bundle', 'nuisance', 'swapped']),
  )
  .option(
    '--baseline <name=file>',
    'predictions to print beside, e.g. of a model that gets no picture or of another seed; may be repeated',
    collect,
  )
  .option(
    '--nuisance <name>',
    `also measure under a synthetic nuisance: ${MADE_NUISANCES.join(', ')}, or all; may be repeated`,
    collect,
  )
  .option('--swapped', 'also answer every pair with its frames swapped: the kind reverses, the nouns stay')
  .addOption(
    new Option(
      '--evidence <file>',
      'also write the evidence of the judge, one line per pair and direction; training.fits reads them',
    )
      .conflicts('fromPredictions')
      .hideHelp(),
  )
  .action(run);

/** @throws ScenedeltaError 'invalid-request' naming file, line and reason; 'unknown-model' */
async function run(file: string, options: Options): Promise<void> {
  const nuisances = chosenNuisances(options.nuisance ?? []);
  const settings = loadConfig();
  const defaultModel = options.bundle ?? settings.defaultModel;
  const config = { ...settings, defaultModel, modelsDir: await folderOf(defaultModel, settings.modelsDir) };
  const folder = await openPairs(file);
  const baselines = await Promise.all((options.baseline ?? []).map((text) => readBaseline(text, folder.pairs)));
  const measured =
    options.fromPredictions === undefined
      ? await measureBundle(folder, config, nuisances, options.swapped === true || options.evidence !== undefined)
      : await measurePredictions(folder, config, options.fromPredictions);

  const report = evaluate(folder.pairs, measured.run, { ...measured, baselines });
  // Printed before it is written, so that a full disk does not cost the figures of a long run.
  printLine(formatReport(report).trimEnd());
  const { predictions } = measured.run;
  if (options.predictions !== undefined)
    await writeAtOnce(options.predictions, predictions.map(formatPrediction).join(''));
  if (options.evidence !== undefined) await writeAtOnce(options.evidence, (measured.evidence ?? []).join(''));
  if (options.json !== undefined) await writeAtOnce(options.json, `${JSON.stringify(report, null, 2)}\n`);
}

function chosenNuisances(names: readonly string[]): MadeNuisance[] {
  const known: readonly string[] = MADE_NUISANCES;
  for (const name of names) {
    if (name !== 'all' && !known.includes(name)) {
      throw invalidRequest(`--nuisance ${JSON.stringify(name)}: expected one of ${known.join(', ')}, or all`);
    }
  }
  return MADE_NUISANCES.filter((name) => names.includes('all') || names.includes(name));
}

async function readBaseline(text: string, pairs: readonly Pair[]): Promise<Run> {
  const [, name, file] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || file === undefined) {
    throw invalidRequest(`--baseline ${JSON.stringify(text)}: expected NAME=FILE`);
  }
  return { name, predictions: await readPredictions(file, pairs) };
}

const readPredictions = async (file: string, pairs: readonly Pair[]): Promise<Prediction[]> =>
  alignPredictions(pairs, parsePredictions(await readText(file), file), file);

async function measurePredictions(folder: PairFolder, config: Config, file: string): Promise<Measured> {
  const predictions = await readPredictions(file, folder.pairs);
  const signals = await forEachPair(folder, 1, folder.pairs.length, async (pair) =>
    pixelSignals(await folder.read(pair), config.pixelLimit),
  );
  return {
    run: { name: basename(file).replace(/\.[^.]*$/, ''), predictions },
    detectors: detectorRuns(signals),
    nuisances: [],
    retrieval: await findPairs(folder.pairs, predictions, null),
  };
}

interface Measurement {
  readonly pair: Pair;
  readonly prediction: Prediction;
  readonly signals: Readonly<Record<string, Signal>>;
  /** search vector of a changed pair without alterations; null: there is none */
  readonly vector: Float32Array | null;
  readonly view: View;
  readonly evidence: PairRows | undefined;
}

/** The pair unaltered, with swapped frames, or under a nuisance. */
type View = MadeNuisance | 'as it is' | 'swapped';

async function measureBundle(
  folder: PairFolder,
  config: Config,
  nuisances: readonly MadeNuisance[],
  swapped: boolean,
): Promise<Measured> {
  const views: readonly View[] = ['as it is', ...nuisances, ...(swapped ? (['swapped'] as const) : [])];
  const runner = await createBundleRunner(config);
  try {
    const steps = folder.pairs.length * views.length;
    const rows = await forEachPair(folder, runner.concurrency, steps, (pair, step) =>
      measurePair(runner, folder, config, pair, views, step),
    );
    const column = (i: number) => rows.map((row) => row[i] as Measurement);
    const runOf = (measurements: readonly Measurement[]): Run => ({
      name: config.defaultModel,
      predictions: measurements.map(({ prediction }) => prediction),
    });
    const detectorsOf = (measurements: readonly Measurement[]) =>
      detectorRuns(measurements.map(({ signals }) => signals));
    const asItIs = column(0);
    const vectors = asItIs.map(({ vector }) => vector);
    return {
      run: runOf(asItIs),
      retrieval: await findPairs(folder.pairs, runOf(asItIs).predictions, runner.vectorsOf(vectors)),
      detectors: detectorsOf(column(0)),
      nuisances: nuisances.map((nuisance, i) => {
        const measurements = column(i + 1);
        const pairs = measurements.map(({ pair }) => pair);
        return nuisanceResult(nuisance, pairs, runOf(measurements), detectorsOf(measurements));
      }),
      evidence: rows.flat().filter(isDirection).map(formatEvidence),
      ...(swapped ? { swapped: runOf(column(views.length - 1)).predictions } : {}),
    };
  } finally {
    await runner.close();
  }
}

/**
 * Measures the pair in each view, one after the other, so that the features of its frames are computed once.
 */
async function measurePair(
  runner: BundleRunner,
  folder: PairFolder,
  config: Config,
  pair: Pair,
  views: readonly View[],
  step: () => void,
): Promise<Measurement[]> {
  const bytes = await folder.read(pair);
  const measurements: Measurement[] = [];
  for (const view of views) {
    const seen = await seenAs(view, pair, bytes, config.pixelLimit);
    const { prediction, signals, embed, evidence } = await runner.run(seen.bytes);
    const vector = view === 'as it is' && embed !== undefined ? await embed() : null;
    const judged = { pair: seen.pair, prediction: { id: pair.id, ...prediction } };
    measurements.push({ ...judged, signals, vector, view, evidence });
    step();
  }
  return measurements;
}

async function seenAs(view: View, pair: Pair, bytes: PairBytes, pixelLimit: number) {
  if (view === 'as it is') return { pair, bytes };
  if (view === 'swapped') return { pair, bytes: { before: bytes.after, after: bytes.before } };
  return withNuisance(view, pair, bytes, pixelLimit);
}

/**
 * @returns the results in the order of the pairs. The first error stops further pairs; its message names the pair's
 * line.
 */
async function forEachPair<T>(
  folder: PairFolder,
  concurrency: number,
  steps: number,
  work: (pair: Pair, step: () => void) => Promise<T>,
): Promise<T[]> {
  const progress = startProgress(steps, 'pairs');
  const limit = pLimit({ concurrency, rejectOnClear: true });
  const outcomes = await Promise.allSettled(
    folder.pairs.map((pair) =>
      limit(() => work(pair, () => progress.step())).catch((error: unknown) => {
        limit.clearQueue();
        throw folder.withLine(pair, error);
      }),
    ),
  );
  progress.end();
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

const isDirection = ({ view }: Measurement): boolean => view === 'as it is' || view === 'swapped';
const formatEvidence = ({ pair: { id }, view, evidence }: Measurement): string =>
  `${JSON.stringify({ id, swapped: view === 'swapped', evidence })}\n`;

const detectorRuns = (signals: readonly Readonly<Record<string, Signal>>[]): DetectorRun[] =>
  Object.keys(signals[0] ?? {}).map((name) => ({ name, signals: signals.map((of) => of[name] as Signal) }));
