/**
 * Lock of a data folder: one `up` per folder. The lock is a listening unix socket, which the operating system frees
 * however the process ends. A client that connects receives one line of JSON about the instance (processes and
 * address).
 */
import { chmodSync, unlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { socketPath } from './redis.mjs';
import { Stop, shown } from './shell.mjs';

/** @returns {Promise<object | undefined>} description of the running instance, or undefined if none runs. */
export function askInstance(dataDir) {
  return new Promise((resolve) => {
    const connection = connect(socketPath(dataDir, 'up.sock'));
    let text = '';
    connection.setTimeout(2000, () => connection.destroy());
    connection.on('data', (chunk) => (text += chunk));
    connection.on('error', () => {});
    connection.on('close', () => {
      try {
        resolve(JSON.parse(text));
      } catch {
        resolve(undefined);
      }
    });
  });
}

/**
 * @param {() => object} describe gives the answer to clients of the lock
 * @returns a function that gives the folder back
 * @throws Stop if another instance has it
 */
export async function claimDataDir(dataDir, describe) {
  const path = socketPath(dataDir, 'up.sock');
  const other = await askInstance(dataDir);
  if (other !== undefined) {
    throw new Stop(
      `${shown(dataDir)} is in use: scenedelta runs there as process ${other.pid}${other.url ? ` at ${other.url}` : ''}.\nStop that one, or choose another folder and port: DATA_DIR=./data2 PORT=8081 npm run up`,
    );
  }
  try {
    unlinkSync(path); // left by an instance that was killed
  } catch {
    // there was none
  }
  const server = createServer((socket) => socket.on('error', () => {}).end(`${JSON.stringify(describe())}\n`));
  await new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Stop(`${shown(path)} cannot be created: ${error.message}`)));
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  server.unref();
  return () => server.close();
}

/**
 * @returns the port: the one asked for, or with 0 a free one.
 * @throws Stop if it is taken, or the address is not this machine's
 */
export async function claimPort(host, port) {
  // A service that was just killed may need a moment to close; more than that is another program.
  for (let attempt = 0; ; attempt++) {
    const server = createServer();
    const outcome = await new Promise((resolve) => {
      server.once('error', (error) => resolve(error));
      server.listen({ host, port }, () => resolve(server.address().port));
    });
    if (typeof outcome === 'number') {
      await new Promise((resolve) => server.close(resolve));
      return outcome;
    }
    if (outcome.code === 'EADDRINUSE' && attempt < 10) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      continue;
    }
    if (outcome.code === 'EADDRINUSE') {
      throw new Stop(
        `Port ${port} on ${host} is in use by another program. Choose another: PORT=${port + 1} npm ` +
          'run up (or PORT=0 for any free one)',
      );
    }
    throw new Stop(`HOST=${host} PORT=${port}: ${outcome.message}`);
  }
}
