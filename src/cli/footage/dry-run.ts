/** `scenedelta footage --from-stats`: the alerts that other settings would have caused, without decoding again. */
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Value } from 'typebox/value';
import { counted } from '../../base/counted.js';
import { invalidRequest, ScenedeltaError } from '../../base/errors.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import { changesCsv } from '../../footage/outputs/csv.js';
import { ndjson } from '../../footage/outputs/json.js';
import { compareRecords } from '../../footage/outputs/recording.js';
import { type FrameStats, FrameStatsSchema } from '../../footage/records.js';
import { type DryRun, type DryRunAlert, dryRun } from '../../footage/replay/camera-replay.js';
import { STATE_FOLDER } from '../../footage/run/run-folder.js';
import type { Bundle } from '../../model/manifest.js';
import { loadBundles } from '../../pipeline/bundles.js';
import type { Config } from '../../process/config.js';
import { roundFigures } from '../../schemas/rounding.js';
import { withBundles } from '../config-with.js';
import { printError, printLine } from '../print.js';
import { makeFolder, writeAtOnce } from '../write-at-once.js';
import { type FootageOptions, readSettings, readTemplate } from './options.js';
import { formatMoment } from './report-lines.js';

/**
 * @param inputs folders of outputs, or files with their stats.ndjson
 * @throws ScenedeltaError 'invalid-request', 'invalid-value', 'unknown-model'
 */
export async function dryRunFootage(inputs: readonly string[], options: FootageOptions, config: Config): Promise<void> {
  const { outputDir } = options;
  if (existsSync(join(outputDir, STATE_FOLDER))) {
    throw invalidRequest(`${outputDir} has the outputs of a run: expected another -d`);
  }
  const settings = await readSettings(options, () => {
    throw invalidRequest('--roi in pixels: expected fractions of the frame, 0 to 1');
  });
  if (settings.zones.some(({ type }) => type === 'privacy')) {
    printError('scenedelta footage: privacy zones hide nothing in recorded evidence; those of the run stay');
  }
  const bundles = settings.threshold === null ? await readBundles(config, settings) : [];
  const bundle = bundles.find(({ manifest: { name } }) => name === (settings.model ?? config.defaultModel));
  const { operating_points: points, threshold } = bundle?.manifest.calibration ?? UNKNOWN;
  const results = await dryRun(statsOf(inputs), settings, { points, threshold });
  await write(outputDir, results);
  const { timeZone } = readTemplate({ tz: 'UTC', ...options });
  for (const result of results) {
    if (options.quiet === undefined) printLine(lines(result, timeZone).join('\n'));
    if (result.undecided > 0) printError(`scenedelta footage: ${undecidedLine(result)}`);
  }
}

const UNKNOWN = { operating_points: [], threshold: null };

/** A dry run without a false-alarm budget needs no bundle; the evidence then says whether one is needed. */
async function readBundles(config: Config, settings: CameraSettings): Promise<readonly Bundle[]> {
  const error = ({ reason }: { reason: string }) => printError(`broken: ${reason}`);
  try {
    return await withBundles(config, loadBundles(config.modelsDir, config.defaultModel, { error }));
  } catch (thrown) {
    if (settings.false_alarms_per_day !== null) throw thrown;
    return [];
  }
}

async function* statsOf(inputs: readonly string[]): AsyncGenerator<FrameStats> {
  for (const input of inputs) {
    const found = await stat(input).catch((cause: NodeJS.ErrnoException) => {
      throw new ScenedeltaError('invalid-request', `${input} cannot be read (${cause.code})`, { cause });
    });
    const file = found.isDirectory() ? join(input, 'stats.ndjson') : input;
    if (!existsSync(file)) {
      throw invalidRequest(`${input} has no stats.ndjson, expected the folder of a run`);
    }
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(file) })) {
      number++;
      if (line !== '') yield parsed(line, `${file}:${number}`);
    }
  }
}

function parsed(line: string, place: string): FrameStats {
  try {
    const value: unknown = JSON.parse(line);
    if (Value.Check(FrameStatsSchema, value)) return value;
    const [fault] = Value.Errors(FrameStatsSchema, value);
    throw new Error(`${fault?.instancePath ?? ''} ${fault?.message ?? 'is invalid'}`);
  } catch (cause) {
    const expected = 'expected the evidence of a frame, as `scenedelta footage` writes it to stats.ndjson';
    throw new ScenedeltaError('invalid-request', `${place}: ${(cause as Error).message}; ${expected}`, { cause });
  }
}

async function write(folder: string, results: readonly DryRun[]): Promise<void> {
  const changes = results.flatMap((result) => result.changes).sort(compareRecords);
  const cameras = results.map(({ alerts, changes: found, ...result }) => {
    return { ...result, alerts: alerts.length, changes: found.length };
  });
  await makeFolder(folder);
  await writeAtOnce(join(folder, 'alerts.ndjson'), ndjson(results.flatMap(({ alerts }) => alerts)));
  await writeAtOnce(join(folder, 'changes.ndjson'), ndjson(changes));
  await writeAtOnce(join(folder, 'changes.csv'), changesCsv(changes));
  await writeAtOnce(join(folder, 'dry-run.json'), `${JSON.stringify(roundFigures({ v: 1, cameras }), null, 2)}\n`);
}

function lines(result: DryRun, timeZone: string): string[] {
  const { camera, alerts, alertsPerDay, seconds, suppressed, changes, threshold, budget, undecided } = result;
  const perDay = alertsPerDay === null ? '' : ` (${Number(alertsPerDay.toPrecision(3))} per day)`;
  const limit = threshold === null ? '' : `, threshold ${Number(threshold.toPrecision(3))}`;
  const least = undecided === 0 ? '' : 'at least ';
  const total = `${least}${counted(alerts.length, 'alert')} in ${(seconds / 3600).toFixed(1)} h of footage${perDay}`;
  return [
    `${camera}: ${total}, ${suppressed} suppressed, ${counted(changes.length, 'change')}${limit}`,
    ...(budget === null ? [] : [`  false-alarm budget: ${budget.detail}`]),
    ...alerts.map((alert) => alertLine(alert, timeZone)),
  ];
}

function alertLine({ type, moment, severity, caption }: DryRunAlert, timeZone: string): string {
  const time = formatMoment(moment, timeZone) ?? `${moment.file}, ${moment.seconds} s`;
  return `  ${time} ${type} (${severity}): ${caption}`;
}

const undecidedLine = ({ camera, undecided, threshold }: DryRun): string =>
  `${camera}: ${counted(undecided, 'frame reaches', 'frames reach')} the threshold ${threshold} without regions, ` +
  'because the recorded run had a higher one; decode again with this threshold to count their alerts';
