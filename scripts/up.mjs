/**
 * `npm run up`: from a fresh clone to a running service, with a caption of the example pair on the way.
 * `npm run demo` (--demo): the same, but ends after the example.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cpuFault } from './lib/cpu.mjs';
import { DiskGuard } from './lib/disk-guard.mjs';
import { compareExample, EXAMPLE, firstKey, hasComparisons, saveHeatmap, waitUntilReady } from './lib/example.mjs';
import { claimDataDir, claimPort } from './lib/instance.mjs';
import { nativeFault } from './lib/native-parts.mjs';
import { networkSettings } from './lib/network-question.mjs';
import { readOptions } from './lib/options.mjs';
import { COMMAND, ensureBuild, ensurePackages } from './lib/packages.mjs';
import { ensureRedisServer, redisArguments, socketPath, waitForRedis } from './lib/redis.mjs';
import { ROOT, requireNode, runMain, Stop, say, seconds, shown } from './lib/shell.mjs';
import { Supervised, WORKER_NICENESS } from './lib/supervise.mjs';

const USAGE = `npm run up              install what is missing, start the service, caption the example pair, keep running
npm run demo            the same, and stop after the example
Settings come from the environment, e.g. PORT=8081 DATA_DIR=/var/lib/scenedelta npm run up`;

const READY_TIMEOUT_MS = 120_000;
const REDIS_STOP_MS = 10_000;
/** Time between the end of the children's own SHUTDOWN_MS and SIGKILL. */
const MARGIN_MS = 2_000;
const WORKER_METRICS_OFFSET = 1_000;
const LOG_CHECK_MS = 60_000;
const PARENT_CHECK_MS = 500;
/** npm and the terminal both send a signal for one Ctrl-C; within this time they count as one. */
const SAME_PRESS_MS = 1_000;

async function main() {
  // Settings are no options: PORT=8081 npm run up
  const { demo, help } = readOptions({ demo: { type: 'boolean' }, help: { type: 'boolean' } }).values;
  if (help) return printHelp();
  requireNode(20, 9);
  const fault = cpuFault();
  if (fault !== undefined) throw new Stop(fault);
  console.log(`scenedelta ${JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version}`);
  const startedAt = Date.now();

  await ensurePackages();
  await ensureBuild();
  const missing = await nativeFault();
  if (missing !== undefined) throw new Stop(missing);
  const config = await readConfig();
  const dataDir = resolve(config.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });

  const processes = [];
  let url;
  const release = await claimDataDir(dataDir, () => ({
    pid: process.pid,
    url,
    processes: Object.fromEntries(processes.map((child) => [child.name, child.pid])),
  }));
  const stop = closeOnSignals(processes, config.shutdownMs + MARGIN_MS, release);
  if (process.env.npm_lifecycle_event !== undefined) onNpmExit(() => stop(0));
  try {
    // The demo has no other client: any port will do if none is set.
    const port = await claimPort(config.host, demo && process.env.PORT === undefined ? 0 : config.port);
    url = addressOf(config.host, port);
    const metricsPort = demo ? config.workerMetricsPort : await workerMetricsPort(config);
    const network = demo
      ? {}
      : await networkSettings(dataDir, process.env, { input: process.stdin, output: process.stdout });
    if (network.OUTBOUND_ALLOW) say('network', `cameras in ${network.OUTBOUND_ALLOW} may be reached`);
    const env = {
      ...process.env,
      ...network,
      PORT: String(port),
      WORKER_METRICS_PORT: String(metricsPort),
      DATA_DIR: dataDir,
      REDIS_URL: config.redisUrl ?? (await startRedis(dataDir, processes)),
    };
    const starting = startService(url, env, dataDir, processes);
    // A key needs the API only, so it is made while the worker loads its models.
    const makeKey = async () => (config.auth === 'on' ? firstKey(url, dataDir, env) : undefined);
    const [key] = await Promise.all([starting.api.then(makeKey), starting.worker]);
    await waitUntilReady(url, READY_TIMEOUT_MS);
    if (process.env.MQTT_URL && !demo) await startPublisher(url, env, dataDir, processes);
    if (demo) {
      await showExample(url, key?.headers ?? {}, dataDir);
      return await stop(0);
    }
    await tryExample(url, key?.headers ?? {}, dataDir);
    const metrics = metricsPort === 0 ? '' : addressOf(config.host, metricsPort);
    printAddresses(url, { metrics, key, link: await consoleLink(url, key) }, dataDir, startedAt);
    setInterval(() => {
      for (const child of processes) child.rotateLog();
    }, LOG_CHECK_MS).unref();
  } catch (error) {
    await stop(undefined);
    throw error;
  }
}

