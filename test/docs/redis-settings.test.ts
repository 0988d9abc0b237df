/** The two ways to run Redis make the same promises. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';

const PROMISED = {
  appendonly: 'yes',
  appendfsync: 'always',
  save: '',
  'maxmemory-policy': 'noeviction',
};

let folder: string;
let server: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sd-redis-'));
});
afterEach(async () => {
  if (server && server.exitCode === null) {
    const gone = new Promise((done) => server?.once('exit', done));
    server.kill('SIGKILL');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
});

async function settingsOf(args: string[]): Promise<Record<string, string>> {
  const socket = join(folder, 's.sock');
  server = spawn('redis-server', [...args, '--port', '0', '--unixsocket', socket, '--dir', folder], {
    stdio: 'ignore',
  });
  while (!existsSync(socket) && server.exitCode === null) await new Promise((done) => setTimeout(done, 10));
  if (server.exitCode !== null) throw new Error(`redis-server ended with status ${server.exitCode}`);
  const redis = new Redis(socket);
  try {
    const names = Object.keys(PROMISED);
    const answers = await Promise.all(names.map((name) => redis.config('GET', name) as Promise<[string, string]>));
    return Object.fromEntries(answers);
  } finally {
    redis.disconnect();
  }
}

it('deploy/redis.conf: every acknowledged write is on disk and nothing is evicted', async () => {
  // The container's /data is not here; everything else is taken as it stands.
  const file = join(folder, 'redis.conf');
  writeFileSync(file, readFileSync('deploy/redis.conf', 'utf8').replace('dir /data', `dir ${folder}`));
  expect(await settingsOf([file])).toEqual(PROMISED);
});

it('the embedded server is started with the same', async () => {
  const { redisArguments } = (await import(resolve('scripts/lib/redis.mjs'))) as {
    redisArguments: (dataDir: string, socket: string) => string[];
  };
  expect(await settingsOf(redisArguments(folder, join(folder, 's.sock')))).toEqual(PROMISED);
});
