/**
 * Deadlines hold although the garbage collector runs: on Node 20 it collects an AbortSignal.timeout that only
 * AbortSignal.any follows.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startDeadline } from '../../src/base/deadline.js';
import { createOutboundClient } from '../../src/outbound/client.js';
import { createHttpClient, readUpTo } from '../../src/process/http-exchange.js';
import { createS3Client } from '../../src/stores/blobs/s3-client.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';

const LIMIT_MS = 300;
/** Without the deadline nothing would end an exchange with a server that sends a byte now and then. */
const drip = (_request: unknown, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'image/png' });
  const timer = setInterval(() => response.write('x'), 20);
  response.on('close', () => clearInterval(timer));
};

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
let collecting: NodeJS.Timeout;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver(drip);
  collecting = setInterval(collectGarbage, 100);
});
afterEach(async () => {
  clearInterval(collecting);
  await receiver.close();
});

it('a deadline aborts its signal, even if other signals follow it', async () => {
  const { signal } = startDeadline(50, new AbortController().signal);
  await new Promise((done) => signal.addEventListener('abort', done));
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

it('the signal of the caller ends the exchange as well, and is not an expiry', () => {
  const caller = new AbortController();
  const deadline = startDeadline(60_000, caller.signal);
  caller.abort(new Error('cancelled'));
  expect(deadline.signal.reason).toMatchObject({ message: 'cancelled' });
  expect(deadline.expired).toBe(false);
  deadline.end();
});

it('a deadline that has ended aborts nothing', async () => {
  const caller = new AbortController();
  const deadline = startDeadline(20, caller.signal);
  deadline.end();
  caller.abort();
  await new Promise((done) => setTimeout(done, 60));
  expect(deadline.signal.aborted).toBe(false);
});

it('an answer that came while the process was suspended is read, though the time is over', async () => {
  const server = new Worker(
    `const { createServer } = require('node:http');
     const { parentPort } = require('node:worker_threads');
     const server = createServer((_request, response) => response.end('done'));
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true },
  );
  const [port] = await once(server, 'message');
  const client = createHttpClient({ idleMs: LIMIT_MS });
  const url = new URL(`http://127.0.0.1:${port}`);
  const get = async (signal?: AbortSignal) =>
    readUpTo(await client.request(url, { headers: {}, ...(signal && { signal }) }), 10);
  try {
    // Its connection is kept, so that the next request is sent at once.
    await get();
    for (const deadline of [startDeadline(LIMIT_MS), undefined]) {
      const answer = get(deadline?.signal);
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * LIMIT_MS));
      expect(String(await answer)).toBe('done');
      deadline?.end();
    }
  } finally {
    client.close();
    await server.terminate();
  }
});

describe('a server that sends one byte now and then', () => {
  it('ends the download of a frame at OUTBOUND_TIMEOUT_MS', async () => {
    const client = createOutboundClient({ outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: LIMIT_MS });
    const { signal } = new AbortController();
    const download = client.fetchImage(`${receiver.url}/frame.png`, {
      maxBytes: 1e6,
      field: 'after',
      signal,
    });
    await expect(download).rejects.toMatchObject({ code: 'url-unavailable' });
    await client.close();
  });

  it('ends the reading of an S3 object at OUTBOUND_TIMEOUT_MS', async () => {
    const client = createS3Client({
      s3Endpoint: receiver.url,
      s3Region: 'us-east-1',
      s3AccessKeyId: 'id',
      s3SecretAccessKey: 'secret',
      outboundTimeoutMs: LIMIT_MS,
    });
    const { signal } = new AbortController();
    await expect(client?.get('bucket', 'key', { signal })).rejects.toMatchObject({
      code: 'url-unavailable',
    });
    await client?.close();
  });
});
