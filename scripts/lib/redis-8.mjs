/**
 * A Redis with vector sets for tests and benches: the one of the system if its version is 8 or newer, otherwise the
 * packages of a later Debian than this one, unpacked into a folder with their own libraries. apt fetches them with
 * lists of its own and checks their signatures; nothing is installed.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { probe, ROOT, run, say, which } from './shell.mjs';

/** First Debian whose Redis has vector sets. */
const SUITE = 'trixie';
const PACKAGES = [
  ...['redis-server', 'redis-tools', 'libc6', 'libssl3t64', 'libatomic1', 'libjemalloc2', 'liblzf1', 'libstdc++6'],
  ...['libsystemd0', 'libgcc-s1', 'libzstd1', 'zlib1g', 'libcap2'],
];
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const FOLDER = join(ROOT, 'node_modules/.cache/scenedelta/redis-8');
const UNPACKED = join(FOLDER, 'root');

/** @returns {string[] | undefined} program and first arguments of a server; undefined if there is none */
export function findRedis8() {
  return [['redis-server'], unpackedServer()].find((command) => command !== undefined && hasVectorSets(command));
}

function hasVectorSets([program, ...args]) {
  const [, major = 0] = /v=(\d+)\./.exec(probe(program, [...args, '--version']).output) ?? [];
  return Number(major) >= 8;
}

/** The program runs by the loader of its own libc, because that of the system may be older. */
function unpackedServer() {
  try {
    const [machine] = readdirSync(join(UNPACKED, 'usr/lib')).filter((name) => name.endsWith('-linux-gnu'));
    const libraries = join(UNPACKED, 'usr/lib', machine);
    const loader = readdirSync(libraries).find((name) => /^ld-linux.*\.so/.test(name));
    const program = join(UNPACKED, 'usr/bin/redis-server');
    return [join(libraries, loader), '--argv0', 'redis-server', '--library-path', libraries, program];
  } catch {
    return undefined;
  }
}

/** @returns as findRedis8, after an attempt to get it, with a message if that failed */
export async function ensureRedis8() {
  const found = findRedis8();
  if (found !== undefined || !(which('apt-get') && which('dpkg-deb'))) return found;
  const mirror = debianMirror();
  if (mirror === undefined) return undefined;
  rmSync(FOLDER, { recursive: true, force: true });
  const fault = await fetchAndUnpack(mirror);
  if (fault !== undefined) say('redis 8', `not fetched: ${fault}`);
  return findRedis8();
}

/** @returns {string | undefined} address from which this machine gets Debian; undefined if it is another system */
function debianMirror() {
  const format = '$(REPO_URI) $(ORIGIN) $(RELEASE)';
  const { output } = probe('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']);
  const [, release] = /^VERSION_CODENAME=(\w+)$/m.exec(readOsRelease()) ?? [];
  const line = output.split('\n').find((one) => one.endsWith(` Debian ${release}`));
  return line?.split(' ')[0];
}

function readOsRelease() {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}

/** @returns {Promise<string | undefined>} last line of what failed; undefined: done */
async function fetchAndUnpack(mirror) {
  const state = join(FOLDER, 'apt');
  const packages = join(state, 'packages');
  for (const folder of ['lists/partial', 'archives/partial', 'packages']) {
    mkdirSync(join(state, folder), { recursive: true });
  }
  const sources = join(state, 'sources.list');
  writeFileSync(sources, `deb [signed-by=${KEYRING}] ${mirror} ${SUITE} main\n`);
  writeFileSync(join(state, 'status'), '');
  const options = {
    ...{ 'Dir::Etc::sourcelist': sources, 'Dir::Etc::sourceparts': '-', 'Dir::State': state },
    ...{ 'Dir::State::status': join(state, 'status'), 'Dir::State::lists': join(state, 'lists'), 'Dir::Cache': state },
    ...{ 'Acquire::Languages': 'none', 'APT::Sandbox::User': 'root', 'Acquire::Retries': '1' },
  };
  const apt = ['-q', ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
  for (const step of [['update'], ['download', ...PACKAGES]]) {
    const { ok, output } = await run('apt-get', [...apt, ...step], { cwd: packages });
    if (!ok) return output.trim().split('\n').at(-1);
  }
  for (const file of readdirSync(packages)) {
    const { ok, output } = await run('dpkg-deb', ['-x', join(packages, file), UNPACKED]);
    if (!ok) return output.trim().split('\n').at(-1);
  }
  rmSync(state, { recursive: true });
  return undefined;
}
