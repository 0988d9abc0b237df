/**
 * `npm run test:fuzz [-- --examples=10000] [--seed=N] [--self-test]`: schemathesis sends requests that the OpenAPI
 * file describes, and requests that break it, to a service of its own, and checks every answer. `--examples` is the
 * least number of requests; about 1,900 of them are systematic (each bound of each parameter, each method), the others
 * random. Ends with one line; the exit status is 1 if an answer was a 5xx or not as described. `--self-test` sends them
 * through a proxy that plants two faults, and fails unless both are found.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../../scripts/lib/options.mjs';
import { ensureApiTools } from '../../scripts/lib/python.mjs';
import { ROOT, run, runMain, Stop, say } from '../../scripts/lib/shell.mjs';
import { dist, startService } from '../bench/lib/service.mjs';
import { plantFaults } from './planted-faults.mjs';

/** Its answer never ends. */
const ENDLESS = '/v1/events';
/** A camera and a comparison that exist, so that requests reach more than 404. */
const CAMERA = 'gate-3';
/** Operations without parameters have few different requests, so several rounds may be needed. */
const MOST_ROUNDS = 5;

await runMain(async () => {
  const { values } = readOptions({
    examples: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'self-test': { type: 'boolean', default: false },
  });
  const examples = Number(values.examples);
  if (!Number.isInteger(examples) || examples < 1) {
    throw new Stop(`--examples=${values.examples}: expected an integer above 0`);
  }
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
    },
  });
  const faults = values['self-test'] ? await plantFaults(service.url) : undefined;
  try {
    const key = await createKey(service.redisUrl);
    await createCamera(service.url, key);
    const url = faults?.url ?? service.url;
    const found = await fuzz(url, { tools, key, examples, seed: Number(values.seed) });
    if (faults) assertFound(found);
    else summarise(found);
  } finally {
    await faults?.close();
    await service.stop();
  }
});

async function createKey(redisUrl) {
  const { createApiKeyStore } = await dist('stores/api-keys.js');
  const { connectRedis } = await dist('stores/redis.js');
  const { createLogger } = await dist('logger.js');
  const redis = connectRedis(redisUrl, {
    role: 'consumer',
    logger: createLogger({ level: 'silent', name: 'fuzz' }),
  });
  const { secret } = await createApiKeyStore(redis).create({ name: 'fuzz', scopes: ['admin'] });
  redis.disconnect();
  return secret;
}

async function createCamera(url, key) {
  const answer = await fetch(`${url}/v1/cameras/${CAMERA}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  });
  if (!answer.ok) throw new Error(`PUT /v1/cameras/${CAMERA} answered ${answer.status}`);
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
function summarise(sum) {
  const { serverErrors, violations, errored, output } = sum;
  if (serverErrors + violations + errored > 0) {
    console.log(output);
    process.exitCode = 1;
  }
  console.log(lineOf(sum) + (errored > 0 ? `, ${errored} not answered or not sent` : ''));
}

function assertFound(sum) {
  if (sum.serverErrors > 0 && sum.violations > 0) return console.log(`planted faults found: ${lineOf(sum)}`);
  console.log(sum.output);
  throw new Stop(`planted faults not found: ${lineOf(sum)}`);
}
