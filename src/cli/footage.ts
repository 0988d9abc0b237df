/** `scenedelta footage INPUT... -d OUT`: every change in hours of video or folders of frames, with its sentence. */
import { availableParallelism } from 'node:os';
import { counted } from '../base/counted.js';
import { invalidRequest, invalidValue } from '../base/errors.js';
import { VERSION } from '../base/version.js';
import { localFiles } from '../footage/inputs/local-files.js';
import type { RecordingPlan } from '../footage/inputs/plan.js';
import { fingerprintOf, runRecording } from '../footage/run/recording-run.js';
import { RunFolder } from '../footage/run/run-folder.js';
import { hardwareDecoder } from '../footage/video/hardware.js';
import { passthroughOptions } from '../footage/video/version.js';
import type { Pipeline } from '../pipeline/compare.js';
import type { Config } from '../process/config.js';
import { collect, createCommand, listenForStop, removedOption } from './command.js';
import { configWith } from './config-with.js';
import { assertNoPrivacy, clipWriter } from './footage/clips.js';
import { dryRunFootage } from './footage/dry-run.js';
import { type FootageOptions, readCount, readEvery, readSettings, readShare } from './footage/options.js';
import { writeResults } from './footage/outputs.js';
import { isManifest, runPairs } from './footage/pairs.js';
import { startFootageProgress } from './footage/progress.js';
import { boundSequences, firstFrameSize } from './footage/range.js';
import { readSeconds, withRecordingOptions } from './footage/recording-options.js';
import { assertAccounted, formatResult } from './footage/report-lines.js';
import { scanTable } from './footage/scan.js';
import { planOf, s3Sources, startPipeline } from './footage/start.js';
import { printError, printLine } from './print.js';
import { LOCALE_OPTION, readLocale } from './read-locale.js';
import { makeFolder } from './write-at-once.js';

export const command = withRecordingOptions(createCommand('footage'), 'changes', [
  'template',
  'tz',
  'start',
  'imageInterval',
  'every',
  'exact',
  'acrossGaps',
  'mergeWindow',
])
  .description(
    'Says what changed in recordings, and when: videos, folders of dated frames, recorder layouts. The same command ' +
      'goes on after an interruption.',
  )
  .argument(
    '<input...>',
    'files, folders, globs, image sequences (frame-%04d.jpg), s3://BUCKET/PREFIX, or pairs.ndjson',
  )
  .option('-d, --output-dir <folder>', 'folder of the outputs; needed without --scan-only', '')
  .option('--camera <name>', 'name of the camera, if no template names it; default: the folder of the files')
  .option('--start-time <time>', 'begin here (-st): HH:MM:SS.nnn, 12.5s, the number of a frame, or a capture time')
  .option('--end-time <time>', 'end here (-et)')
  .option('--duration <time>', 'end this long after the begin (-dt)')
  .option('--roi <x,y,w,h>', 'only changes in this rectangle, in pixels or fractions; may be repeated', collect)
  .option('-c, --config <file>', 'settings of the cameras as for PUT /v1/cameras/{id}, JSON or YAML')
  .option('--gap <duration>', 'pause after which frames are not compared; default: gap_s, or 4 typical intervals')
  .option('--max-failure-rate <share>', 'end with status 1 if more files fail', '1')
  .option('--parallel <count>', 'cameras at a time; default: the number of processors')
  .addOption(removedOption('--jobs <count>', 'the pairs of one camera are compared one after the other'))
  .option('--locale <tag>', `${LOCALE_OPTION}; default: that of the settings (-c)`, readLocale)
  .option('--model <name>', 'bundle to use; default: DEFAULT_MODEL')
  .option('--device <device>', 'auto, cpu or cuda:N; default: DEVICE')
  .option('--clips', 'also write a short clip of each change, cut from its video')
  .option(
    '--from-stats',
    'the inputs are folders of earlier runs: print the alerts that other settings (-c) would cause',
  )
  .option('--scan-only', 'only print a table per camera: files, times and their source, gaps, overlaps, doubts')
  .option('--restart', 'drop what an earlier run left in the folder')
  .option('-q, --quiet', 'print errors only')
  .action(run);

/** Options of two letters, as other tools for video have them; commander knows one letter only. */
const TWO_LETTERS: Readonly<Record<string, string>> = {
  '-st': '--start-time',
  '-et': '--end-time',
  '-dt': '--duration',
};
const parseOptions = command.parseOptions.bind(command);
command.parseOptions = (argv) => parseOptions(argv.map((argument) => TWO_LETTERS[argument] ?? argument));

/** Exit status of a program that was ended by Ctrl-C. */
const INTERRUPTED = 130;

async function run(inputs: readonly string[], options: FootageOptions): Promise<void> {
  const areRecordings = !options.fromStats && !inputs.some(isManifest);
  if (options.scanOnly && !areRecordings) {
    throw invalidRequest('--scan-only: expected recordings, without --from-stats and a manifest of pairs');
  }
  if (options.outputDir === '' && !options.scanOnly) {
    throw invalidRequest(`expected -d, --output-dir <folder>${areRecordings ? ', or --scan-only' : ''}`);
  }
  const config = await configWith(options);
  if (options.fromStats) return dryRunFootage(inputs, options, config);
  const stop = listenForStop();
  try {
    await processInputs(inputs, options, config, stop.signal);
  } finally {
    stop.done();
  }
}

