/** The base of every command: how options are complained about, how help is shown, and how a command is stopped. */
import { Command } from 'commander';

/** A command whose usage errors are thrown as CommanderError; main.ts prints each as one line. */
export const createCommand = (name: string): Command =>
  new Command(name)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .helpOption('-h, --help', 'show this text')
    .helpCommand(false);

/** Collects the values of an option that may be given several times. */
export const collect = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];

/** @returns the signal, aborted by the first of them; `done` lets the next one end the process again */
export function listenForStop(): { readonly signal: AbortSignal; done(): void } {
  const stop = new AbortController();
  const abort = () => stop.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  return { signal: stop.signal, done: () => void process.off('SIGINT', abort).off('SIGTERM', abort) };
}
