/** A host that has been removed from the network, on a port of this machine: no attempt to connect is ever answered. */
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** Listens without accepting: its thread is blocked, so that the kernel drops what does not fit its queue. */
const LISTENER = `
const { workerData, parentPort } = require('node:worker_threads');
const server = require('node:net').createServer();
server.listen({ host: '127.0.0.1', port: workerData.port, backlog: 1 }, () => {
  parentPort.postMessage('listening');
  setImmediate(() => Atomics.wait(workerData.release, 0, 0));
});`;
/** More than the kernel queues for a backlog of 1. */
const QUEUED = 4;

/** @returns how to end it, after which the port is free */
export async function startUnplugged(port: number): Promise<() => Promise<void>> {
  const release = new Int32Array(new SharedArrayBuffer(4));
  const listener = new Worker(LISTENER, { eval: true, workerData: { port, release } });
  await new Promise((done, fail) => listener.once('message', done).once('error', fail));
  const sockets: Socket[] = [];
  let established = 0;
  for (let i = 0; i < QUEUED; i++) {
    const socket = connect(port, '127.0.0.1', () => established++).on('error', () => {});
    sockets.push(socket);
  }
  await new Promise((done) => setTimeout(done, 50));
  if (established === QUEUED) throw new Error('the queue of the port is not full, expected that it drops connections');
  return async () => {
    for (const socket of sockets) socket.destroy();
    Atomics.store(release, 0, 1);
    Atomics.notify(release, 0);
    await listener.terminate();
  };
}
