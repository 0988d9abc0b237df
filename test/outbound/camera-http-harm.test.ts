/** Servers that try to harm the service through the lenient reader of cameras. */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { noisy } from '../frames/pictures.js';
import { chunk, head, MAX_BYTES, OK, part, type RawCamera, startRawCamera, stream } from '../helpers/raw-camera.js';

let camera: RawCamera;
let jpg: Buffer;
beforeAll(async () => {
  jpg = await noisy(160, 120).jpeg().toBuffer();
});
afterEach(() => camera.close());

const serve = async (...options: Parameters<typeof startRawCamera>) => {
  camera = await startRawCamera(...options);
  return camera;
};
const length = (bytes = jpg.length) => `Content-Length: ${bytes}`;

describe('a redirect', () => {
  it('to the same origin is followed once, without the guard being passed by', async () => {
    await serve((socket, number) =>
      socket.end(number === 0 ? head(['HTTP/1.1 302 Found', 'Location: /good.jpg']) : Buffer.concat([head([OK]), jpg])),
    );
    expect(Buffer.compare(await camera.fetch(), jpg)).toBe(0);
  });

  it.each([
    '/again.jpg',
    'http://127.0.0.2/',
    '//169.254.169.254/latest',
    'https://127.0.0.2/',
    'http://u:p@127.0.0.1/',
  ])('to %s is not followed without end, nor to another address', async (location) => {
    await serve((socket) => socket.end(head(['HTTP/1.1 302 Found', `Location: ${location}`])));
    await expect(camera.fetch()).rejects.toThrow('redirects are not followed');
    expect(camera.connections()).toBeLessThanOrEqual(2);
  });
});

describe('a server that tries to harm the service', () => {
  const MiB = 1024 * 1024;
  /** Writes a piece again and again until the connection is closed. */
  const flood = (socket: Socket, small: Buffer) => {
    const piece = Buffer.concat(new Array<Buffer>(Math.ceil(65_536 / small.length)).fill(small));
    const write = () => {
      while (!socket.destroyed && socket.write(piece));
      if (!socket.destroyed) socket.once('drain', write);
    };
    write();
  };
  it.each<[string, () => Buffer, () => Buffer, string]>([
    [
      'header lines without end',
      () => Buffer.from(`${OK}\r\n`),
      () => Buffer.from(`X-A: ${'a'.repeat(60_000)}\r\n`),
      'header lines of more than',
    ],
    [
      'one header line without end',
      () => Buffer.from(`${OK}\r\nX: `),
      () => Buffer.alloc(MiB, 'a'),
      'header lines of more than',
    ],
    [
      'many short header lines',
      () => Buffer.from(`${OK}\r\n`),
      () => Buffer.from('a:\n'.repeat(5000)),
      'header lines of more than',
    ],
    [
      'spaces in a header line',
      () => Buffer.from(`${OK}\r\nA${' '.repeat(30_000)}`),
      () => Buffer.alloc(MiB, ' '),
      'header lines of more than',
    ],
    ['a status line without end', () => Buffer.from('HTTP/1.1 200 '), () => Buffer.alloc(MiB, 'O'), 'no status line'],
    ['empty lines', () => Buffer.alloc(0), () => Buffer.from('\r\n'.repeat(5000)), 'no status line'],
    [
      'answers 100 without end',
      () => Buffer.alloc(0),
      () => head(['HTTP/1.1 100 Continue']),
      'than 32768 bytes|no status line',
    ],
    ['a body without end', () => head([OK]), () => Buffer.alloc(MiB, 1), `has more than ${MAX_BYTES} bytes`],
    [
      'chunks of one byte',
      () => head([OK, 'Transfer-Encoding: chunked']),
      () => Buffer.from('1\r\nx\r\n'.repeat(1000)),
      // On a busy machine the time limit comes first.
      `has more than ${MAX_BYTES} bytes|did not finish within`,
    ],
    [
      'chunk lines without end',
      () => head([OK, 'Transfer-Encoding: chunked']),
      () => Buffer.from(`1;${'x'.repeat(900)}\r\nx\r\n`),
      `has more than ${MAX_BYTES} bytes`,
    ],
    [
      'a part without end',
      () => Buffer.concat([stream(), Buffer.from('--b\r\n\r\n')]),
      () => Buffer.alloc(MiB, 1),
      `has more than ${MAX_BYTES} bytes`,
    ],
    ['parts without a picture', () => stream(), () => part([], Buffer.from('x')), 'expected an image'],
    ['no HTTP', () => Buffer.from('220 mail.example ESMTP\r\n'), () => Buffer.alloc(MiB, 'x'), 'no status line'],
    ['HTTP of version 0.9', () => jpg, () => jpg, 'no status line'],
  ])('by %s is refused, with bounded memory', async (_what, first, piece, words) => {
    await serve((socket) => {
      socket.write(first());
      flood(socket, piece());
    });
    const before = process.memoryUsage().rss;
    await expect(camera.fetch()).rejects.toThrow(new RegExp(words));
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MiB);
  });

  it('by a compressed bomb is refused at FRAME_LIMIT', async () => {
    const bomb = gzipSync(Buffer.concat([jpg.subarray(0, 20), Buffer.alloc(100 * MiB)]));
    await serve((socket) => socket.end(Buffer.concat([head([OK]), bomb])));
    await expect(camera.fetch()).rejects.toMatchObject({ code: 'payload-too-large' });
  });

  it('by a second answer behind the first one has no effect on the next request', async () => {
    const evil = Buffer.concat([head([OK, length(4)]), Buffer.from('evil')]);
    await serve((socket) => socket.write(Buffer.concat([head([OK, length()]), jpg, evil])));
    for (const _time of [1, 2]) expect(Buffer.compare(await camera.fetch(), jpg)).toBe(0);
    expect(camera.connections()).toBe(2);
  });

  it.each([
    [
      'a length and chunks that disagree',
      () =>
        Buffer.concat([
          head([OK, length(3), 'Transfer-Encoding: chunked']),
          chunk(jpg),
          Buffer.from('0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'),
        ]),
    ],
    [
      'Transfer-Encoding in disguise',
      () =>
        Buffer.concat([
          head([OK, length(), 'Transfer-Encoding : xchunked']),
          jpg,
          Buffer.from('HTTP/1.1 200 OK\r\n\r\n'),
        ]),
    ],
  ])('by %s gets one picture out', async (_what, bytes) => {
    await serve((socket) => socket.end(bytes()));
    expect(Buffer.compare(await camera.fetch(), jpg)).toBe(0);
    expect(camera.connections()).toBe(1);
  });

  it('by one byte now and then ends at the timeout', async () => {
    await serve((socket) => {
      const timer = setInterval(() => socket.write('H'), 20);
      socket.on('close', () => clearInterval(timer));
    }, 200);
    await expect(camera.fetch()).rejects.toThrow('within 200 ms');
  });

  it('by bytes of its own network is refused without showing them', async () => {
    await serve((socket) =>
      socket.end(Buffer.concat([head([OK, 'Content-Type: application/json']), Buffer.from('{"token":"secret"}')])),
    );
    const failure = await camera.fetch().catch((thrown) => thrown);
    expect(failure.message).toContain('18 bytes of the type "application/json" that are no image');
    expect(failure.message).not.toMatch(/secret|7b22746f/);
  });
});
