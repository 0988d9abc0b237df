/** Processes under test, started from dist/ with a data folder of their own and stopped again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { waitUntilReady } from '../../../scripts/lib/example.mjs';
import { claimPort } from '../../../scripts/lib/instance.mjs';
import { ensureBuild } from '../../../scripts/lib/packages.mjs';
import { ensureRedisServer, redisArguments, socketPath, waitForRedis } from '../../../scripts/lib/redis.mjs';
import { ROOT } from '../../../scripts/lib/shell.mjs';
import { Supervised } from '../../../scripts/lib/supervise.mjs';

/** Imports a module of the built service, e.g. dist('config.js'). */
export const dist = (file) => import(pathToFileURL(join(ROOT, 'dist', file)));

/**
 * Redis, the API, and a worker unless `worker: false`; `build: false` if dist/ is current.
 * @returns {Promise<{ url: string, redisUrl: string, pid: (name: 'api' | 'worker' | 'redis') => number,
 *   stop: () => Promise<void> }>}
 */
export async function startService({ worker = true, env = {}, build = true } = {}) {
  if (build) await ensureBuild();
  const dataDir = mkdtempSync(join(tmpdir(), 'sd-bench-'));
  const processes = [];
  const stop = async () => {
    const [redis, ...others] = processes;
    await Promise.all(others.map((child) => child.stop(30_000)));
    await redis.stop(10_000);
    rmSync(dataDir, { recursive: true, force: true });
  };
  process.once('SIGINT', () => stop().then(() => process.exit(130)));
  const add = (name, command, args, childEnv) => {
    const child = new Supervised({
      name,
      command,
      args,
      env: childEnv,
      logFile: join(dataDir, `${name}.log`),
      deathSignal: 'KILL',
    });
    processes.push(child);
    return child;
  };

  const socket = socketPath(join(dataDir, 'redis'), 'redis.sock');
  const redis = add('redis', await ensureRedisServer(), redisArguments(dataDir, socket));
  await redis.start();
  await waitForRedis(socket, () => redis.running);
  const port = await claimPort('127.0.0.1', 0);
  const url = `http://127.0.0.1:${port}`;
  const childEnv = {
    ...process.env,
    ...{ HOST: '127.0.0.1', PORT: String(port), DATA_DIR: dataDir, REDIS_URL: `unix://${socket}` },
    ...{ AUTH: 'off', RATE_LIMIT: '0', LOG_LEVEL: 'warn' },
    ...env,
  };
  try {
    const parts = worker ? ['api', 'workers'] : ['api'];
    await Promise.all(
      parts.map((part) =>
        add(
          part === 'workers' ? 'worker' : part,
          process.execPath,
          [join(ROOT, 'dist', part, 'main.js')],
          childEnv,
        ).start({ ready: true }),
      ),
    );
    if (worker) await waitUntilReady(url, 120_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    redisUrl: `unix://${socket}`,
    pid: (name) => processes.find((child) => child.name === name).pid,
    stop,
  };
}

/** Resident memory of a process in bytes. */
export function residentBytes(pid) {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) * 1024;
}

/** A multipart form with two files, as bytes. */
export function formOf({ before, after }) {
  const boundary = 'scenedelta-bench-boundary';
  const part = (name) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.jpg"\r\n` +
    'Content-Type: image/jpeg\r\n\r\n';
  return {
    body: Buffer.concat([
      Buffer.from(part('before')),
      before,
      Buffer.from(`\r\n${part('after')}`),
      after,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

/** A number given as --name=N. */
export function numberOption(name, fallback) {
  const given = process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1];
  const value = given === undefined ? fallback : Number(given);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`--${name}=${given}: expected a whole number above 0`);
}
