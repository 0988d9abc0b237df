#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node
/**
 * Entry point of the `scenedelta` command: runs the compiled program, and compiles it first in a checkout that was
 * never built. It is committed because npx keeps a link to the program that it found at its first call, and dist/ is
 * not there yet then. Of the console only the documents are compiled: `npm run up` does the rest. The variable keeps
 * glibc from holding memory per thread, as in the images: pictures are decoded on many threads, and hours of footage
 * took 400 MB more.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cpuFault } from '../scripts/lib/cpu.mjs';

const root = new URL('../', import.meta.url);
const program = new URL('dist/cli/main.js', root);
const compiler = new URL('node_modules/typescript/lib/tsc.js', root);

const fault = cpuFault();
if (fault !== undefined) {
  console.error(fault);
  process.exit(1);
}
if (!existsSync(program)) {
  const folder = fileURLToPath(root);
  if (!existsSync(compiler)) {
    console.error(`scenedelta is not built. Run once in ${folder}: npm ci && npm run build`);
    process.exit(1);
  }
  console.error('scenedelta: compiling, this once ...');
  const built = spawnSync('npm', ['run', '--silent', 'build:program'], { cwd: folder, stdio: ['ignore', 2, 2] });
  if (built.status !== 0) {
    console.error(`scenedelta cannot be compiled. Run in ${folder}: npm ci && npm run build`);
    process.exit(1);
  }
}
try {
  await import(program.href);
} catch (error) {
  const { missingPart } = await import('../scripts/lib/native-parts.mjs');
  const missing = missingPart(error);
  if (missing === undefined) throw error;
  console.error(`scenedelta: ${missing}`);
  process.exitCode = 1;
}
