/**
 * Builds the console into dist/console, with the types of the API; with --documents the templates of the documents
 * alone, into dist/documents. It does nothing if its sources have not changed.
 */
import { join } from 'node:path';
import { unlessDone, writeApiTypes } from './lib/api-types.mjs';
import { readOptions } from './lib/options.mjs';
import { filesState } from './lib/packages.mjs';
import { ROOT, run, runMain, Stop } from './lib/shell.mjs';

const CONSOLE = {
  folders: ['console/src', 'src/heatmaps', 'examples'],
  files: ['console/index.html', 'console/vite.config.mjs', 'openapi/openapi.yaml', 'package-lock.json'],
};
const DOCUMENTS = {
  folders: ['console/src/documents', 'console/src/styles'],
  files: ['console/document.html', 'console/build-documents.mjs', 'console/vite.config.mjs', 'package-lock.json'],
};

const stateOf = ({ folders, files }) => filesState(folders, files);
const buildDocuments = () => node('console/build-documents.mjs');
const buildConsole = () => node('node_modules/vite/bin/vite.js', 'build', 'console', '--logLevel', 'warn');

async function node(...args) {
  const { ok, output } = await run(process.execPath, args);
  if (!ok) throw new Stop(`node ${args.join(' ')} failed:\n${output.trim()}`);
}

await runMain(async () => {
  const { documents } = readOptions({ documents: { type: 'boolean' } }).values;
  if (documents) return unlessDone(join(ROOT, 'dist/.documents-state'), stateOf(DOCUMENTS), buildDocuments);
  await writeApiTypes();
  await unlessDone(join(ROOT, 'dist/.console-state'), stateOf(CONSOLE), buildConsole);
});
