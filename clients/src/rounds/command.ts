/** `scenedelta rounds`: compares two times of each day of a camera, as a yard is compared before and after a shift. */
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'yaml';
import { systemClock } from '../clock.js';
import { createCommand, listenForStop, type ServiceOptions, withService } from '../command.js';
import { Failure, usage } from '../failure.js';
import { readText } from '../files.js';
import { printError, printLine } from '../print.js';
import { openService } from '../service.js';
import { lookAtRounds } from './look.js';
import { checkRound, type Round } from './times.js';

interface Options extends ServiceOptions {
  readonly config?: string;
  readonly camera?: string;
  readonly name?: string;
  readonly at?: string;
  readonly with?: string;
  readonly days?: string;
  readonly tz?: string;
  readonly once?: true;
}

const LOOK_EVERY_MS = 60_000;

export const command = withService(
  createCommand('rounds')
    .description(
      'Compares, once per day, the pictures of a camera nearest to two times of the day. The service compares them as ' +
        'a pair of the camera, with `metadata.round`; this program prints the sentence, or which picture is missing.',
    )
    .option('-c, --config <file>', 'rounds in YAML or JSON: a list of {camera, name, at, with, days, tz}')
    .option('--camera <id>', 'instead of a file, one round: its camera')
    .option('--name <name>', 'its name; default: round')
    .option('--at <HH:MM>', 'local time of the later picture')
    .option('--with <time>', 'local time of the earlier picture: HH:MM, or "HH:MM yesterday"')
    .option('--days <days>', 'days of the later picture, as mon,tue; default: all')
    .option('--tz <zone>', 'IANA time zone of both times; default: UTC')
    .option('--once', 'compare what is due, of the last twelve hours, and end'),
).action(run);

async function run(options: Options): Promise<void> {
  const rounds = options.config === undefined ? [roundOf(options)] : await readRounds(options.config, options);
  const service = await openService(options);
  const { signal, done: stopListening } = listenForStop();
  const done = new Set<string>();
  while (!signal.aborted) {
    try {
      await lookAtRounds(rounds, { service, clock: systemClock, print: printLine, done });
    } catch (thrown) {
      if (options.once || !(thrown instanceof Failure) || thrown.kind !== 'unavailable') throw thrown;
      printError(`${thrown.message}; tried again in a minute`);
    }
    if (options.once) break;
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
  stopListening();
}

function roundOf({ camera, name = 'round', at, with: earlier, days, tz }: Options): Round {
  const missing = Object.entries({ camera, at, with: earlier }).find(([, value]) => value === undefined)?.[0];
  if (missing !== undefined) throw usage(`--${missing} is missing, expected --config, or --camera, --at and --with`);
  const given = { camera, name, at, with: earlier, ...(days && { days: days.split(',') }), ...(tz && { tz }) };
  return checkRound(given, 'round');
}

async function readRounds(file: string, options: Options): Promise<Round[]> {
  if (options.camera !== undefined || options.at !== undefined) throw usage('--config and --camera: expected one');
  let list: unknown;
  try {
    list = parse(await readText(file));
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    throw usage(`${file}: is no YAML: ${(thrown as Error).message.split('\n')[0]}`);
  }
  if (!Array.isArray(list) || list.length === 0) throw usage(`${file}: expected a list of rounds`);
  const rounds = list.map((one: unknown, i) => checkRound(one, `${file}/${i}`));
  const names = rounds.map(({ camera, name }) => `${camera}/${name}`);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw usage(`${file}: ${twice} is there twice`);
  return rounds;
}
