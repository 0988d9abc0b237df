/** Child processes and terminal output of scripts. Node built-ins only: this runs before any package is installed. */
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** @returns a path relative to the working directory, if it is inside of it */
export function shown(path) {
  const fromHere = relative(process.cwd(), path);
  return fromHere === '' ? '.' : fromHere.startsWith('..') ? path : fromHere;
}

/** An error that the user can act on; it is printed without a stack. */
export class Stop extends Error {}

export const say = (topic, text) => console.log(`  ${topic.padEnd(10)} ${text}`);

/** Runs `main`. Prints a Stop as advice and any other error with its stack; both set the exit status 1. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Stop ? `\n${error.message}\n` : error);
    process.exitCode = 1;
  }
}

/** @returns the program's full path, or undefined if PATH does not have it. */
export function which(program) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const candidate = join(folder, program);
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // not in this folder
    }
  }
  return undefined;
}

/** Runs a short command synchronously. @returns { ok, output } with stdout and stderr together */
export function probe(command, args, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: 30_000,
    ...options,
  });
  return { ok: status === 0, output: `${stdout ?? ''}${stderr ?? ''}` };
}

/**
 * Runs a command to its end. With `show: true` its output goes to the terminal; otherwise it is returned.
 * @returns {Promise<{ ok: boolean, status: number | null, output: string }>}
 */
export function run(command, args, { show = false, env = process.env, cwd = ROOT } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
    });
    const chunks = [];
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));
    child.once('error', reject);
    child.once('close', (status) =>
      resolve({ ok: status === 0, status, output: Buffer.concat(chunks).toString('utf8') }),
    );
  });
}

const PROGRESS_MS = 5_000;

/**
 * Prints a line every five seconds until the work ends.
 * @param progress gives the text of a line, e.g. '212 of 730 packages'
 * @returns the result of the work
 */
export async function reporting(topic, progress, work) {
  const start = Date.now();
  const timer = setInterval(() => say(topic, `${progress()}, ${seconds(start)} ...`), PROGRESS_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

export const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** @throws Stop if this Node is older than package.json's engines. */
export function requireNode(major, minor) {
  const [a, b] = process.versions.node.split('.').map(Number);
  if (a > major || (a === major && b >= minor)) return;
  throw new Stop(
    `Node ${process.versions.node} is running; expected ${major}.${minor} or newer.\nInstall one from ` +
      'https://nodejs.org or your package manager.',
  );
}
