/** `scenedelta when INPUT --roi x,y,w,h`: finds the moment at which a place in a recording changed. */
import { join } from 'node:path';
import { invalidRequest, ScenedeltaError } from '../base/errors.js';
import { privacyPolygons } from '../camera/settings/zones.js';
import type { RecordingPlan } from '../footage/inputs/plan.js';
import type { FootageItem } from '../footage/inputs/recording-plan.js';
import { parseDuration, parseTimeOption } from '../footage/inputs/times.js';
import type { Moment } from '../footage/records.js';
import { type FoundPlaceSearch, searchPlace } from '../footage/search/place-search.js';
import type { PlaceInterval, PlaceSearch } from '../schemas/place-search.js';
import { createCommand } from './command.js';
import { readRoi } from './footage/options.js';
import { type RecordingOptions, readSeconds, withRecordingOptions } from './footage/recording-options.js';
import { formatMoment } from './footage/report-lines.js';
import { type InputOptions, withRecordings } from './footage/start.js';
import { printError, printLine } from './print.js';
import { makeFolder, writeAtOnce } from './write-at-once.js';

interface WhenOptions extends InputOptions, Pick<RecordingOptions, 'between' | 'every' | 'covered'> {
  readonly roi: string;
  readonly json?: true;
}

export const command = withRecordingOptions(createCommand('when'), 'when', [
  'between',
  'every',
  'covered',
  'template',
  'start',
  'tz',
  'imageInterval',
])
  .description(
    'Finds when a place in a recording changed, and whether it became again as it was. It looks at about 2 log2(n) of ' +
      'n frames. A place that something covers for a while has not changed.',
  )
  .argument('<input...>', 'recordings of one camera: files, folders or globs')
  .requiredOption('--roi <x,y,w,h>', 'the place: a rectangle in pixels or in fractions of the frame')
  .option('-c, --config <file>', 'settings of the camera, JSON or YAML: its privacy zones are black in every frame')
  .option('-d, --output-dir <folder>', 'write when.json and both frames of each change into this folder')
  .option('--json', 'print the result as JSON')
  .option('--camera <name>', 'the camera, if the recordings are of several')
  .option('--model <name>', 'bundle to use; default: DEFAULT_MODEL')
  .option('--device <device>', 'auto, cpu or cuda:N; default: DEVICE')
  .action(run);

async function run(inputs: readonly string[], options: WhenOptions): Promise<void> {
  const every = options.every === 'auto' ? 1 : parseDuration(options.every, '--every');
  const covered = readSeconds('covered', options.covered);
  await withRecordings(inputs, options, async (recordings) => {
    const { config, timeZone, settings, frameSize, signal, materialize, pipeline } = recordings;
    const items = itemsOf(recordings.plan, options.camera);
    const place = await readRoi(options.roi, frameSize);
    const range = rangeOf(options.between, items, timeZone);
    const { ffmpeg, videoPixelLimit, frameLimit } = config;
    const search = {
      ffmpeg,
      videoPixelLimit,
      frameLimit,
      every,
      range,
      signal,
      place,
      covered,
      pipeline,
      materialize,
      privacy: privacyPolygons(settings.zones),
      decodeLimits: config,
    };
    const found = await searchPlace(items, search, options.outputDir === undefined ? null : (name) => name);
    await report(found, options, timeZone);
  });
}

async function report({ record, pictures }: FoundPlaceSearch, options: WhenOptions, timeZone: string): Promise<void> {
  const json = `${JSON.stringify(record, null, 2)}\n`;
  const folder = options.outputDir;
  if (folder !== undefined) {
    await makeFolder(folder);
    for (const [name, bytes] of pictures) await writeAtOnce(join(folder, name), bytes);
    await writeAtOnce(join(folder, 'when.json'), json);
  }
  for (const { file, reason } of record.failures) printError(`${file} is left out: ${reason}`);
  if (options.json) process.stdout.write(json);
  else printLine(sentences(record, options.covered, timeZone));
}

const inTime = (a: Moment, b: Moment): number => (a.at ?? '').localeCompare(b.at ?? '') || a.seconds - b.seconds;

/** @param longest time for which something may stand before the place, as it was given */
function sentences(record: PlaceSearch, longest: string, timeZone: string): string {
  const { changed, changed_back: changedBack, looks, covered, frames } = record;
  const looked = `looked at ${looks} of ${frames} frames`;
  const time = (moment: Moment) => formatMoment(moment, timeZone) ?? `${moment.seconds} s`;
  if (changed === null) {
    const others = [...covered].sort(inTime).map(time).join(', ');
    const brief =
      others === ''
        ? `one that lasts no longer than --covered ${longest} is no change`
        : `it looked otherwise at ${others}, but no longer than --covered ${longest}: a shorter one makes it a change`;
    return `no change of the place was found (${looked}); ${brief}`;
  }
  const line = ({ before, after, exact, change }: PlaceInterval) => {
    const [from, until] = [before, after].map((moment) => `${time(moment)} (${moment.file}, ${moment.seconds} s)`);
    const between = `between ${from} and ${until}`;
    return `${between}${exact ? '' : ', whose frames could not be decided'}: ${change.caption}`;
  };
  const hidden = covered.length === 0 ? '' : `, in ${covered.length} of them the place was covered`;
  return [line(changed), ...(changedBack === null ? [] : [`back ${line(changedBack)}`]), `${looked}${hidden}`].join(
    '\n',
  );
}

/**
 * @throws ScenedeltaError 'invalid-request' unless the recordings are of one camera; 'image-unreadable' if none can be
 *   read
 */
function itemsOf({ sequences, failures }: RecordingPlan, camera: string | undefined): readonly FootageItem[] {
  const [failure] = failures;
  if (sequences.length === 0 && failure !== undefined) {
    throw new ScenedeltaError('image-unreadable', `no recording can be read: ${failure.file} ${failure.reason}`);
  }
  const names = sequences.map((sequence) => sequence.camera).join(', ');
  const found = sequences.length === 1 ? sequences[0] : sequences.find((sequence) => sequence.camera === camera);
  if (found !== undefined) return found.items;
  const came = sequences.length === 0 ? 'no camera' : names;
  throw invalidRequest(`the recordings are of ${came}: expected one camera (--camera)`);
}

/** @throws ScenedeltaError 'invalid-request' */
function rangeOf(between: readonly string[] | undefined, items: readonly FootageItem[], timeZone: string) {
  if (between === undefined) return { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
  const begin = items[0]?.at ?? 0;
  const [from, until, ...others] = between.map((text) => {
    const time = parseTimeOption(text, '--between', timeZone);
    if ('at' in time) return time.at;
    if ('seconds' in time) return begin + time.seconds * 1000;
    throw invalidRequest(`--between ${text}: expected a time as 12.5s or 2026-06-01T12:00:00`);
  });
  if (from !== undefined && until !== undefined && others.length === 0 && from < until) return { from, until };
  const came = between.join(' ');
  throw invalidRequest(`--between ${came}: expected two times, the earlier one first`);
}
