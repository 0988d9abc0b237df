/**
 * Builds the console: the types of the API from openapi/openapi.yaml, then the page into dist/console. With --types it
 * writes the types alone. It does nothing if its sources have not changed.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions } from './lib/options.mjs';
import { filesState } from './lib/packages.mjs';
import { ROOT, run, runMain, Stop } from './lib/shell.mjs';

const TYPES = join(ROOT, 'console/generated/api.d.ts');
const DESCRIPTION = 'openapi/openapi.yaml';

async function main() {
  const { types } = readOptions({ types: { type: 'boolean' } }).values;
  const generator = filesState([], [DESCRIPTION, 'package-lock.json', 'scripts/lib/use-typescript-5.mjs']);
  await unlessDone(join(ROOT, 'console/generated/.source-state'), generator, generateTypes);
  if (types) return;
  const folders = ['console/src', 'src/heatmaps', 'examples'];
  const files = ['console/index.html', 'console/vite.config.mjs', DESCRIPTION, 'package-lock.json'];
  await unlessDone(join(ROOT, 'dist/.console-state'), filesState(folders, files), bundle);
}

/** Runs `work` unless the file `stamp` says that it was done for this state. */
async function unlessDone(stamp, state, work) {
  try {
    if (readFileSync(stamp, 'utf8') === state) return;
  } catch {
    // never done
  }
  await work();
  writeFileSync(stamp, state);
}

/** openapi-typescript crashes with TypeScript 7, so the loader gives it version 5. */
async function generateTypes() {
  mkdirSync(join(ROOT, 'console/generated'), { recursive: true });
  await node(
    '--import',
    './scripts/lib/use-typescript-5.mjs',
    'node_modules/openapi-typescript/bin/cli.js',
    ...[
      // Members with a default are optional in requests.
      ...[DESCRIPTION, '--default-non-nullable', 'false', '--output', TYPES],
    ],
  );
}

const bundle = () => node('node_modules/vite/bin/vite.js', 'build', 'console', '--logLevel', 'warn');

async function node(...args) {
  const { ok, output } = await run(process.execPath, args);
  if (!ok) throw new Stop(`node ${args.join(' ')} failed:\n${output.trim()}`);
}

await runMain(main);
