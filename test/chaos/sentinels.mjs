/** Three nodes of Redis with a sentinel each: a primary, which may be killed, and two replicas. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { claimPort } from '../../scripts/lib/instance.mjs';

const NAME = 'scenedelta';
const PASSWORD = 'of-the-primary';
const SENTINEL_PASSWORD = 'of-the-sentinels';
const HOST = '127.0.0.1';
/** A primary that does not answer for this long is replaced, ms. */
const DOWN_MS = 1_000;
const START_LIMIT_MS = 20_000;

/**
 * The primary takes a write only while a replica follows it (min-replicas-to-write 1, a lag of at most 2 s).
 * @returns {Promise<{ url: string, primary: () => Promise<number>, kill: (node: number) => void,
 *   restart: (node: number) => Promise<void>, stop: () => void }>} `url` is a REDIS_URL; nodes count from 0
 */
export async function startSentinels() {
  const folder = mkdtempSync(join(tmpdir(), 'sd-sentinels-'));
  const free = new Set();
  while (free.size < 6) free.add(await claimPort(HOST, 0));
  const ports = [...free];
  const [dataPorts, sentinelPorts] = [ports.slice(0, 3), ports.slice(3)];
  const processes = new Map();

  const run = (name, args) => {
    const child = spawn('redis-server', args, { stdio: 'ignore' });
    processes.set(name, child);
  };
  const startNode = (node) => {
    const config = join(folder, `node-${node}`, 'redis.conf');
    run(`node-${node}`, [config]);
  };
  for (const [node, port] of dataPorts.entries()) {
    mkdirSync(join(folder, `node-${node}`));
    mkdirSync(join(folder, `sentinel-${node}`));
    writeFileSync(
      join(folder, `node-${node}`, 'redis.conf'),
      [
        `bind ${HOST}\nport ${port}\ndir ${join(folder, `node-${node}`)}`,
        `requirepass ${PASSWORD}\nmasterauth ${PASSWORD}`,
        'appendonly yes\nappendfsync everysec\nsave ""\nmaxmemory-policy noeviction',
        'min-replicas-to-write 1\nmin-replicas-max-lag 2\nrepl-ping-replica-period 1',
        node === 0 ? '' : `replicaof ${HOST} ${dataPorts[0]}`,
      ].join('\n'),
    );
    startNode(node);
  }
  for (const [node, port] of sentinelPorts.entries()) {
    const config = join(folder, `sentinel-${node}`, 'sentinel.conf');
    writeFileSync(
      config,
      [
        `bind ${HOST}\nport ${port}\ndir ${join(folder, `sentinel-${node}`)}\nrequirepass ${SENTINEL_PASSWORD}`,
        `sentinel sentinel-pass ${SENTINEL_PASSWORD}`,
        `sentinel monitor ${NAME} ${HOST} ${dataPorts[0]} 2`,
        `sentinel auth-pass ${NAME} ${PASSWORD}`,
        `sentinel down-after-milliseconds ${NAME} ${DOWN_MS}`,
        `sentinel failover-timeout ${NAME} 6000`,
      ].join('\n'),
    );
    run(`sentinel-${node}`, [config, '--sentinel']);
  }

  const call = async (port, password, ...command) => {
    const redis = new Redis({ host: HOST, port, password, lazyConnect: true, retryStrategy: () => null });
    redis.on('error', () => {});
    try {
      await redis.connect();
      return await redis.call(...command);
    } catch {
      return null;
    } finally {
      redis.disconnect();
    }
  };
  const until = async (what, test) => {
    const end = Date.now() + START_LIMIT_MS;
    while (!(await test())) {
      if (Date.now() > end) throw new Error(`after ${START_LIMIT_MS} ms: ${what}`);
      await pause(50);
    }
  };
  const isLinked = async (node) => /master_link_status:up/.test(await call(dataPorts[node], PASSWORD, 'INFO'));
  /** @returns the node that answers as primary and has a replica that follows it; -1 while there is none */
  const primary = async () => {
    const infos = await Promise.all(dataPorts.map((port) => call(port, PASSWORD, 'INFO', 'replication')));
    return infos.findIndex((info) => /role:master/.test(info ?? '') && /slave0:.*state=online/.test(info ?? ''));
  };
  const knowEachOther = async () => {
    const infos = await Promise.all(sentinelPorts.map((port) => call(port, SENTINEL_PASSWORD, 'INFO', 'sentinel')));
    return infos.every((info) => /slaves=2,sentinels=3/.test(info ?? ''));
  };
  await until('the replicas do not follow', async () => (await isLinked(1)) && (await isLinked(2)));
  await until('the sentinels do not know each other', knowEachOther);

  const hosts = sentinelPorts.map((port) => `${HOST}:${port}`).join(',');
  return {
    url: `redis+sentinel://:${PASSWORD}@${hosts}/${NAME}?sentinel_password=${SENTINEL_PASSWORD}`,
    primary,
    kill: (node) => processes.get(`node-${node}`).kill('SIGKILL'),
    restart: async (node) => {
      startNode(node);
      await until(`node ${node} follows nobody`, () => isLinked(node));
    },
    stop: () => {
      for (const child of processes.values()) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
