/** A private Redis of the test's own: on a unix socket in a temporary folder, append-only, gone when the test ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestRedis {
  /** unix:///... as REDIS_URL takes it */
  readonly url: string;
  readonly socket: string;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
  /** SIGKILL, as a crash; the data folder stays. */
  kill9(): Promise<void>;
  /** Starts the server again on the same socket and data. */
  restart(): Promise<void>;
}

const START_LIMIT_MS = 10_000;

/**
 * @param dump a dump.rdb that is loaded; the server then appends to no file, because one that does reads no dump
 * @throws Error if redis-server is missing or does not answer within 10 s
 */
export async function startRedis({ dump }: { dump?: string } = {}): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'sd-redis-'));
  if (dump !== undefined) await copyFile(dump, join(folder, 'dump.rdb'));
  const socket = join(folder, 'redis.sock');
  let server: ChildProcess | undefined;

  const start = async () => {
    // The settings of the embedded server: an acknowledged write survives kill -9.
    const args = `--port 0 --unixsocket ${socket} --dir ${folder} --appendonly ${dump === undefined ? 'yes' : 'no'} --appendfsync always --maxmemory-policy noeviction --loglevel warning`;
    server = spawn('redis-server', [...args.split(' '), '--save', ''], { stdio: 'ignore' });
    let startError: Error | undefined;
    server.once('error', (err) => {
      startError = err;
    });
    const until = Date.now() + START_LIMIT_MS;
    while (!(await answers(socket))) {
      if (startError !== undefined) throw new Error(`redis-server does not start: ${startError.message}`);
      if (Date.now() > until) throw new Error(`redis-server did not answer within ${START_LIMIT_MS} ms`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    const ending = server;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = new Promise((resolve) => ending.once('exit', resolve));
    ending.kill(signal);
    await gone;
  };

  await start();
  return {
    url: `unix://${socket}`,
    socket,
    stop: async () => {
      await end('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
    kill9: () => end('SIGKILL'),
    restart: start,
  };
}

/** PING answered with PONG (a server that still loads its data answers LOADING). */
const answers = (socket: string): Promise<boolean> =>
  new Promise((resolve) => {
    const client = connect(socket);
    const done = (answer: boolean) => {
      client.destroy();
      resolve(answer);
    };
    client.once('connect', () => client.write('PING\r\n'));
    client.once('data', (data) => done(data.toString().startsWith('+PONG')));
    client.once('error', () => done(false));
  });
