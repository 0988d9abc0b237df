/**
 * Writes openapi/generated from openapi.yaml: the types of the API, which console and clients import, and the
 * description as JSON, which the API serves.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { filesState } from './packages.mjs';
import { ROOT, run, Stop } from './shell.mjs';

const DESCRIPTION = 'openapi/openapi.yaml';
const TYPES = join(ROOT, 'openapi/generated/api.d.ts');
const JSON_FILE = join(ROOT, 'openapi/generated/openapi.json');

/** Does nothing if the description has not changed. @throws Stop with the error of the generator */
export function writeApiTypes() {
  const sources = [DESCRIPTION, 'package-lock.json', 'scripts/lib/api-types.mjs'];
  return unlessDone(join(dirname(TYPES), '.source-state'), filesState([], sources), generate);
}

/** Runs `work` unless the file `stamp` says that it was done for this state. */
export async function unlessDone(stamp, state, work) {
  try {
    if (readFileSync(stamp, 'utf8') === state) return;
  } catch {
    // never done
  }
  await work();
  writeFileSync(stamp, state);
}

/** openapi-typescript crashes with TypeScript 7, so the loader gives it version 5. */
async function generate() {
  mkdirSync(dirname(TYPES), { recursive: true });
  writeFileSync(JSON_FILE, JSON.stringify(parse(readFileSync(join(ROOT, DESCRIPTION), 'utf8'))));
  const { ok, output } = await run(process.execPath, [
    ...['--import', './scripts/lib/use-typescript-5.mjs', 'node_modules/openapi-typescript/bin/cli.js'],
    // Members with a default are optional in requests.
    ...[DESCRIPTION, '--default-non-nullable', 'false', '--output', TYPES],
  ]);
  if (!ok) throw new Stop(`openapi-typescript failed:\n${output.trim()}`);
}
