/**
 * Loaded into the workers of test:chaos before anything else (`node --import`): reading the frame whose SHA-256 is in
 * CHAOS_POISON kills the process, as a fault of a native decoder would.
 */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const { readFile } = fs;
fs.readFile = (path, ...rest) => {
  if (String(path).includes(process.env.CHAOS_POISON)) process.kill(process.pid, 'SIGSEGV');
  return readFile(path, ...rest);
};
syncBuiltinESMExports();
