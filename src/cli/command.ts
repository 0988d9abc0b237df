/** The base of every command: how options are complained about, and how help is shown. */
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
