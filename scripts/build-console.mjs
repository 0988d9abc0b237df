/** Builds the console into dist/console, with the types of the API. It does nothing if its sources have not changed. */
import { join } from 'node:path';
import { unlessDone, writeApiTypes } from './lib/api-types.mjs';
import { filesState } from './lib/packages.mjs';
import { ROOT, run, runMain, Stop } from './lib/shell.mjs';

const FOLDERS = ['console/src', 'src/heatmaps', 'examples'];
const FILES = ['console/index.html', 'console/vite.config.mjs', 'openapi/openapi.yaml', 'package-lock.json'];

await runMain(async () => {
  await writeApiTypes();
  await unlessDone(join(ROOT, 'dist/.console-state'), filesState(FOLDERS, FILES), async () => {
    const args = ['node_modules/vite/bin/vite.js', 'build', 'console', '--logLevel', 'warn'];
    const { ok, output } = await run(process.execPath, args);
    if (!ok) throw new Stop(`node ${args.join(' ')} failed:\n${output.trim()}`);
  });
});
