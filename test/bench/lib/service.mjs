/** Processes under test, started from dist/ with a data folder of their own and stopped again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DiskGuard } from '../../../scripts/lib/disk-guard.mjs';
import { firstKey, waitUntilReady } from '../../../scripts/lib/example.mjs';
import { claimPort } from '../../../scripts/lib/instance.mjs';
import { wholeNumber } from '../../../scripts/lib/options.mjs';
import { ensureBuild } from '../../../scripts/lib/packages.mjs';
import { ensureRedisServer, redisArguments, socketPath, waitForRedis } from '../../../scripts/lib/redis.mjs';
import { ROOT } from '../../../scripts/lib/shell.mjs';
import { Supervised, WORKER_NICENESS } from '../../../scripts/lib/supervise.mjs';

const isRedis = ({ name }) => name === 'redis';

/** Imports a module of the built service, e.g. dist('process/config.js'). */
export const dist = (file) => import(pathToFileURL(join(ROOT, 'dist', file)));

/**
 * Redis, the API, and a worker unless `worker: false`, with the niceness that `npm run up` gives it; several `workers`
 * are named worker, worker-2 and so on. Each comes back if it is killed. `build: false` if dist/ is current. redisUrl:
 * the caller's Redis; absent: one is started. apiEnv, workerEnv, redisEnv: environment of the API, of the workers or of
 * Redis alone.
 * folder: where the data folder is made. With AUTH=on in `env`, `headers` of the result have a key.
 * @returns {Promise<{ url: string, redisUrl: string, dataDir: string, headers: object, stop: () => Promise<void>,
 *   pid: (name: string) => number }>}
 */
export async function startService({
  worker = true,
  workers = 1,
  redisUrl,
  env = {},
  apiEnv = {},
  workerEnv = {},
  redisEnv = {},
  build = true,
  niceness = WORKER_NICENESS,
  folder = tmpdir(),
} = {}) {
  if (build) await ensureBuild();
  const dataDir = mkdtempSync(join(folder, 'sd-bench-'));
  const processes = [];
  const stop = async () => {
    const [redis, others] = [processes.filter(isRedis), processes.filter((child) => !isRedis(child))];
    await Promise.all(others.map((child) => child.stop(30_000)));
    await Promise.all(redis.map((child) => child.stop(10_000)));
    rmSync(dataDir, { recursive: true, force: true });
  };
  process.once('SIGINT', () => stop().then(() => process.exit(130)));
  const add = (name, command, args, childEnv, childNiceness = 0) => {
    const child = new Supervised({
      name,
      command,
      args,
      env: childEnv,
      logFile: join(dataDir, `${name}.log`),
      deathSignal: 'KILL',
      niceness: childNiceness,
    });
    processes.push(child);
    return child;
  };

  const startRedis = async () => {
    const socket = socketPath(join(dataDir, 'redis'), 'redis.sock');
    const guard = new DiskGuard({ dataDir, socket, report: () => {} });
    const args = () => [...redisArguments(dataDir, socket), ...guard.redisArguments()];
    const redis = add('redis', await ensureRedisServer(), args, { ...process.env, ...redisEnv });
    await redis.start();
    await waitForRedis(socket, () => redis.running);
    await guard.start();
    return `unix://${socket}`;
  };
  const usedRedis = redisUrl ?? (await startRedis());
  const port = await claimPort('127.0.0.1', 0);
  const url = `http://127.0.0.1:${port}`;
  const childEnv = {
    ...process.env,
    ...{ HOST: '127.0.0.1', PORT: String(port), DATA_DIR: dataDir, REDIS_URL: usedRedis },
    ...{ AUTH: 'off', RATE_LIMIT: '0', LOG_LEVEL: 'warn' },
    ...env,
  };
  let headers = {};
  try {
    const start = (name, part, ...rest) =>
      add(name, process.execPath, [join(ROOT, 'dist', part, 'main.js')], ...rest).start({ ready: true });
    const names = Array.from({ length: worker ? workers : 0 }, (_, i) => (i === 0 ? 'worker' : `worker-${i + 1}`));
    await Promise.all([
      start('api', 'api', { ...childEnv, ...apiEnv }),
      ...names.map((name) => start(name, 'workers', { ...childEnv, ...workerEnv }, niceness)),
    ]);
    if (worker) await waitUntilReady(url, 120_000);
    if (childEnv.AUTH === 'on') ({ headers } = await firstKey(url, dataDir, childEnv));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    redisUrl: usedRedis,
    dataDir,
    headers,
    pid: (name) => processes.find((child) => child.name === name).pid,
    stop,
  };
}

/** Ticks per second of the times in /proc, fixed by Linux for programs. */
const CLOCK_TICKS = 100;

/** CPU time of a process in ms, of its threads and of its ended children. */
export function cpuMs(pid) {
  // The second field is the name in parentheses, which may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  // utime, stime, cutime and cstime are fields 14 to 17; this list begins with field 3.
  return (fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 1000) / CLOCK_TICKS;
}

/** Resident memory of a process in bytes. */
export function residentBytes(pid) {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) * 1024;
}

/**
 * A multipart form as bytes.
 * @param {Record<string, Buffer>} files JPEGs by field
 * @param {Record<string, string>} fields further fields
 */
export function formOf(files, fields = {}) {
  const boundary = 'scenedelta-bench-boundary';
  const part = (name, more) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n`;
  const parts = [
    ...Object.entries(fields).map(([name, value]) => [`${part(name, '')}\r\n`, value]),
    ...Object.entries(files).map(([name, bytes]) => [
      `${part(name, `; filename="${name}.jpg"`)}Content-Type: image/jpeg\r\n\r\n`,
      bytes,
    ]),
  ];
  return {
    body: Buffer.concat([
      ...parts.flatMap(([head, value]) => [Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')]),
      Buffer.from(`--${boundary}--\r\n`),
    ]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

/** A number given as --name=N. */
export function numberOption(name, fallback) {
  const given = process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1];
  return given === undefined ? fallback : wholeNumber(name, given);
}