async function processInputs(
  inputs: readonly string[],
  options: FootageOptions,
  config: Config,
  signal: AbortSignal,
): Promise<void> {
  const print = (text: string) => {
    if (options.quiet === undefined) printLine(text);
  };
  const every = readEvery(options);
  const maxFailureRate = readShare(options.maxFailureRate ?? '1', '--max-failure-rate');
  const mergeWindow = options.mergeWindow === undefined ? null : readSeconds('mergeWindow', options.mergeWindow);
  const parallel = readCount('--parallel', options.parallel, availableParallelism());
  const [manifest, ...others] = inputs.filter(isManifest);
  if (manifest !== undefined) {
    if (others.length > 0 || inputs.length > 1) {
      throw invalidRequest(`${manifest}: expected no other input beside a manifest of pairs`);
    }
    const { failures, pairs } = await runPairs(manifest, options, { config, concurrency: parallel, signal });
    print(`${counted(pairs, 'pair')}, ${counted(failures, 'failure')}\nresults in ${options.outputDir}`);
    if (signal.aborted) process.exitCode = INTERRUPTED;
    else assertFewFailures({ failures, files: pairs, examined: pairs - failures }, maxFailureRate);
    return;
  }
  // The graphs are opened while the inputs are looked through.
  const opening = options.scanOnly ? null : startPipeline(config);
  opening?.catch(() => {});
  try {
    const numbers = { every, maxFailureRate, mergeWindow, parallel };
    await processRecordings(inputs, options, { config, signal, print, opening, ...numbers });
  } finally {
    await (await opening?.catch(() => null))?.close();
  }
}

interface RecordingRun {
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
  /** null: no frame is to be examined */
  readonly opening: Promise<Pipeline> | null;
  readonly every: ReturnType<typeof readEvery>;
  readonly maxFailureRate: number;
  /** seconds */
  readonly mergeWindow: number | null;
  readonly parallel: number;
}

async function processRecordings(
  inputs: readonly string[],
  options: FootageOptions,
  { config, signal, print, opening, every, maxFailureRate, mergeWindow, parallel }: RecordingRun,
): Promise<void> {
  const { plan, timeZone } = await planOf(inputs, options, config, signal);
  const settings = await readSettings(options, () => firstFrameSize(plan, config, signal));
  if (options.clips) assertNoPrivacy(settings.zones);
  const sequences = await boundSequences(plan, { options, settings, config, timeZone, every, signal });
  for (const warning of plan.warnings) printError(`scenedelta footage: ${warning}`);
  if (opening === null) return void printLine(await scanTable(plan, sequences, config, { timeZone, signal }));

  // One refusal instead of one per file.
  const hasVideos = sequences.some(({ items }) => items.some(({ kind }) => kind === 'video'));
  if (hasVideos) {
    await passthroughOptions(config.ffmpeg, signal);
    const decoder = await hardwareDecoder(config.ffmpeg, config.ffmpegHwaccel, signal);
    if (config.ffmpegHwaccel !== 'none')
      print(`videos are decoded by ${decoder ?? 'the CPU: no device can be opened'}`);
  }
  await makeFolder(options.outputDir);
  const folder = new RunFolder(options.outputDir);
  const fingerprint = fingerprintOf({ VERSION, sequences, settings, every, model: config.defaultModel });
  if (await folder.begin(fingerprint, options.restart === true)) print(`going on with the run in ${options.outputDir}`);
  const pipeline = await opening;
  const progress = startFootageProgress(sequences, options.quiet === true);
  try {
    const checkpoints = await runRecording(
      sequences,
      settings,
      {
        pipeline,
        decodeLimits: config,
        parallel,
        checkpoints: (camera) => folder.checkpoints(camera),
        source: { ...config, every, materialize: localFiles(folder.downloads, s3Sources(config)) },
        onProgress: progress.reach,
      },
      signal,
    );
    progress.end();
    const cameras = sequences.map(({ camera }, i) => ({
      camera,
      checkpoint: checkpoints[i] as (typeof checkpoints)[0],
    }));
    const mergeWindowMs = mergeWindow === null ? null : mergeWindow * 1000;
    const { failures, warnings } = plan;
    const records = folder.records.bind(folder);
    const results = { records, settings: () => settings, timeZone, cameras, failures, warnings, mergeWindowMs };
    const clip = options.clips ? await clipWriter(options.outputDir, sequences, config, signal) : undefined;
    const recording = await writeResults(options.outputDir, results, clip);
    for (const warning of recording.summary.warnings ?? []) {
      if (!warnings.includes(warning)) printError(`scenedelta footage: ${warning}`);
    }
    print(formatResult(recording, options.outputDir, timeZone));
    assertAccounted(recording);
    if (signal.aborted) process.exitCode = INTERRUPTED;
    else {
      const examined = recording.summary.cameras.reduce((sum, { frames }) => sum + frames, 0);
      // A file may be damaged in several places.
      const failures = new Set(recording.failures.map(({ file }) => file)).size;
      assertFewFailures({ failures, files: filesOf(plan), examined }, maxFailureRate);
    }
  } finally {
    progress.end();
  }
}

const filesOf = ({ sequences, failures }: RecordingPlan): number =>
  sequences.reduce((sum, { items }) => sum + items.length, failures.length);

/**
 * @param done examined: frames or pairs, of all files together
 * @throws ScenedeltaError 'invalid-value' with both shares, or if nothing could be examined
 */
function assertFewFailures(done: { failures: number; files: number; examined: number }, most: number): void {
  const { failures, files, examined } = done;
  if (failures > 0 && examined === 0) {
    throw invalidValue(`none of ${counted(files, 'file')} could be examined: the results have the reasons`);
  }
  if (failures <= files * most) return;
  throw invalidValue(
    `${counted(failures, 'failure')} in ${counted(files, 'file')}, ` +
      `expected a share of at most ${most} (--max-failure-rate)`,
  );
}
