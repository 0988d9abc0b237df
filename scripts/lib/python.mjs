/** Virtual environments of the Python that tests need, made when they are first asked for. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { probe, ROOT, run, Stop, say, seconds, shown, which } from './shell.mjs';
import { installSystemPackage } from './system-packages.mjs';

const OLDEST = '3.11';
const TRAINING = { folder: '.venv', requirements: 'training/requirements-test.txt' };
const API_TOOLS = { folder: '.venv-api', requirements: 'test/requirements.txt' };

/**
 * For the tests of training/ and research/.
 * @returns {Promise<{ python: string } | { missing: string }>} the interpreter, or the reason why there is none.
 * @throws Stop if pip fails
 */
export const ensurePython = async () => (process.env.PYTHON ? { python: process.env.PYTHON } : ensureVenv(TRAINING));

/**
 * For the tests of the API: schemathesis and openapi-python-client.
 * @returns {Promise<{ python: string, bin: string } | { missing: string }>} the interpreter and the folder of the
 * programs, or the reason why there is none.
 * @throws Stop if pip fails
 */
export const ensureApiTools = () => ensureVenv(API_TOOLS);

async function ensureVenv({ folder, requirements }) {
  const system = process.env.PYTHON ?? which('python3');
  if (system === undefined) return { missing: 'python3 is not installed' };
  if (!probe(system, ['-c', `import sys; sys.exit(sys.version_info < (${OLDEST.replace('.', ', ')}))`]).ok) {
    return { missing: `${system} is older than ${OLDEST}` };
  }
  const venv = join(ROOT, folder);
  const bin = join(venv, 'bin');
  const python = join(bin, 'python');
  const stamp = join(venv, 'requirements.sha256');
  const file = join(ROOT, requirements);
  const wanted = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return { python, bin };
  const start = Date.now();
  say('python', `installing ${shown(file)} into ${folder} ...`);
  await createVenv(system, venv);
  const { ok, output } = await run(python, [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '-r',
    file,
  ]);
  if (!ok) throw new Stop(`pip failed:\n${output.trim().slice(-2000)}`);
  writeFileSync(stamp, wanted);
  say('python', `ready after ${seconds(start)}`);
  return { python, bin };
}

/** Debian and Ubuntu ship the pip part of venv in a separate package, which is installed if it is missing. */
async function createVenv(system, venv) {
  const create = () => run(system, ['-m', 'venv', '--clear', venv]);
  const first = await create();
  if (first.ok) return;
  if (!/ensurepip/.test(first.output)) throw new Stop(`python3 -m venv failed:\n${first.output.trim()}`);
  await installSystemPackage(
    'python',
    { 'apt-get': 'python3-venv' },
    'Or set PYTHON to an interpreter with the packages of training/requirements-test.txt.',
  );
  const second = await create();
  if (!second.ok) throw new Stop(`python3 -m venv failed:\n${second.output.trim()}`);
}
