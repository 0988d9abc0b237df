/** `scenedelta companion frigate`: writes sentences about what changed into the descriptions of a recorder's events. */
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../base/clock.js';
import { asScenedeltaError, invalidRequest } from '../base/errors.js';
import { parseDuration } from '../footage/inputs/times.js';
import { baseUrl, keyOf } from './api-client.js';
import { collect, createCommand, listenForStop } from './command.js';
import { configWith } from './config-with.js';
import { openApi, openPipeline } from './frigate/comparers.js';
import { readProgress, writeProgress } from './frigate/progress-file.js';
import { createRecorder } from './frigate/recorder.js';
import { MARK, runRound } from './frigate/round.js';
import { printError, printLine } from './print.js';

interface Options {
  readonly url: string;
  readonly api?: string;
  readonly keyFile?: string;
  readonly camera: readonly string[];
  readonly state: string;
  readonly since: string;
  readonly interval: string;
  readonly gap: string;
  readonly perMinute: string;
  readonly once?: true;
  readonly dryRun?: true;
  readonly model?: string;
  readonly device?: string;
}

export const command = createCommand('companion').description('Helps another program along.');

command
  .command('frigate')
  .description(
    'Compares, for each finished event of a Frigate recorder, the frame before it with the frame after it, and writes ' +
      `the sentence as the description of the event, followed by "${MARK.trim()}". An event that has a description ` +
      'is left alone. FRIGATE_TOKEN has the token of a recorder that asks for a login.',
  )
  .requiredOption('--url <url>', 'address of the recorder, e.g. http://127.0.0.1:5000')
  .option('--api <url>', 'API of a running service that compares; default: this process does')
  .option('--key-file <file>', 'file with an API key for --api; default: first-key in DATA_DIR, if it exists')
  .option('--camera <id>', 'only events of this camera; may be given several times', collect, [])
  .option('--state <file>', 'file with the handled events, to go on after a stop', 'frigate-companion.json')
  .option('--since <duration>', 'without that file: begin with the events of this time', '1h')
  .option('--interval <duration>', 'time between two looks at the list of events', '15s')
  .option('--gap <duration>', 'time between the event and each of the two frames', '5s')
  .option('--per-minute <count>', 'most events that are compared per minute', '30')
  .option('--once', 'end after one look')
  .option('--dry-run', 'print the sentences, write nothing to the recorder and no state')
  .option('--model <name>', 'bundle to use; default: DEFAULT_MODEL')
  .option('--device <device>', 'auto, cpu or cuda:N; default: DEVICE')
  .action(run);

/** Longest time between two looks while the recorder or the comparer fails, ms. */
const LONGEST_WAIT_MS = 300_000;
const nowSeconds = () => systemClock() / 1000;

async function run(options: Options): Promise<void> {
  const config = await configWith(options);
  const gapSeconds = parseDuration(options.gap, '--gap');
  const intervalMs = parseDuration(options.interval, '--interval') * 1000;
  const since = parseDuration(options.since, '--since');
  const pace = createPace(options.perMinute);
  const url = baseUrl(options.url, '--url', 'recorder');
  const recorder = createRecorder(url, {
    token: config.frigateToken ?? undefined,
    timeoutMs: config.outboundTimeoutMs,
    frameLimit: config.frameLimit,
  });
  const api = options.api === undefined ? undefined : baseUrl(options.api, '--api');
  let progress = (await readProgress(options.state)) ?? { v: 1 as const, after: nowSeconds() - since, handled: {} };

  const { signal, done } = listenForStop();
  const comparer = api === undefined ? await openPipeline(config) : openApi(api, await keyOf(config, options.keyFile));
  const round = { cameras: options.camera, gapSeconds, dryRun: options.dryRun === true };
  try {
    for (let waitMs = intervalMs; !signal.aborted; ) {
      try {
        progress = await runRound(progress, round, {
          recorder,
          compare: comparer.compare,
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
        const error = asScenedeltaError(thrown);
        // Anything but an error of the catalogue is a defect, and a file that cannot be written stays so.
        if (options.once || error.code === 'internal' || error.code === 'invalid-request') throw thrown;
        waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
        printError(`${error.message}; the next look is in ${Math.round(waitMs / 1000)} s`);
      }
      if (options.once) break;
      await delay(waitMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    await comparer.close();
    done();
  }
}

/** @returns a function that waits until another event may be compared. @throws ScenedeltaError 'invalid-request' */
function createPace(perMinute: string): (signal: AbortSignal) => Promise<void> {
  const count = Number(perMinute);
  if (!(count > 0)) {
    const message = `--per-minute ${JSON.stringify(perMinute)}: expected a number above 0`;
    throw invalidRequest(message);
  }
  let next = 0;
  return async (signal) => {
    const wait = next - systemClock();
    if (wait > 0) await delay(wait, undefined, { signal });
    next = Math.max(next, systemClock()) + 60_000 / count;
  };
}
