/**
 * `npm run test:fuzz [-- --examples=10000] [--roles=metrics,guard,batch,compare,admin] [--seed=N] [--self-test]`:
 * schemathesis sends requests that the OpenAPI file describes, and requests that break it, to a service of its own with
 * comparisons, a camera with changes and a batch, and checks every answer. `--examples` is the least number of requests
 * per role; about 1,900 of them are systematic (each bound of each parameter, each method), the others random. Ends
 * with one line per role; the exit status is 1 if an answer was a 5xx or not as described. `--self-test` sends them
 * through a proxy that plants two faults, and fails unless both are found.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../../scripts/lib/options.mjs';
import { ensureApiTools } from '../../scripts/lib/python.mjs';
import { ROOT, run, runMain, Stop, say } from '../../scripts/lib/shell.mjs';
import { dist, startService } from '../bench/lib/service.mjs';
import { createLoad, makeMedia } from '../chaos/load.mjs';
import { plantFaults } from './planted-faults.mjs';

/** Its answer never ends. */
const ENDLESS = '/v1/events';
/** The camera of the examples, which exists, so that requests reach more than 404. */
const CAMERA = 'gate-3';
/** Keys by what they may do. */
const ROLES = {
  metrics: { scopes: ['metrics'] },
  guard: { scopes: ['judge'], cameras: ['gate-*'] },
  batch: { scopes: ['batch'] },
  compare: { scopes: ['compare'], cameras: ['gate-*'] },
  // The last one, because it deletes what there is.
  admin: { scopes: ['admin'] },
};
/** Operations without parameters have few different requests, so several rounds may be needed. */
const MOST_ROUNDS = 5;

await runMain(async () => {
  const { values } = readOptions({
    examples: { type: 'string', default: '10000' },
    roles: { type: 'string', default: Object.keys(ROLES).join(',') },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'self-test': { type: 'boolean', default: false },
  });
  const examples = Number(values.examples);
  if (!Number.isInteger(examples) || examples < 1) {
    throw new Stop(`--examples=${values.examples}: expected an integer above 0`);
  }
  const roles = values['self-test'] ? ['admin'] : values.roles.split(',');
  const unknown = roles.find((role) => !(role in ROLES));
  if (unknown !== undefined) throw new Stop(`--roles=${unknown}: expected some of ${Object.keys(ROLES).join(', ')}`);
  const tools = await ensureApiTools();
  if (tools.missing) throw new Stop(`schemathesis cannot be installed: ${tools.missing}`);
  const service = await startService({
    env: {
      AUTH: 'on',
      MODELS_DIR: join(ROOT, 'test/fixtures'),
      DEFAULT_MODEL: 'bundle-tiny',
      INFERENCE_THREADS: '1',
      // Generated names of hosts lead nowhere.
      OUTBOUND_TIMEOUT_MS: '1000',
      OUTBOUND_ALLOW: '127.0.0.1',
    },
  });
  const faults = values['self-test'] ? await plantFaults(service.url) : undefined;
  try {
    const url = faults?.url ?? service.url;
    await createData(service);
    for (const role of roles) {
      const key = await createKey(service.redisUrl, { name: role, ...ROLES[role] });
      const found = await fuzz(url, { tools, key, examples, seed: Number(values.seed) });
      if (faults) assertFound(found);
      else summarise(role, found);
    }
  } finally {
    await faults?.close();
    await service.stop();
  }
});

async function createKey(redisUrl, settings) {
  const { createApiKeyStore } = await dist('stores/redis/api-keys.js');
  const { connectRedis } = await dist('stores/redis/redis.js');
  const { createLogger } = await dist('process/logger.js');
  const redis = connectRedis(redisUrl, {
    role: 'consumer',
    logger: createLogger({ level: 'silent', name: 'fuzz' }),
  });
  const { secret } = await createApiKeyStore(redis).create(settings);
  redis.disconnect();
  return secret;
}

/** Comparisons of which one has a change, a camera with changes, and a batch. */
async function createData(service) {
  const folder = mkdtempSync(join(tmpdir(), 'sd-fuzz-'));
  try {
    const media = await makeMedia(folder, Math.random);
    const options = { ...media, framesPerCamera: 8, hook: () => 'http://127.0.0.1:1024/hook' };
    const { tasks } = createLoad(service, options);
    for (const [kind, make] of Object.entries(tasks)) {
      const task = make(kind === 'camera' ? CAMERA : `${kind}-${Date.now()}`);
      await task.send();
      await task.outcome();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @returns {Promise<{ requests, serverErrors, violations, errored, output }>} sums over all rounds */
async function fuzz(url, { tools, key, examples, seed }) {
  const description = await (await fetch(`${url}/docs/json`)).json();
  const operations = Object.values(description.paths).flatMap((path) => Object.keys(path)).length - 1;
  const sum = { requests: 0, serverErrors: 0, violations: 0, errored: 0, output: '' };
  for (let round = 0; round < MOST_ROUNDS && sum.requests < examples; round++) {
    const each = Math.ceil((examples - sum.requests) / operations);
    say('fuzz', `${operations} operations, ${each} random requests to each, seed ${seed + round}`);
    const report = await runSchemathesis(
      url,
      [
        ...['--header', `Authorization: Bearer ${key}`, '--max-examples', String(each)],
        ...['--seed', String(seed + round), ...(round === 0 ? [] : ['--phases', 'fuzzing,stateful'])],
      ],
      tools,
    );
    add(sum, report);
  }
  return sum;
}

/** @returns {Promise<object>} its JSON report, with its output */
async function runSchemathesis(url, options, { bin }) {
  const folder = mkdtempSync(join(tmpdir(), 'sd-fuzz-'));
  const file = join(folder, 'report.json');
  try {
    const { output } = await run(
      join(bin, 'st'),
      [
        ...['--config-file', join(ROOT, 'test/fuzz/schemathesis.toml'), 'run', `${url}/docs/json`, ...options],
        ...['--checks', 'all', '--exclude-path', ENDLESS, '--generation-database', 'none'],
        // With two workers, CPython 3.11 fails at random ("AST constructor recursion depth mismatch").
        ...['--workers', '1', '--request-timeout', '30', '--continue-on-failure', '--no-color'],
        ...['--report', 'json', '--report-json-path', file],
      ],
      { cwd: folder },
    );
    if (!existsSync(file)) throw new Stop(`schemathesis wrote no report:\n${output.slice(-4000)}`);
    return { ...JSON.parse(readFileSync(file, 'utf8')), output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function add(sum, { test_cases: cases, operations, failures, output }) {
  const errored = cases.errored + operations.errored;
  sum.requests += cases.generated;
  sum.errored += errored;
  for (const { type, count } of failures) sum[type === 'ServerError' ? 'serverErrors' : 'violations'] += count;
  if (failures.length + errored > 0) sum.output += output;
}

function lineOf({ requests, serverErrors, violations }) {
  return `${requests} requests, ${serverErrors} x 5xx, ${violations} schema violations`;
}

/** Prints the failures with the request of each, and the line. */
function summarise(role, sum) {
  const { serverErrors, violations, errored, output } = sum;
  if (serverErrors + violations + errored > 0) {
    console.log(output);
    process.exitCode = 1;
  }
  console.log(`${role}: ${lineOf(sum)}${errored > 0 ? `, ${errored} not answered or not sent` : ''}`);
}

function assertFound(sum) {
  if (sum.serverErrors > 0 && sum.violations > 0) return console.log(`planted faults found: ${lineOf(sum)}`);
  console.log(sum.output);
  throw new Stop(`planted faults not found: ${lineOf(sum)}`);
}
