/**
 * `npm test`: sets itself up, runs every check and test of the project, and ends with one line that counts them all.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuild, ensurePackages } from './lib/packages.mjs';
import { ensureApiTools, ensurePython } from './lib/python.mjs';
import { ensureRedisServer } from './lib/redis.mjs';
import { ROOT, requireNode, runMain, Stop, say } from './lib/shell.mjs';
import { Tally } from './lib/tally.mjs';

/** Tests of whole processes need all cores, so they run one after the other. */
const PROCESS_TESTS = ['test/e2e/', 'test/chaos/'];

/** The short form of `npm run test:fuzz`. */
const FUZZ = ['test/fuzz/main.mjs', '--examples=300', '--seed=1'];

async function main() {
  requireNode(20, 9);
  const tally = new Tally();
  try {
    await runEverything(tally);
  } catch (error) {
    console.error(error instanceof Stop ? `\n${error.message}` : error);
    tally.add({ failed: 1 });
  }
  console.log(`\n${tally.line}`);
  process.exitCode = tally.failed > 0 ? 1 : 0;
}

/** @throws Stop if a precondition of the tests cannot be installed. */
async function runEverything(tally) {
  const reports = join(ROOT, 'tmp');
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports);

  console.log('set-up');
  await ensurePackages();
  say('redis', await ensureRedisServer());
  await ensureBuild();
  const tools = await ensureApiTools();

  console.log('\nchecks');
  const npm = (name, script) => tally.check(name, 'npm', ['run', '--silent', script]);
  await Promise.all([npm('lint and format', 'lint'), npm('types', 'typecheck')]);
  await Promise.all([npm('import rules', 'check:imports'), npm('openapi.yaml is current', 'openapi:check')]);
  await npm('resampler is compiled from its source', 'resampler:check');
  await Promise.all([npm('prose', 'check:prose'), npm('Markdown', 'check:markdown')]);

  await tally.jest(
    'units (jest)',
    ['--maxWorkers=2', '--testPathIgnorePatterns', ...PROCESS_TESTS],
    join(reports, 'units.json'),
  );
  await tally.jest('processes (jest)', ['--runInBand', ...PROCESS_TESTS], join(reports, 'processes.json'));

  const hostile = (name, option) => tally.check(name, process.execPath, ['test/hostile/main.mjs', option]);
  await hostile('hostile images (short)', '--short');
  await hostile('hostile images find planted faults', '--self-test');

  const found = await ensurePython();
  if (found.missing) tally.skip('training (pytest)', found.missing);
  else await checkPython(tally, found.python, join(reports, 'training.xml'));

  if (tools.missing) tally.skip('generated requests (schemathesis)', tools.missing);
  else await tally.check('generated requests (schemathesis)', process.execPath, FUZZ);
}

async function checkPython(tally, python, report) {
  console.log();
  const ruff = (name, ...args) => tally.check(name, python, ['-m', 'ruff', ...args, '.']);
  await ruff('Python lint', 'check');
  await ruff('Python format', 'format', '--check');
  await tally.pytest(python, ['-q', 'training/tests'], report);
}

await runMain(main);
