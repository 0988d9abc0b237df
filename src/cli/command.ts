/** The base of every command: how options are complained about, how help is shown, and how a command is stopped. */
import { Command, Option } from 'commander';
import { invalidRequest } from '../base/errors.js';

/** A command whose usage errors are thrown as CommanderError; main.ts prints each as one line. */
export const createCommand = (name: string): Command =>
  new Command(name)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .helpOption('-h, --help', 'show this text')
    .helpCommand(false);

/** Collects the values of an option that may be given several times. */
export const collect = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];

/** @returns an option without help that ends the command with `answer`, which says what took its place */
export const removedOption = (flags: string, answer: string): Option =>
  new Option(flags).hideHelp().argParser(() => {
    throw invalidRequest(`${flags.replace(/ .*/, '')} is removed: ${answer}`);
  });

/** @returns the signal, aborted by the first of them; `done` lets the next one end the process again */
export function listenForStop(): { readonly signal: AbortSignal; done(): void } {
  const stop = new AbortController();
  const abort = () => stop.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  return { signal: stop.signal, done: () => void process.off('SIGINT', abort).off('SIGTERM', abort) };
}
