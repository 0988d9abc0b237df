/**
 * `npm run test:fuzz [-- --examples=10000] [--seed=N] [--self-test]`: schemathesis sends requests that the OpenAPI
 * file describes, and requests that break it, to a service of its own, and checks every answer. `--examples` is the
 * number of random requests; the systematic ones (each bound of each parameter, each method) come on top. Ends with one
 * line; the exit status is 1 if an answer was a 5xx or not as described. `--self-test` sends them through a proxy that
 * plants two faults, and fails unless both are found.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
    const report = await fuzz(faults?.url ?? service.url, { tools, key, examples, seed: values.seed });
    if (faults) assertFound(report);
    else summarise(report);
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

/** @returns {Promise<object>} the JSON report of schemathesis */
async function fuzz(url, { tools, key, examples, seed }) {
  const description = await (await fetch(`${url}/docs/json`)).json();
  const operations = Object.values(description.paths).flatMap((path) => Object.keys(path)).length - 1;
  const perOperation = Math.ceil(examples / operations);
  say('fuzz', `schemathesis, ${operations} operations, ${perOperation} examples of each, seed ${seed}`);
  const folder = mkdtempSync(join(tmpdir(), 'sd-fuzz-'));
  const report = join(folder, 'report.json');
  try {
    const { output } = await run(
      join(tools.bin, 'st'),
      [
        ...['--config-file', join(ROOT, 'test/fuzz/schemathesis.toml'), 'run', `${url}/docs/json`],
        ...['--header', `Authorization: Bearer ${key}`, '--checks', 'all', '--exclude-path', ENDLESS],
        ...['--max-examples', String(perOperation), '--seed', seed, '--generation-database', 'none'],
        // With two, CPython 3.11 fails at random ("AST constructor recursion depth mismatch").
        ...['--workers', '1', '--request-timeout', '30', '--continue-on-failure', '--no-color'],
        ...['--report', 'json', '--report-json-path', report],
      ],
      { cwd: folder },
    );
    let read;
    try {
      read = JSON.parse(readFileSync(report, 'utf8'));
    } catch {
      throw new Stop(`schemathesis wrote no report:\n${output.slice(-4000)}`);
    }
    return { ...read, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isServerError({ type }) {
  return type === 'ServerError';
}

function counts({ test_cases: cases, operations, failures }) {
  const sum = (kind) => failures.filter(kind).reduce((total, { count }) => total + count, 0);
  return {
    requests: cases.generated,
    serverErrors: sum(isServerError),
    violations: sum((failure) => !isServerError(failure)),
    errored: cases.errored + operations.errored,
  };
}

/** Prints the failures with the request of each, and the line. */
function summarise(report) {
  const { requests, serverErrors, violations, errored } = counts(report);
  if (serverErrors + violations + errored > 0) {
    console.log(report.output);
    process.exitCode = 1;
  }
  const unanswered = errored > 0 ? `, ${errored} not answered or not sent` : '';
  console.log(`${requests} requests, ${serverErrors} x 5xx, ${violations} schema violations${unanswered}`);
}

function assertFound(report) {
  const { requests, serverErrors, violations } = counts(report);
  const found = `${requests} requests, ${serverErrors} x 5xx, ${violations} schema violations`;
  if (serverErrors > 0 && violations > 0) return console.log(`planted faults found: ${found}`);
  console.log(report.output);
  throw new Stop(`planted faults not found: ${found}`);
}
