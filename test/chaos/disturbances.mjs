/** The disturbances of test:chaos: each one ends with everything in place again. */
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Stop } from '../../scripts/lib/shell.mjs';

const LIMIT_MS = 120_000;
/** Longer than JOB_LOCK_MS of the service under test, so that a frozen worker loses its jobs to another one. */
const FREEZE_WORKER_MS = 7_000;
/** Frozen for less than the timeout of a command (5 s) and for more. */
const FREEZE_REDIS_MS = [1_000, 7_000];
const REFUSE_MS = [1_000, 4_000];
/** Most that a clock jumps, in either direction. */
const JUMP_S = 86_400;
/** The processes read the clock of Redis every 10 s. */
const JUMP_OF_REDIS_MS = [6_000, 14_000];

/**
 * @param {{ service: object, next: () => number, clockFiles: Record<string, string>, disk?: string,
 *   sentinels?: object, redis: object }} options next: uniform in [0, 1); clockFiles: set the clocks of the API, of
 *   the workers and of Redis; disk: the mounted data folder; redis: client of the Redis under test
 * @returns {Record<string, () => Promise<void>>} by name; those that cannot be made here are missing
 */
export function disturbances({ service, next, workers, clockFiles, disk, sentinels, redis }) {
  const between = ([least, most]) => pause(least + (most - least) * next());
  const aWorker = () => {
    const number = 1 + Math.floor(next() * workers);
    return number === 1 ? 'worker' : `worker-${number}`;
  };
  const isRunning = (pid) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  const until = async (what, test) => {
    for (const end = Date.now() + LIMIT_MS; !(await test()); await pause(50)) {
      if (Date.now() > end) throw new Stop(`after ${LIMIT_MS} ms: ${what}`);
    }
  };
  /** @returns the process that got the signal. One that starts while Redis refuses may have ended by itself. */
  const signal = async (name, kind) => {
    let pid;
    const isSent = () => {
      pid = service.pid(name);
      return isRunning(pid) && process.kill(pid, kind);
    };
    await until(`${name} does not run`, isSent);
    return pid;
  };
  const kill = async (name) => {
    const pid = await signal(name, 'SIGKILL');
    await until(`${name} does not come back`, () => service.pid(name) !== pid && isRunning(service.pid(name)));
  };
  const freeze = async (name, waiting) => {
    const pid = await signal(name, 'SIGSTOP');
    await waiting();
    process.kill(pid, 'SIGCONT');
  };
  if (sentinels !== undefined) return { 'kill the primary': () => killPrimary(sentinels, next, until) };
  return {
    'kill a worker': () => kill(aWorker()),
    'kill the API': () => kill('api'),
    'kill Redis': () => kill('redis'),
    'freeze Redis': () => freeze('redis', () => between(FREEZE_REDIS_MS)),
    'freeze a worker': () => freeze(aWorker(), () => pause(FREEZE_WORKER_MS)),
    'Redis without memory': async () => {
      await redis.config('SET', 'maxmemory', '1');
      await between(REFUSE_MS);
      await redis.config('SET', 'maxmemory', '0');
    },
    'Redis as a replica': async () => {
      // Its primary does not exist, so that its data stays; writes are answered with READONLY.
      await redis.replicaof('127.0.0.1', '1');
      await between(REFUSE_MS);
      await redis.replicaof('NO', 'ONE');
    },
    ...(disk === undefined
      ? {}
      : {
          'fill the disk': async () => {
            fill(join(disk, 'filler'));
            await between(REFUSE_MS);
            rmSync(join(disk, 'filler'));
          },
        }),
    ...Object.fromEntries(
      Object.entries(clockFiles).map(([part, file]) => [
        `set the clock of the ${part}`,
        async () => {
          writeFileSync(file, `${next() < 0.5 ? '-' : '+'}${Math.ceil(next() * JUMP_S)}`);
          await between(part === 'Redis' ? JUMP_OF_REDIS_MS : REFUSE_MS);
          writeFileSync(file, '+0');
        },
      ]),
    ),
  };
}

/** Writes until nothing more fits, as another program would. */
function fill(path) {
  const file = openSync(path, 'a');
  for (const size of [1 << 20, 1 << 12, 1]) {
    const block = Buffer.alloc(size);
    try {
      for (;;) writeSync(file, block);
    } catch {
      // Full for blocks of this size.
    }
  }
  closeSync(file);
}

async function killPrimary(sentinels, next, until) {
  const old = await sentinels.primary();
  sentinels.kill(old);
  await until('no node became primary', async () => ![-1, old].includes(await sentinels.primary()));
  await pause(500 * next());
  await sentinels.restart(old);
}
