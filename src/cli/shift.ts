/** `scenedelta shift INPUT --at 07:00 --with "16:50 yesterday"`: compares two times of each day of an archive. */
import { join } from 'node:path';
import { checkRound, type Round } from '../camera/settings/rounds.js';
import { privacyPolygons } from '../camera/settings/zones.js';
import { StillFrames } from '../footage/inputs/still-frames.js';
import { parseDuration } from '../footage/inputs/times.js';
import { type Shift, shiftsOf } from '../footage/search/shift.js';
import { roundFigures } from '../schemas/rounding.js';
import { createCommand } from './command.js';
import { formatMoment } from './footage/report-lines.js';
import { type RecordingOptions, withRecordings } from './footage/start.js';
import { printError, printLine } from './print.js';
import { makeFolder, writeAtOnce } from './write-at-once.js';

interface ShiftOptions extends RecordingOptions {
  readonly at: string;
  readonly with: string;
  readonly days?: string;
}

export const command = createCommand('shift')
  .description('Compares, for each camera and day of an archive, the pictures nearest to two times of the day.')
  .argument('<input...>', 'recordings: files, folders or globs')
  .requiredOption('--at <HH:MM>', 'local time of the later picture')
  .requiredOption('--with <time>', 'local time of the earlier picture: HH:MM, or "HH:MM yesterday"')
  .option('--days <days>', 'days of the later picture, as mon,tue; default: all')
  .option('--every <duration>', 'time between two frames of a video', '10s')
  .option('-c, --config <file>', 'settings of the camera, JSON or YAML: its zones and its threshold')
  .option('-d, --output-dir <folder>', 'write shift.json and the pictures into this folder')
  .option('--json', 'print the result as JSON')
  .option('--template <text>', 'camera and time from the paths, as for `scenedelta footage`')
  .option('--camera <name>', 'the camera of all recordings')
  .option('--start <time>', 'capture time of the first frame')
  .option('--tz <zone>', 'time zone of both times, and of times without one')
  .option('--image-interval <duration>', 'with --start: time between two pictures', '1s')
  .option('--model <name>', 'bundle to use; default: DEFAULT_MODEL')
  .option('--device <device>', 'auto, cpu or cuda:N; default: DEVICE')
  .action(run);

async function run(inputs: readonly string[], options: ShiftOptions): Promise<void> {
  const every = parseDuration(options.every, '--every');
  await withRecordings(inputs, options, async ({ plan, timeZone, config, settings, signal, materialize, pipeline }) => {
    const round = checkRound({
      ...{ name: 'shift', at: options.at, with: options.with, tz: timeZone },
      ...(options.days === undefined ? {} : { days: options.days.split(',') }),
    });
    for (const { file, reason } of plan.failures) printError(`${file} is left out: ${reason}`);
    const range = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
    const privacy = privacyPolygons(settings.zones);
    const of = { settings, privacy, pipeline: await pipeline(), decodeLimits: config, signal };
    if (options.outputDir !== undefined) await makeFolder(options.outputDir);
    const records: object[] = [];
    for (const { camera, items } of plan.sequences) {
      const frames = await StillFrames.of(items, { ...config, every, range, signal, materialize });
      try {
        for await (const shift of shiftsOf(frames, round, of)) {
          records.push(await keep(camera, shift, options.outputDir));
          if (!options.json) printLine(sentence(camera, shift, round));
        }
      } finally {
        await frames.close();
      }
      for (const { file, reason } of frames.failures) printError(`${file} is left out: ${reason}`);
    }
    const json = `${JSON.stringify(records, null, 2)}\n`;
    if (options.outputDir !== undefined) await writeAtOnce(join(options.outputDir, 'shift.json'), json);
    if (options.json) process.stdout.write(json);
    else if (records.length === 0) printLine(`no day of the recordings has a picture near ${round.at}`);
  });
}

/** @returns the record of a round, whose pictures are in the folder */
async function keep(camera: string, shift: Shift, folder: string | undefined): Promise<object> {
  const { day, before, after, finding, missing } = shift;
  const pictures: Record<string, string> = {};
  if (folder !== undefined) {
    for (const [side, picture] of Object.entries({ before, after })) {
      if (picture === null) continue;
      const name = `${camera.replaceAll(/[^\w.-]+/g, '_')}-${day}-${side}.jpg`;
      await writeAtOnce(join(folder, name), picture.bytes);
      pictures[side] = name;
    }
  }
  const moments = { before: before?.moment ?? null, after: after?.moment ?? null };
  return roundFigures({ v: 1, camera, day, ...moments, missing, finding, ...(folder && { pictures }) });
}

function sentence(camera: string, { day, before, after, finding, missing }: Shift, { tz }: Round): string {
  if (finding === null || before === null || after === null) return `${day} ${camera}: ${missing.join('; ')}`;
  const [from, until] = [before, after].map(
    ({ moment }) => `${formatMoment(moment, tz) ?? moment.seconds} (${moment.file})`,
  );
  return `${day} ${camera}: ${finding.caption}; between ${from} and ${until}`;
}
