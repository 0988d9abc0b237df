/**
 * The command line of a script, read by parseArgs of node:util. Node built-ins only: scripts/up.mjs needs no packages.
 */
import { parseArgs } from 'node:util';
import { Stop } from './shell.mjs';

/**
 * Reads `--name=value` and `--flag` options. Anything else ends the script with status 2 and one line, because a
 * misspelt option would otherwise do the whole work without it.
 * @param {import('node:util').ParseArgsConfig['options']} options as parseArgs takes them
 * @param {{ arguments?: string[] }} [expected] names of the arguments beside the options; all of them are required
 * @returns {{ values: Record<string, any>, positionals: string[] }}
 */
export function readOptions(options, { arguments: names = [] } = {}) {
  const known = Object.entries(options).map(([name, { type }]) => `--${name}${type === 'string' ? '=' : ''}`);
  try {
    const read = parseArgs({ options, allowPositionals: names.length > 0 });
    if (read.positionals.length === names.length) return read;
    throw new Error(`Got ${read.positionals.length} arguments`);
  } catch (error) {
    console.error(`${error.message.split('. ')[0]}: expected ${[...names, ...known].join(', ')}`);
    process.exit(2);
  }
}

/** @param {string} given value of the option @returns it as a number @throws Stop unless it is whole and above 0 */
export function wholeNumber(name, given) {
  const value = Number(given);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Stop(`--${name}=${given}: expected a whole number above 0`);
}

/**
 * @param {string} [given] value of --data
 * @returns the folder with plates, sprites and development pairs
 * @throws Error if neither --data nor SCENEDELTA_DATA names it
 */
export function dataFolder(given) {
  const folder = given ?? process.env.SCENEDELTA_DATA;
  if (folder) return folder;
  throw new Error(
    'no data folder: expected --data=FOLDER or SCENEDELTA_DATA, the folder with plates, sprites and dev_pairs',
  );
}
