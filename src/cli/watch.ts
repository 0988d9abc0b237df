/** `scenedelta watch FOLDER`: a folder that cameras fill by FTP, as frames of cameras of a running service. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../base/clock.js';
import { counted } from '../base/counted.js';
import { invalidRequest } from '../base/errors.js';
import { PRESETS } from '../camera/settings/presets.js';
import { planRecording } from '../footage/inputs/plan.js';
import type { FootageItem } from '../footage/inputs/recording-plan.js';
import { parseDuration } from '../footage/inputs/times.js';
import { baseUrl, keyOf } from './api-client.js';
import { createCommand, listenForStop } from './command.js';
import { configWith } from './config-with.js';
import { readTemplate } from './footage/options.js';
import { type RecordingOptions, withRecordingOptions } from './footage/recording-options.js';
import { printError, printLine } from './print.js';
import { createFrameClient, type FrameClient } from './watch/client.js';
import { openFolder, type WatchedFolder } from './watch/folder.js';

interface Options extends Pick<RecordingOptions, 'template' | 'tz'> {
  readonly api: string;
  readonly keyFile?: string;
  readonly camera?: string;
  readonly move?: string;
  readonly delete?: true;
  readonly settle: string;
  readonly interval: string;
  readonly once?: true;
  readonly preset?: string;
}

export const command = withRecordingOptions(createCommand('watch'), 'changes', ['template', 'tz'])
  .description(
    'Sends the pictures that cameras put into a folder (FTP) to a running service: complete ones, the oldest first. ' +
      'The same command goes on after a stop.',
  )
  .argument('<folder>', 'with the folders below it')
  .option('--camera <id>', 'camera of all pictures; default: by the template, the name of the file or its folder')
  .option('--preset <preset>', `what new cameras alert: ${PRESETS.join(', ')}; default: everything`)
  .option('--move <folder>', 'move pictures there once the service has them; default: they are left where they are')
  .option('--delete', 'delete pictures once the service has them')
  .option('--settle <duration>', 'a file that did not change for this time is complete', '5s')
  .option('--interval <duration>', 'time between two looks at the folder', '2s')
  .option('--once', 'end when the pictures that are there have been sent')
  .option('--api <url>', 'address of the service', 'http://127.0.0.1:8080')
  .option('--key-file <file>', 'file with an API key; default: first-key in DATA_DIR, if it exists')
  .action(run);

/** Longest time between two tries while the service is away or has too much to do, ms. */
const LONGEST_WAIT_MS = 60_000;

async function run(path: string, options: Options): Promise<void> {
  if (options.move !== undefined && options.delete) {
    throw invalidRequest('--move and --delete are both given: expected one of them');
  }
  if (options.preset !== undefined && !PRESETS.some((one) => one === options.preset)) {
    throw invalidRequest(`--preset ${options.preset}: expected one of ${PRESETS.join(', ')}`);
  }
  const config = await configWith({});
  const { template, timeZone } = readTemplate(options);
  const intervalMs = parseDuration(options.interval, '--interval') * 1000;
  const settleMs = parseDuration(options.settle, '--settle') * 1000;
  const then = options.delete ? 'delete' : (options.move ?? null);
  const folder = await openFolder(path, then);
  const client = createFrameClient(baseUrl(options.api, '--api'), await keyOf(config, options.keyFile), options);
  const { signal, done } = listenForStop();
  const warned = new Set<string>();
  const warn = (text: string) => {
    if (!warned.has(text)) printError(`scenedelta watch: ${text}`);
    warned.add(text);
  };
  const counts: Counts = { sent: 0, refused: 0 };
  const last = new Map<string, number>();
  let left = 0;
  try {
    while (!signal.aborted) {
      const { complete, growing, videos, ...seen } = await folder.look(systemClock(), settleMs);
      if (videos > 0) warn(`videos in ${path} are left alone: scenedelta footage reads them`);
      const plan = await planRecording(complete, {
        template,
        timeZone,
        signal,
        camera: options.camera ?? null,
        start: null,
        imageInterval: 1,
        ffmpeg: config.ffmpeg,
        videoPixelLimit: config.videoPixelLimit,
        now: systemClock(),
      });
      left = seen.left + plan.failures.length;
      for (const warning of plan.warnings) warn(warning);
      for (const { file, reason } of plan.failures) {
        warn(`${file} ${reason}`);
        folder.setAside(file);
      }
      await Promise.all(
        plan.sequences.map(async ({ camera, items }) => {
          for (const item of items) {
            if (signal.aborted) return;
            const at = after(last.get(camera), item.at);
            last.set(camera, at);
            await send(camera, { ...item, at }, { client, folder, counts, signal });
          }
        }),
      );
      if (options.once && growing === 0) break;
      await delay(intervalMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    done();
  }
  const { sent, refused } = counts;
  printLine(
    `${counted(sent + refused + left, 'picture')} in = ${sent} sent + ${refused} refused + ` +
      `${left} without a camera or a time`,
  );
}

interface Counts {
  sent: number;
  refused: number;
}

/** Pictures of one second that two looks find keep their order. @param last capture time of the one before, epoch ms */
const after = (last: number | undefined, at: number): number =>
  last !== undefined && at <= last && at > last - 1000 ? last + 1 : at;

/** Sends a picture until the service has it or refuses it. @throws ScenedeltaError if no picture can be sent */
async function send(
  camera: string,
  { file, at, location }: FootageItem,
  deps: { client: FrameClient; folder: WatchedFolder; counts: Counts; signal: AbortSignal },
): Promise<void> {
  const { client, folder, counts, signal } = deps;
  if (location.from !== 'file') throw new TypeError(`${file} is no file of the folder`);
  // A restart between the answer and the note sends it again, which the service recognises.
  const key = createHash('sha256').update(`${file} ${at}`).digest('hex');
  for (let waitMs = 500; !signal.aborted; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    const bytes = await folder.read(location.path);
    if (bytes === null) return;
    const outcome = await client.send(camera, { bytes, at, key });
    if (outcome.kind === 'later') {
      if (waitMs === LONGEST_WAIT_MS) printError(`scenedelta watch: ${outcome.reason}; ${file} waits`);
      await delay(waitMs, undefined, { signal }).catch(() => {});
      continue;
    }
    counts[outcome.kind]++;
    if (outcome.kind === 'refused') printError(`scenedelta watch: ${file} refused: ${outcome.reason}`);
    return folder.done(file, location.path);
  }
}
