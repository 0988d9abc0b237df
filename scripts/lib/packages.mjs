/** Installs npm packages and compiles dist/, if they are not up to date. A package of npm has both, and no sources. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, reporting, run, Stop, say, seconds } from './shell.mjs';

const readJson = (path) => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

const isCheckout = existsSync(join(ROOT, 'src'));
/** How a person calls the command line: a checkout has it as a file, an installed package in PATH. */
export const COMMAND = isCheckout ? 'bin/scenedelta.js' : 'scenedelta';

/**
 * Whether node_modules holds the versions of the lock file; npm notes what it installed in
 * node_modules/.package-lock.json.
 */
function packagesFit() {
  const wanted = readJson(join(ROOT, 'package-lock.json'))?.packages ?? {};
  const installed = readJson(join(ROOT, 'node_modules/.package-lock.json'))?.packages;
  if (installed === undefined) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional, link }]) =>
      isOurs(path) || link || installed[path]?.version === version || (optional && installed[path] === undefined),
  );
}

/** @param path in the lock file @returns whether it is this package or a workspace of it */
const isOurs = (path) => !path.includes('node_modules/');

/** @returns how many packages are there; npm fetches all of them before it unpacks the first */
function unpacked() {
  const packages = Object.entries(readJson(join(ROOT, 'package-lock.json'))?.packages ?? {});
  // Optional ones are for other systems.
  const wanted = packages
    .filter(([path, { optional, link }]) => !isOurs(path) && !link && !optional)
    .map(([path]) => path);
  const there = wanted.filter((path) => existsSync(join(ROOT, path, 'package.json')));
  return `${there.length} of ${wanted.length} unpacked`;
}

/** @throws Stop with the output of npm if the installation fails */
export async function ensurePackages() {
  if (!isCheckout) return;
  if (packagesFit()) return say('packages', 'as the lock file says');
  const start = Date.now();
  say('packages', 'installing (npm ci) ...');
  // Said aloud also below `npm run --silent`, which passes its silence on. npm's own pauses between tries add up to
  // many silent minutes where there is no network.
  const patience = ['--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const { ok, output } = await reporting(
    'packages',
    unpacked,
    run('npm', ['ci', '--include=dev', ...quiet, ...patience]),
  );
  if (!ok) throw new Stop(`npm ci failed:\n${output.trim()}\n\nIt needs the network once.`);
  say('packages', `installed in ${seconds(start)}`);
}

/** @returns a hash of the names, sizes and times of these files, and of everything in these folders */
export function filesState(folders, files) {
  const hash = createHash('sha256');
  const add = (path) => {
    const { size, mtimeMs } = statSync(join(ROOT, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  };
  for (const folder of folders) {
    for (const entry of readdirSync(join(ROOT, folder), { recursive: true }).sort()) add(join(folder, entry));
  }
  for (const file of files) add(file);
  return hash.digest('hex');
}

const BUILD_FILES = [
  ...['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'],
  ...['clients/package.json', 'clients/tsconfig.json', 'clients/tsconfig.build.json'],
  ...['console/index.html', 'console/document.html', 'console/build-documents.mjs', 'console/vite.config.mjs'],
  ...['scripts/build-console.mjs', 'scripts/build-lab.mjs', 'scripts/write-api-types.mjs'],
  // Not its folder: the build itself writes the types of clients there.
  'openapi/openapi.yaml',
];

/** @throws Stop with the errors of the compilers */
export async function ensureBuild() {
  if (!isCheckout) return;
  const stamp = join(ROOT, 'dist/.source-state');
  const state = filesState(['src', 'lab', 'console/src', 'clients/src'], BUILD_FILES);
  let built;
  try {
    built = readFileSync(stamp, 'utf8');
  } catch {
    // never built
  }
  if (built === state) return say('build', 'up to date');
  const start = Date.now();
  say('build', 'compiling ...');
  const { ok, output } = await reporting('build', () => 'compiling', run('npm', ['run', '--silent', 'build']));
  if (!ok) throw new Stop(`The build failed:\n${output.trim()}`);
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  writeFileSync(stamp, state);
  say('build', `compiled in ${seconds(start)}`);
}
