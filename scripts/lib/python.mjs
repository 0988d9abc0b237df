/** Finds a Python with the packages of the training tests: PYTHON, or a virtual environment in .venv. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { probe, ROOT, run, Stop, say, seconds, shown, which } from './shell.mjs';
import { installSystemPackage } from './system-packages.mjs';

const OLDEST = '3.11';
const REQUIREMENTS = join(ROOT, 'training/requirements-test.txt');

/**
 * @returns {Promise<{ python: string } | { missing: string }>} the interpreter, or the reason why there is none.
 * @throws Stop if pip fails
 */
export async function ensurePython() {
  if (process.env.PYTHON) return { python: process.env.PYTHON };
  const system = which('python3');
  if (system === undefined) return { missing: 'python3 is not installed (only training/ needs it)' };
  if (!probe(system, ['-c', `import sys; sys.exit(sys.version_info < (${OLDEST.replace('.', ', ')}))`]).ok) {
    return { missing: `${system} is older than ${OLDEST}` };
  }
  const venv = join(ROOT, '.venv');
  const python = join(venv, 'bin/python');
  const stamp = join(venv, 'requirements.sha256');
  const wanted = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return { python };
  const start = Date.now();
  say('python', `installing ${shown(REQUIREMENTS)} into .venv ...`);
  await createVenv(system, venv);
  const { ok, output } = await run(python, [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '-r',
    REQUIREMENTS,
  ]);
  if (!ok) throw new Stop(`pip failed:\n${output.trim().slice(-2000)}`);
  writeFileSync(stamp, wanted);
  say('python', `ready after ${seconds(start)}`);
  return { python };
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
