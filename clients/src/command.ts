/** The base of every client's command: its options for the service, its usage errors, and how it is stopped. */
import { Command, Option } from 'commander';
import { usage } from './failure.js';

/** A command whose usage errors are thrown as CommanderError; main.ts prints each as one line. */
export const createCommand = (name: string): Command =>
  new Command(name)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .helpOption('-h, --help', 'show this text')
    .helpCommand(false);

/** Address of the service and the key that asks it, as `openService` takes them. */
export interface ServiceOptions {
  readonly api: string;
  readonly keyFile?: string;
}

/** @param scope that the key needs. @returns the command with the options of ServiceOptions */
export const withService = (command: Command, scope?: string): Command =>
  command
    .option('--api <url>', 'address of the service', 'http://127.0.0.1:8080')
    .option(
      '--key-file <file>',
      `file with an API key${scope === undefined ? '' : ` of the scope ${scope}`}; default: first-key in DATA_DIR`,
    );

/** An option that is gone: it is not listed, and its use is a usage error that names what took its place. */
export const goneOption = (flags: string, instead: string): Option =>
  new Option(flags).hideHelp().argParser(() => {
    throw usage(`${flags.split(' ')[0]} is gone: ${instead}`);
  });

const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
/** @param option its name, for the message. @returns seconds > 0. @throws Failure 'usage' */
export function parseDuration(text: string, option: string): number {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const seconds = Number(amount) * (UNITS[unit] ?? 0);
  if (seconds > 0) return seconds;
  throw usage(`${option} ${JSON.stringify(text)}: expected a duration above 0 as 10s, 500ms, 5m or 2h`);
}

/** Collects the values of an option that may be given several times. */
export const collect = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];

/** @returns the signal, aborted by the first of them; `done` lets the next one end the process again */
export function listenForStop(): { readonly signal: AbortSignal; done(): void } {
  const stop = new AbortController();
  const abort = () => stop.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  return { signal: stop.signal, done: () => void process.off('SIGINT', abort).off('SIGTERM', abort) };
}
