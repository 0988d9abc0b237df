import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createOutboundClient } from '../../src/outbound/client.js';
import { createHttpClient, type HttpClient, readUpTo } from '../../src/process/http-exchange.js';

const SIZE = 8 * 1024 * 1024;
let server: Server;
let client: HttpClient;
afterEach(async () => {
  client?.close();
  await new Promise((done) => server.close(done));
});

/** @returns the address of a server that answers with these bytes as fast as it can, then ends the connection */
const closingServer = async (head: string, body: Buffer): Promise<URL> => {
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n`);
      socket.end(body);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return new URL(`http://127.0.0.1:${(server.address() as { port: number }).port}/`);
};

describe('an answer whose server closes the connection', () => {
  it.each([
    ['with a length', `Content-Length: ${SIZE}\r\nConnection: close\r\n`],
    ['of HTTP/1.0, until the end', ''],
  ])('is read to its end by a slow reader (%s)', async (_how, head) => {
    const url = await closingServer(head, Buffer.alloc(SIZE, 1));
    client = createHttpClient({ idleMs: 5_000 });
    const answer = await client.request(url, { headers: {} });
    let length = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      if (length === 0) await sleep(300);
      length += chunk.length;
    }
    expect(length).toBe(SIZE);
  });

  it('harms nothing while it is not read', async () => {
    const url = await closingServer('Content-Length: 65536\r\n', Buffer.alloc(65_536));
    client = createHttpClient({ idleMs: 5_000 });
    const answer = await client.request(url, { headers: {} });
    await sleep(200);
    expect((await readUpTo(answer, 100_000))?.length).toBe(65_536);
  });

  it('fails if it has fewer bytes than its length', async () => {
    const url = await closingServer('Content-Length: 100\r\n', Buffer.alloc(50));
    client = createHttpClient({ idleMs: 5_000 });
    const answer = await client.request(url, { headers: {} });
    await expect(readUpTo(answer, 1000)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});

it('gives up a download whose bytes come too slowly', async () => {
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
    const timer = setInterval(() => socket.write('x'), 50);
    socket.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const outbound = createOutboundClient({ outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 400 });
  const { port } = server.address() as { port: number };
  const body = await outbound.download(`http://127.0.0.1:${port}/a.mp4`, { maxBytes: 1e6, field: 'a.mp4' });
  const read = async () => {
    for await (const _chunk of body);
  };
  await expect(read()).rejects.toMatchObject({ code: 'url-failed', message: expect.stringContaining('per second') });
  await outbound.close();
});
