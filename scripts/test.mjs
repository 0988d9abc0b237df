/**
 * `npm test`: sets itself up, runs every check and test of the project, and ends with one line that counts them all.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { canMakeHosts } from '../test/cluster/hosts.mjs';
import { ensureAlertmanager } from './lib/alertmanager.mjs';
import { ensureChromium } from './lib/chromium.mjs';
import { ensureFfmpeg } from './lib/ffmpeg.mjs';
import { ensureBuild, ensurePackages } from './lib/packages.mjs';
import { ensurePromtool } from './lib/promtool.mjs';
import { ensureApiTools, ensurePython } from './lib/python.mjs';
import { ensureRedisServer } from './lib/redis.mjs';
import { ROOT, requireNode, runMain, Stop, say } from './lib/shell.mjs';
import { Tally } from './lib/tally.mjs';
import { ensureMosquitto, ensureNginx } from './lib/test-servers.mjs';

/** One more than the processors: tests often wait, for processes that start or end and for times that pass. */
const WORKERS = `--maxWorkers=${availableParallelism() + 1}`;

/** Tests of whole processes. */
const PROCESS_TESTS = ['test/e2e/', 'test/console/'];

/** The short form of `npm run test:fuzz`. */
const FUZZ = ['test/fuzz/main.mjs', '--examples=300', '--roles=admin', '--seed=1'];

/** `lint-imports`, which has no form `python -m`. */
const LINT_IMPORTS = 'from importlinter.cli import lint_imports_command; lint_imports_command([])';

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
  say('redis', await ensureRedisServer());
  say('ffmpeg', await ensureFfmpeg());
  say('chromium', (await ensureChromium()) ?? 'missing: the tests of the console are skipped');
  say('mosquitto', (await ensureMosquitto()) ?? 'missing: the tests of the MQTT publisher are skipped');
  say('nginx', (await ensureNginx()) ?? 'missing: a test of the console behind it is skipped');
  say('promtool', (await ensurePromtool()) ?? 'missing: the tests of the alert rules are skipped');
  // Downloads of npm and pip wait for the network most of the time.
  const [{ tools, python }] = await Promise.all([installPython(), ensurePackages().then(ensureBuild)]);
  // After the packages, whose installation empties its folder.
  const alertmanager = (await ensureAlertmanager())?.server;
  say('alertmanager', alertmanager ?? 'missing: the tests with a real Alertmanager are skipped');

  console.log('\nchecks');
  const npm = (name, script) => tally.check(name, 'npm', ['run', '--silent', script]);
  await Promise.all([npm('lint and format', 'lint'), npm('types', 'typecheck')]);
  await Promise.all([npm('import rules', 'check:imports'), npm('openapi.yaml is current', 'openapi:check')]);
  await Promise.all([
    npm('nothing unused', 'check:unused'),
    tally.check('resampler is compiled from its source', process.execPath, ['scripts/write-resampler.mjs', '--check']),
  ]);
  await Promise.all([npm('prose', 'check:prose'), npm('Markdown', 'check:markdown')]);

  await tally.jest(
    'units (jest)',
    [WORKERS, '--testPathIgnorePatterns', ...PROCESS_TESTS],
    join(reports, 'units.json'),
  );
  await tally.jest('processes (jest)', [WORKERS, ...PROCESS_TESTS], join(reports, 'processes.json'));

  console.log('\nhostile images, generated requests, and disturbances');
  await Promise.all([
    sendHostileImages(tally),
    sendGeneratedRequests(tally, tools).then(() => measureVisits(tally)),
    disturbService(tally)
      .then(() => checkPython(tally, python, join(reports, 'training.xml')))
      .then(() => damageRecordings(tally)),
  ]);
}

/** One after the other, because both may have to install a package of the system. */
async function installPython() {
  const tools = await ensureApiTools();
  return { tools, python: await ensurePython() };
}

async function sendHostileImages(tally) {
  const hostile = (name, option) => tally.check(name, process.execPath, ['test/hostile/main.mjs', option]);
  await hostile('hostile images (short)', '--short');
  await hostile('hostile images find planted faults', '--self-test');
  await tally.check('flood without a key (short)', process.execPath, ['test/flood/main.mjs', '--short']);
  await tally.check('faulty archives (short)', process.execPath, ['test/archives/main.mjs', '--short']);
}

async function damageRecordings(tally) {
  await tally.check('damaged recordings (short)', process.execPath, ['test/damage/main.mjs', '--short']);
}

async function sendGeneratedRequests(tally, tools) {
  if (tools.missing) tally.skip('generated requests (schemathesis)', tools.missing);
  else await tally.check('generated requests (schemathesis)', process.execPath, FUZZ);
}

/** The figures of visits have floors. */
async function measureVisits(tally) {
  await tally.check("visits beside a person's list", process.execPath, ['test/bench/visits.mjs']);
}

/** It waits more than it computes. */
async function disturbService(tally) {
  await tally.check('disturbed service (short)', process.execPath, ['test/chaos/main.mjs', '--short']);
  const hosts = 'several hosts with cut links (short)';
  if (canMakeHosts()) await tally.check(hosts, process.execPath, ['test/cluster/main.mjs', '--short']);
  else tally.skip(hosts, 'no network namespaces with links can be made here (root, ip)');
}

async function checkPython(tally, { missing, python }, report) {
  if (missing) return tally.skip('training and research (pytest)', missing);
  const ruff = (name, ...args) => tally.check(name, python, ['-m', 'ruff', ...args, '.']);
  await ruff('Python lint', 'check');
  await ruff('Python format', 'format', '--check');
  await tally.check('Python import rules', python, ['-c', LINT_IMPORTS]);
  await tally.pytest(python, ['-q', 'training/tests', 'research/tests'], report);
}

await runMain(main);
