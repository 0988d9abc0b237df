/** The relay between ffmpeg and an RTSP camera, with sockets of the test at both ends. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createHttpLogins } from '../../src/outbound/http-login.js';
import { type RtspRelay, startRtspRelay } from '../../src/outbound/rtsp-relay.js';
import { eventually } from '../helpers/eventually.js';

let relay: RtspRelay;
let camera: Socket;
let received: Buffer[];
const sockets: Socket[] = [];

beforeEach(async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const arrived = new Promise<Socket>((done) => server.once('connection', done));
  const toCamera = connect((server.address() as AddressInfo).port, '127.0.0.1');
  camera = await arrived;
  server.close();
  received = [];
  camera.on('data', (bytes: Buffer) => received.push(bytes)).on('error', () => {});
  const url = new URL('rtsp://camera.example:8554/stream?channel=1');
  relay = await startRtspRelay({ camera: toCamera, url, login: undefined, logins: createHttpLogins(Date.now) });
});
afterEach(() => {
  relay.close();
  for (const socket of [camera, ...sockets.splice(0)]) socket.destroy();
});

const connectClient = async () => {
  const client = connect(Number(new URL(relay.address).port), '127.0.0.1');
  sockets.push(client);
  const chunks: Buffer[] = [];
  let closed = false;
  client.on('data', (bytes: Buffer) => chunks.push(bytes)).on('error', () => {});
  client.on('close', () => {
    closed = true;
  });
  await new Promise((done) => client.once('connect', done));
  return { client, text: () => Buffer.concat(chunks).toString(), isClosed: () => closed };
};
const sent = () => Buffer.concat(received).toString();
const request = (uri: string, sequence = 7) => `OPTIONS ${uri} RTSP/1.0\r\nCSeq: ${sequence}\r\n\r\n`;

it('translates addresses and sequence numbers in both directions', async () => {
  const { client, text } = await connectClient();
  client.write(request(`${relay.address}/track1`));
  await eventually(() =>
    expect(sent()).toBe('OPTIONS rtsp://camera.example:8554/stream?channel=1/track1 RTSP/1.0\r\ncseq: 1\r\n\r\n'),
  );
  camera.write('RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 4\r\n\r\nbody');
  await eventually(() => expect(text()).toBe('RTSP/1.0 200 OK\r\nContent-Length: 4\r\ncseq: 7\r\n\r\nbody'));
});

it('closes a connection that does not know the secret path, and still takes the one that does', async () => {
  const { port } = new URL(relay.address);
  for (const bytes of [request(`rtsp://127.0.0.1:${port}/stream`), 'x'.repeat(100_000), '$\0\0\x04data']) {
    const stranger = await connectClient();
    stranger.client.write(bytes);
    if (bytes.startsWith('$')) stranger.client.write(request('rtsp://camera.example:8554/stream'));
    await eventually(() => expect(stranger.isClosed()).toBe(true));
    expect(stranger.text()).toBe('');
  }
  expect(sent()).toBe('');
  const { client } = await connectClient();
  client.write(request(relay.address));
  await eventually(() => expect(sent()).toContain('OPTIONS rtsp://camera.example:8554/stream?channel=1 RTSP/1.0'));
  // From now on the relay takes no further connection.
  const late = connect(Number(port), '127.0.0.1');
  const failure = await new Promise<NodeJS.ErrnoException>((done) => late.once('error', done));
  expect(failure.code).toBe('ECONNREFUSED');
});

it('stops reading from the camera while the client does not read', async () => {
  const { client } = await connectClient();
  client.write(request(relay.address));
  await eventually(() => expect(sent()).toContain('OPTIONS'));
  client.pause();
  const packet = Buffer.alloc(4 + 60_000);
  packet.writeUInt8(0x24, 0);
  packet.writeUInt16BE(60_000, 2);
  let written = 0;
  // Far more than the buffers of the sockets hold.
  for (let full = false; written < 3_000 && !full; written++) {
    if (camera.write(packet)) continue;
    full = await Promise.race([
      new Promise<boolean>((done) => camera.once('drain', () => done(false))),
      new Promise<boolean>((done) => setTimeout(() => done(true), 500)),
    ]);
  }
  expect(written).toBeLessThan(3_000);
  let read = 0;
  client.on('data', (bytes: Buffer) => {
    read += bytes.length;
  });
  client.resume();
  await eventually(() => expect(read).toBe(written * packet.length));
});

it.each([
  ['REDIRECT rtsp://10.0.0.9/ RTSP/1.0\r\nCSeq: 1\r\n\r\n', 'answered REDIRECT: redirects are not followed'],
  ['RTSP/1.0 301 Moved\r\nLocation: rtsp://10.0.0.9/\r\n\r\n', 'answered 301: redirects are not followed'],
])('ends at a redirect: %j', async (answer, reason) => {
  const { client, isClosed, text } = await connectClient();
  client.write(request(relay.address));
  await eventually(() => expect(sent()).toContain('OPTIONS'));
  camera.write(answer);
  await eventually(() => expect(isClosed()).toBe(true));
  expect(text()).toBe('');
  expect(relay.answers.refused).toBe(reason);
});

it('reads messages and packets that come in single bytes', async () => {
  const { client, text } = await connectClient();
  client.write(request(relay.address));
  await eventually(() => expect(sent()).toContain('OPTIONS'));
  camera.setNoDelay(true);
  for (const byte of Buffer.from('$\0\0\x02abRTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n$\0\0\x01c')) {
    camera.write(Buffer.from([byte]));
    await new Promise((done) => setImmediate(done));
  }
  await eventually(() => expect(text()).toBe('$\0\0\x02abRTSP/1.0 200 OK\r\ncseq: 7\r\n\r\n$\0\0\x01c'));
  expect(relay.answers.streaming).toBe(true);
});
