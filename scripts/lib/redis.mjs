/** The embedded Redis: finds or installs the server, and waits until it answers on its unix socket. */
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { probe, Stop, say, which } from './shell.mjs';
import { installSystemPackage } from './system-packages.mjs';

/** Valkey is a fork with the same protocol, which some distributions ship instead. */
const SERVERS = ['redis-server', 'valkey-server'];
/** Oldest version that BullMQ supports. */
const OLDEST = [6, 2];
const PACKAGES = { 'apt-get': 'redis-server', dnf: 'redis', apk: 'redis', pacman: 'valkey', brew: 'redis' };
const OTHERWISE =
  'Or set REDIS_URL (redis://host:6379) to a server that you have: version 6.2 or newer, ' +
  'maxmemory-policy noeviction, appendonly yes.';

const find = () => SERVERS.map(which).find((path) => path !== undefined);

/** @returns the server program's path. @throws Stop if it is neither installed nor installable. */
export async function ensureRedisServer() {
  let program = find();
  if (program === undefined) {
    const { privileged } = await installSystemPackage('redis', PACKAGES, OTHERWISE);
    // The Debian package starts a server on port 6379, which is not wanted here.
    if (which('systemctl')) await privileged(['systemctl', 'disable', '--now', 'redis-server']);
    program = find();
    if (program === undefined)
      throw new Stop(`The package was installed, but none of ${SERVERS.join(', ')} is in PATH.\n${OTHERWISE}`);
  }
  const version = /v=(\d+)\.(\d+)\S*/.exec(probe(program, ['--version']).output);
  const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
  if (!(major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]))) {
    throw new Stop(
      `${program} is version ${version?.[0].slice(2) ?? 'unknown'}; expected ${OLDEST.join('.')} or ` +
        `newer.\n${OTHERWISE}`,
    );
  }
  return program;
}

/** sun_path holds 104 bytes on macOS and 108 on Linux, with the closing zero. */
const LONGEST_SOCKET_PATH = 103;

/** @returns the socket's absolute path. @throws Stop if it is longer than the operating system allows. */
export function socketPath(folder, name) {
  const path = join(folder, name);
  const bytes = Buffer.byteLength(path);
  if (bytes <= LONGEST_SOCKET_PATH) return path;
  throw new Stop(
    `DATA_DIR makes the socket path ${path}, ${bytes} bytes long; a unix socket takes at most ` +
      `${LONGEST_SOCKET_PATH}. Choose a shorter DATA_DIR.`,
  );
}

/** Arguments of a private server that loses nothing it acknowledged: docs/adr/0007-start-a-private-redis.md. */
export function redisArguments(dataDir, socket) {
  const folder = join(dataDir, 'redis');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return [
    ...['--port', '0', '--unixsocket', socket, '--unixsocketperm', '700', '--dir', folder],
    ...['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--maxmemory-policy', 'noeviction'],
    ...['--daemonize', 'no', '--loglevel', 'notice'],
  ];
}

/** Sends one command. @returns the first line of the reply, or undefined without an answer. */
export function redisCommand(socket, ...words) {
  return new Promise((resolve) => {
    const connection = connect(socket, () => connection.write(`${words.join(' ')}\r\n`));
    const done = (answer) => {
      connection.destroy();
      resolve(answer);
    };
    connection.setTimeout(1000, () => done(undefined));
    connection.once('data', (bytes) => done(bytes.toString('utf8').split('\r\n')[0]));
    connection.once('error', () => done(undefined));
  });
}

/**
 * A server that reads a long append-only file answers LOADING until it has. `alive` says whether waiting still makes
 * sense.
 */
export async function waitForRedis(socket, alive) {
  let reported = false;
  while (alive()) {
    const answer = await redisCommand(socket, 'PING');
    if (answer === '+PONG') return;
    if (answer?.startsWith('-LOADING') && !reported) {
      say('redis', 'reading its data ...');
      reported = true;
    }
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}
