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
  const system = installSystem();
  // After the programs of the system, because they may have to install one too.
  const apiTools = system.then(ensureApiTools);
  const training = apiTools.then(ensurePython);
  // Awaited where it is needed.
  training.catch(() => undefined);
  // Downloads of npm, of pip and of the system wait for the network most of the time.
  const [tools] = await Promise.all([apiTools, ensurePackages().then(ensureBuild)]);
  // After the packages, whose installation empties its folder.
  const alertmanager = (await ensureAlertmanager())?.server;
  say('alertmanager', alertmanager ?? 'missing: the tests with a real Alertmanager are skipped');

  console.log('\nchecks');
  const npm = (name, script) => () => tally.check(name, 'npm', ['run', '--silent', script]);
  await inLanes(availableParallelism(), [
    npm('types', 'typecheck'),
    npm('lint and format', 'lint'),
    npm('import rules', 'check:imports'),
    npm('nothing unused', 'check:unused'),
    npm('openapi.yaml is current', 'openapi:check'),
    npm('prose', 'check:prose'),
    npm('Markdown', 'check:markdown'),
    () =>
      tally.check('WebAssembly is compiled from its source', process.execPath, [
        'scripts/write-webassembly.mjs',
        '--check',
      ]),
  ]);

  await tally.jest(
    'units (jest)',
    [WORKERS, '--testPathIgnorePatterns', ...PROCESS_TESTS],
    join(reports, 'units.json'),
  );
  await tally.jest('processes (jest)', [WORKERS, ...PROCESS_TESTS], join(reports, 'processes.json'));

  const python = await training;
  console.log('\nhostile images, generated requests, and disturbances');
  // The longest first, so that no lane goes on alone for long.
  await inLanes(availableParallelism() + 1, [
    () => sendGeneratedRequests(tally, tools),
    () => sendHostileImages(tally),
    () => disturbService(tally),
    () => checkPython(tally, python, join(reports, 'training.xml')),
    () => measureVisits(tally),
    () => damageRecordings(tally),
    () => readArchives(tally),
    () => flood(tally),
  ]);
}

/** Runs the work in this order, so many parts at a time. */
async function inLanes(count, work) {
  const left = [...work];
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await next();
  };
  await Promise.all(Array.from({ length: count }, lane));
}

/** One after the other: the package manager takes one command at a time. */
async function installSystem() {
  say('redis', await ensureRedisServer());
  say('ffmpeg', await ensureFfmpeg());
  say('chromium', (await ensureChromium()) ?? 'missing: the tests of the console are skipped');
  say('mosquitto', (await ensureMosquitto()) ?? 'missing: the tests of the MQTT publisher are skipped');
  say('nginx', (await ensureNginx()) ?? 'missing: a test of the console behind it is skipped');
  say('promtool', (await ensurePromtool()) ?? 'missing: the tests of the alert rules are skipped');
}

async function sendHostileImages(tally) {
  const hostile = (name, option) => tally.check(name, process.execPath, ['test/hostile/main.mjs', option]);
  await hostile('hostile images (short)', '--short');
  await hostile('hostile images find planted faults', '--self-test');
}

async function flood(tally) {
  await tally.check('flood without a key (short)', process.execPath, ['test/flood/main.mjs', '--short']);
}

async function readArchives(tally) {
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