async function printHelp() {
  console.log(USAGE);
  try {
    const { describeConfig } = await import(pathToFileURL(join(ROOT, 'dist/process/config.js')));
    for (const { env, type, default: fallback, describe } of describeConfig()) {
      console.log(`\n  ${env}${fallback === '' ? '' : `=${fallback}`} (${type})\n      ${describe}`);
    }
  } catch {
    console.log('\nEvery setting: deploy/README.md');
  }
}

async function readConfig() {
  const { loadConfig } = await import(pathToFileURL(join(ROOT, 'dist/process/config.js')));
  try {
    return loadConfig(process.env);
  } catch (error) {
    throw new Stop(error.message);
  }
}

/** @returns the URL; a wildcard address is replaced by loopback, because a browser cannot open it */
function addressOf(host, port) {
  const visited = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${visited.includes(':') ? `[${visited}]` : visited}:${port}`;
}

/**
 * Port of the worker's metrics. It is closed by default, because several workers may share a host; here there is one.
 * @returns PORT + 1000, or a free port if that is taken; 0 (closed) with METRICS_AUTH, because this port takes no key
 */
async function workerMetricsPort({ host, port, workerMetricsPort: given, metricsAuth }) {
  if (process.env.WORKER_METRICS_PORT || metricsAuth) return given;
  const preferred = port === 0 ? 0 : port + WORKER_METRICS_OFFSET;
  return claimPort(host, preferred).catch(() => claimPort(host, 0));
}

/** Starts the embedded server and waits until it answers. @returns its REDIS_URL */
async function startRedis(dataDir, processes) {
  const start = Date.now();
  const command = await ensureRedisServer();
  const socket = socketPath(join(dataDir, 'redis'), 'redis.sock');
  const guard = new DiskGuard({ dataDir, socket, report: (state) => say('disk', state) });
  const redis = new Supervised({
    name: 'redis',
    command,
    args: () => [...redisArguments(dataDir, socket), ...guard.redisArguments()],
    logFile: join(dataDir, 'logs/redis.log'),
    // Every acknowledged write is on disk (appendfsync always), so the hardest signal loses nothing.
    deathSignal: 'KILL',
    onRestart: (why) => say('redis', why),
  });
  processes.push(redis);
  await redis.start();
  await waitForRedis(socket, () => redis.running);
  if (!redis.running)
    throw new Stop(`redis ended while starting; its log is ${shown(join(dataDir, 'logs/redis.log'))}`);
  await guard.start();
  say('redis', `ready after ${seconds(start)} (${shown(socket)})`);
  return `unix://${socket}`;
}

/** @returns one promise per process, resolved when it is ready */
function startService(url, env, dataDir, processes) {
  const start = Date.now();
  const launch = async (name, entry, niceness) => {
    const child = new Supervised({
      name,
      command: process.execPath,
      args: [join(ROOT, 'dist', entry)],
      env,
      logFile: join(dataDir, `logs/${name}.log`),
      deathSignal: 'TERM',
      niceness,
      onRestart: (why) => say(name, why),
    });
    processes.push(child);
    await child.start({ ready: true });
    if (name === 'api') child.watch(`${url}/livez`);
    say(name, `ready after ${seconds(start)}`);
  };
  return { api: launch('api', 'api/main.js', 0), worker: launch('worker', 'workers/main.js', WORKER_NICENESS) };
}

/** It is ready before it has reached the broker, which the service does not need. */
async function startPublisher(url, env, dataDir, processes) {
  const publisher = new Supervised({
    name: 'mqtt',
    command: process.execPath,
    args: [join(ROOT, 'dist/clients/main.js'), 'mqtt', '--api', url],
    env,
    logFile: join(dataDir, 'logs/mqtt.log'),
    deathSignal: 'TERM',
    onRestart: (why) => say('mqtt', why),
  });
  processes.push(publisher);
  await publisher.start({ ready: true });
  say('mqtt', `publishing (${shown(join(dataDir, 'logs/mqtt.log'))})`);
}

