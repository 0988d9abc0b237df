/** `scenedelta companion frigate`: writes sentences about what changed into the descriptions of a recorder's events. */
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../clock.js';
import {
  collect,
  createCommand,
  goneOption,
  listenForStop,
  parseDuration,
  type ServiceOptions,
  withService,
} from '../command.js';
import { Failure, usage } from '../failure.js';
import { printError, printLine } from '../print.js';
import { baseUrl, openService } from '../service.js';
import { compareBy } from './compare.js';
import { lookOnce, MARK } from './look.js';
import { readProgress, writeProgress } from './progress-file.js';
import { createRecorder } from './recorder.js';

interface Options extends ServiceOptions {
  readonly url: string;
  readonly camera: readonly string[];
  readonly state: string;
  readonly since: string;
  readonly interval: string;
  readonly gap: string;
  readonly perMinute: string;
  readonly once?: true;
  readonly dryRun?: true;
}

export const command = createCommand('companion').description('Helps another program along.');

withService(command.command('frigate'))
  .description(
    'Compares, for each finished event of a Frigate recorder, the frame before it with the frame after it, and writes ' +
      `the sentence as the description of the event, followed by "${MARK.trim()}". An event that has a description ` +
      'is left alone. FRIGATE_TOKEN has the token of a recorder that asks for a login.',
  )
  .requiredOption('--url <url>', 'address of the recorder, e.g. http://127.0.0.1:5000')
  .option('--camera <id>', 'only events of this camera; may be given several times', collect, [])
  .option('--state <file>', 'file with the handled events, to go on after a stop', 'frigate-companion.json')
  .option('--since <duration>', 'without that file: begin with the events of this time', '1h')
  .option('--interval <duration>', 'time between two looks at the list of events', '15s')
  .option('--gap <duration>', 'time between the event and each of the two frames', '5s')
  .option('--per-minute <count>', 'most events that are compared per minute', '30')
  .option('--once', 'end after one look')
  .option('--dry-run', 'print the sentences, write nothing to the recorder and no state')
  .addOption(goneOption('--model <name>', 'the service compares, with its DEFAULT_MODEL'))
  .addOption(goneOption('--device <device>', 'the service compares, on its DEVICE'))
  .action(run);

/** Longest time between two looks while the recorder or the service fails, ms. */
const LONGEST_WAIT_MS = 300_000;
/** Longest time of one request to the recorder with its answer, ms. */
const TIMEOUT_MS = 15_000;
/** Largest frame of the recorder, bytes: the FRAME_LIMIT of a service by default. */
const FRAME_LIMIT = 20 * 1024 * 1024;
const nowSeconds = () => systemClock() / 1000;

async function run(options: Options): Promise<void> {
  const gapSeconds = parseDuration(options.gap, '--gap');
  const intervalMs = parseDuration(options.interval, '--interval') * 1000;
  const since = parseDuration(options.since, '--since');
  const pace = createPace(options.perMinute);
  const url = baseUrl(options.url, '--url', 'recorder');
  const recorder = createRecorder(url, {
    token: process.env.FRIGATE_TOKEN,
    timeoutMs: TIMEOUT_MS,
    frameLimit: FRAME_LIMIT,
  });
  const service = await openService(options);
  let progress = (await readProgress(options.state)) ?? { v: 1 as const, after: nowSeconds() - since, handled: {} };

  const { signal, done } = listenForStop();
  const look = { cameras: options.camera, gapSeconds, dryRun: options.dryRun === true };
  try {
    for (let waitMs = intervalMs; !signal.aborted; ) {
      try {
        progress = await lookOnce(progress, look, {
          recorder,
          compare: (before, after) => compareBy(service, before, after),
          pace: () => pace(signal),
          now: nowSeconds,
          print: printLine,
          save: async (reached) => {
            progress = reached;
            await writeProgress(options.state, reached);
          },
          signal,
        });
        waitMs = intervalMs;
      } catch (thrown) {
        if (signal.aborted) break;
        // Anything but a failure is a defect, and a file that cannot be written stays so.
        if (options.once || !(thrown instanceof Failure) || thrown.kind === 'usage') throw thrown;
        waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
        printError(`${thrown.message}; the next look is in ${Math.round(waitMs / 1000)} s`);
      }
      if (options.once) break;
      await delay(waitMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    done();
  }
}

/** @returns a function that waits until another event may be compared. @throws Failure 'usage' */
function createPace(perMinute: string): (signal: AbortSignal) => Promise<void> {
  const count = Number(perMinute);
  if (!(count > 0)) {
    const message = `--per-minute ${JSON.stringify(perMinute)}: expected a number above 0`;
    throw usage(message);
  }
  let next = 0;
  return async (signal) => {
    const wait = next - systemClock();
    if (wait > 0) await delay(wait, undefined, { signal });
    next = Math.max(next, systemClock()) + 60_000 / count;
  };
}
