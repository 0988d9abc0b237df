/**
 * Commands of the laboratory. It lies beside the program in a clone of the repository and imports the program; the
 * package has no laboratory, so its commands are loaded by address.
 */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { invalidRequest } from '../base/errors.js';
import { createCommand } from './command.js';

/** @returns the command of `lab/NAME.ts`, or, without a laboratory, one that refuses every call and says where it is */
export async function labCommand(name: string): Promise<{ readonly command: Command }> {
  const compiled = new URL(`../lab/${name}.js`, import.meta.url);
  if (existsSync(compiled)) return import(compiled.href);
  const refusing = createCommand(name).argument('[anything...]').allowUnknownOption().helpOption(false);
  return {
    command: refusing.action(() => {
      throw invalidRequest('part of lab/, which the package leaves out; a clone of the repository has it');
    }),
  };
}