/**
 * The example belongs to a first start. It waits behind no backlog, and whatever becomes of it, the service stays up.
 */
async function tryExample(url, headers, dataDir) {
  try {
    if (await hasComparisons(url, headers)) return say('example', 'skipped: there are comparisons already');
    await showExample(url, headers, dataDir);
  } catch (error) {
    say('example', `not captioned: ${error.message}`);
  }
}

async function showExample(url, headers, dataDir) {
  const { comparison, ms } = await compareExample(url, headers);
  console.log(`\n  before     ${shown(EXAMPLE.before)}\n  after      ${shown(EXAMPLE.after)}`);
  console.log(`\n  "${comparison.caption}"`);
  console.log(`  verdict ${comparison.verdict}, confidence ${comparison.confidence}, ${Math.round(ms)} ms over HTTP`);
  if (comparison.heatmaps) {
    const picture = await saveHeatmap(url, headers, comparison, join(dataDir, 'example'));
    console.log(`  where      ${shown(picture)}`);
  }
  console.log('');
}

/** @returns the address of the console; with AUTH=on it signs in, for half an hour from now */
async function consoleLink(url, key) {
  if (key === undefined) return `${url}/`;
  const answer = await fetch(`${url}/v1/session/token`, { method: 'POST', headers: key.headers });
  return answer.ok ? `${url}/#sign-in=${(await answer.json()).token}` : `${url}/`;
}

function printAddresses(url, { metrics, key, link }, dataDir, startedAt) {
  const auth = key ? ` -H "Authorization: Bearer $(cat ${shown(key.file)})"` : '';
  say('console', link);
  say('docs', `${url}/docs`);
  if (key) say('key', `${shown(key.file)}   (another: ${COMMAND} keys create --name NAME --role ROLE)`);
  say('try', `curl${auth} -F before=@${shown(EXAMPLE.before)} -F after=@${shown(EXAMPLE.after)} ${url}/v1/comparisons`);
  say('metrics', `${url}/metrics${metrics === '' ? '' : `   (of the worker: ${metrics}/metrics)`}`);
  say('logs', shown(join(dataDir, 'logs')));
  console.log(`\nUp after ${seconds(startedAt)}. Ctrl-C stops everything.`);
}

/**
 * npm ends on SIGTERM without waiting for the shell and the script that it runs, and the script receives no signal: one
 * of the two becomes the child of another process.
 */
function onNpmExit(end) {
  const parents = parentsOf(process.ppid);
  const timer = setInterval(() => {
    if (parentsOf(process.ppid) === parents) return;
    clearInterval(timer);
    end();
  }, PARENT_CHECK_MS);
  timer.unref();
}

/** @returns the pid and its parent's, as text; without /proc only the pid */
function parentsOf(pid) {
  try {
    // proc(5): the parent's pid follows the state, which follows the name in parentheses.
    return `${pid} ${/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]}`;
  } catch {
    return String(pid);
  }
}

/**
 * @returns stop(status): API and worker first, so that they finish what they hold, then Redis. With a status it also
 *   ends this process. A second signal (not the echo of the first) kills instead of waiting.
 */
function closeOnSignals(processes, graceMs, release) {
  let closing;
  const stop = (status) => {
    closing ??= (async () => {
      const redis = processes.filter(({ name }) => name === 'redis');
      await Promise.all(processes.filter((child) => !redis.includes(child)).map((child) => child.stop(graceMs)));
      await Promise.all(redis.map((child) => child.stop(REDIS_STOP_MS)));
      release();
    })();
    return closing.then(() => status === undefined || process.exit(status));
  };
  let firstAt;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (firstAt === undefined) {
        firstAt = Date.now();
        console.log(`\n${signal}: closing ...`);
        stop(0);
      } else if (Date.now() - firstAt > SAME_PRESS_MS) {
        for (const child of processes) child.kill();
      }
    });
  }
  return stop;
}

await runMain(main);
