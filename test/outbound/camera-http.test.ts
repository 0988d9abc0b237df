/** Pictures of cameras whose web servers break the rules of HTTP. */
import type { Socket } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { noisy } from '../frames/pictures.js';
import { chunk, head, OK, part, type RawCamera, startRawCamera, stream } from '../helpers/raw-camera.js';

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

describe('a camera is shown as browsers show it, although it', () => {
  it.each<[string, () => Buffer]>([
    [
      'writes a header line without a name',
      () => Buffer.concat([head([OK, 'Tue, 12 Jun 2012 01:56:34 GMT', length()]), jpg]),
    ],
    ['writes a header line without a colon', () => Buffer.concat([head([OK, 'Powered by thttpd', length()]), jpg])],
    ['ends lines with LF', () => Buffer.concat([head(['HTTP/1.1 200', 'X-Channel: 2', length()], '\n'), jpg])],
    ['mixes CR LF and LF', () => Buffer.concat([Buffer.from(`${OK}\r\nA: b\n${length()}\r\n\n`), jpg])],
    ['writes the status line twice', () => Buffer.concat([head(['HTTP/1.0 200 OK', 'HTTP/1.0 200 OK']), jpg])],
    [
      'writes spaces before the colon',
      () => Buffer.concat([head([OK, 'Content-Type : image/jpeg', `Content-Length \t: ${jpg.length}`]), jpg]),
    ],
    ['folds a header line', () => Buffer.concat([head([OK, 'X-Model: a', ' b: c', length()]), jpg])],
    ['answers as ICY', () => Buffer.concat([head(['ICY 200 OK']), jpg])],
    ['sends an empty line before the answer', () => Buffer.concat([Buffer.from('\r\n'), head([OK, length()]), jpg])],
    ['sends 100 Continue first', () => Buffer.concat([head(['HTTP/1.1 100 Continue']), head([OK, length()]), jpg])],
    ['writes Latin-1', () => Buffer.concat([head([OK, 'Server: Kam\xe9ra', length()]), jpg])],
    [
      'states a length and chunks',
      () => Buffer.concat([head([OK, length(), 'Transfer-Encoding: chunked']), chunk(jpg), chunk(Buffer.alloc(0))]),
    ],
    [
      'ends chunks with LF',
      () =>
        Buffer.concat([
          head([OK, 'Transfer-Encoding: chunked']),
          chunk(jpg.subarray(0, 900), '\n'),
          chunk(jpg.subarray(900), '\n'),
          Buffer.from('0\n\n'),
        ]),
    ],
    ['announces chunks and sends none', () => Buffer.concat([head([OK, 'Transfer-Encoding: chunked']), jpg])],
    ['writes http in lower case', () => Buffer.concat([head(['http/1.0 200 ok', length()]), jpg])],
    ['states a length with words', () => Buffer.concat([head([OK, `${length()} bytes`]), jpg])],
    [
      'ends chunks with fields and more bytes',
      () =>
        Buffer.concat([head([OK, 'Transfer-Encoding: Chunked']), chunk(jpg), Buffer.from('0\r\nX-Sum: 1\r\n\r\nmore')]),
    ],
    ['states the length -1', () => Buffer.concat([head([OK, 'Content-Length: -1']), jpg])],
    ['states two lengths', () => Buffer.concat([head([OK, length(10), length()]), jpg])],
    ['states a length that is two bytes too large', () => Buffer.concat([head([OK, length(jpg.length + 2)]), jpg])],
    ['calls it text/plain', () => Buffer.concat([head([OK, 'Content-Type: text/plain', length()]), jpg])],
    ['calls it text/html', () => Buffer.concat([head([OK, 'Content-Type: text/html', length()]), jpg])],
    [
      'calls it application/force-download',
      () => Buffer.concat([head([OK, 'Content-Type: application/force-download', length()]), jpg]),
    ],
    ['calls it jpeg', () => Buffer.concat([head([OK, 'Content-Type: jpeg', length()]), jpg])],
    ['calls it nothing', () => Buffer.concat([head([OK, 'Content-Type:', length()]), jpg])],
    ['compresses it', () => Buffer.concat([head([OK, 'Content-Encoding: gzip']), gzipSync(jpg)])],
    ['compresses it and does not say so', () => Buffer.concat([head([OK]), gzipSync(jpg)])],
    ['compresses it with deflate', () => Buffer.concat([head([OK, 'Content-Encoding: deflate']), deflateSync(jpg)])],
    ['says gzip and does not compress', () => Buffer.concat([head([OK, 'Content-Encoding: gzip', length()]), jpg])],
    [
      'streams parts',
      () => stream(part(['Content-Type: image/jpeg', length()], jpg), part([length()], Buffer.from('next'))),
    ],
    ['streams parts without lengths', () => stream(part(['Content-Type: image/jpeg'], jpg), part([], jpg))],
    ['streams parts with LF', () => stream(part([length()], jpg, '\n'), part([length()], jpg, '\n'))],
    [
      'streams parts with a length that is too small',
      () => stream(part([length(jpg.length - 40)], jpg), part([], jpg)),
    ],
    [
      'streams text before the picture',
      () => stream(part(['Content-Type: text/plain'], Buffer.from('motion=0')), part([length()], jpg), part([], jpg)),
    ],
    [
      'streams under another boundary than it states',
      () =>
        Buffer.concat([
          head([OK, 'Content-Type: multipart/mixed; boundary="other"']),
          part([length()], jpg),
          part([], jpg),
        ]),
    ],
    [
      'streams without saying so',
      () => Buffer.concat([head([OK, 'Content-Type: image/jpeg']), part([length()], jpg), part([], jpg)]),
    ],
    [
      'streams in chunks',
      () =>
        Buffer.concat([
          head([OK, 'Content-Type: multipart/x-mixed-replace;boundary=--b', 'Transfer-Encoding: chunked']),
          chunk(part([length()], jpg)),
          chunk(part([length()], jpg)),
        ]),
    ],
    [
      'streams an empty part and the rest of a picture first',
      () =>
        stream(part([length(0)], Buffer.alloc(0)), part([], jpg.subarray(900)), part([length()], jpg), part([], jpg)),
    ],
    [
      'streams with dashes in its boundary',
      () =>
        Buffer.concat([
          head([OK, 'Content-Type: multipart/x-mixed-replace; boundary="--b"']),
          ...[1, 2].map(() => Buffer.concat([Buffer.from('--'), part([length()], jpg)])),
        ]),
    ],
    [
      'streams pictures without parts',
      () => Buffer.concat([head([OK, 'Content-Type: video/x-motion-jpeg']), jpg, jpg]),
    ],
  ])('%s', async (_what, bytes) => {
    const answer = bytes();
    const isStream = answer.includes('multipart') || answer.includes('motion-jpeg') || answer.includes('--b\r\n');
    // In small pieces, so that every line and marker is cut somewhere; a stream does not end.
    await serve((socket) => {
      for (let at = 0; at < answer.length; at += 701) socket.write(answer.subarray(at, at + 701));
      if (!isStream) socket.end();
    });
    expect(Buffer.compare(await camera.fetch(), jpg)).toBe(0);
    expect(camera.connections()).toBe(1);
  });

  it.each([500, undefined])(
    'keeps the connection open behind the picture, %d bytes before its length',
    async (more) => {
      const stated = more === undefined ? [] : [length(jpg.length + more)];
      await serve((socket) => void socket.write(Buffer.concat([head([OK, ...stated]), jpg])), 4_000);
      expect(Buffer.compare(await camera.fetch(), jpg)).toBe(0);
    },
  );

  it('gives its picture only to a session that a redirect begins', async () => {
    await serve((socket, _number, request) =>
      socket.end(
        /\r\ncookie: sid=1; lang=de\r\n/i.test(request)
          ? Buffer.concat([head([OK, length()]), jpg])
          : head(['HTTP/1.1 302 Found', 'Set-Cookie: sid=1; Path=/', 'Set-Cookie: lang=de', 'Location: /snap.jpg']),
      ),
    );
    expect(Buffer.compare(await camera.fetch(), jpg)).toBe(0);
  });

  it('states a length that is too small: the rest is left', async () => {
    await serve((socket) => socket.end(Buffer.concat([head([OK, length(jpg.length - 2)]), jpg])));
    expect(Buffer.compare(await camera.fetch(), jpg.subarray(0, -2))).toBe(0);
  });
});

describe('a connection that is closed early', () => {
  const complete = () => Buffer.concat([head([OK, length()]), jpg]);
  it.each<[string, (socket: Socket) => void]>([
    ['before the answer', (socket) => void socket.destroy()],
    ['by a reset', (socket) => void socket.resetAndDestroy()],
    ['within the header', (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-')],
    ['within the picture', (socket) => void socket.end(complete().subarray(0, 2000))],
    [
      'within a chunk',
      (socket) =>
        void socket.end(Buffer.concat([head([OK, 'Transfer-Encoding: chunked']), chunk(jpg).subarray(0, 2000)])),
    ],
    ['within a part', (socket) => void socket.end(stream(part([length()], jpg)).subarray(0, 2000))],
  ])('%s gets one more attempt', async (_when, first) => {
    await serve((socket, number) => (number === 0 ? first(socket) : socket.end(complete())));
    expect(Buffer.compare(await camera.fetch(), jpg)).toBe(0);
    expect(camera.connections()).toBe(2);
  });

  it('twice before the answer is url-unavailable', async () => {
    await serve((socket) => void socket.destroy());
    await expect(camera.fetch()).rejects.toMatchObject({ code: 'url-unavailable', field: 'snapshot' });
    expect(camera.connections()).toBe(2);
  });

  it('twice within a JPEG gives the bytes that came, and within another format is url-unavailable', async () => {
    let sent = jpg;
    await serve((socket) => socket.end(Buffer.concat([head([OK, length(9999)]), sent.subarray(0, 1500)])));
    expect(await camera.fetch()).toEqual(jpg.subarray(0, 1500));
    sent = await noisy(160, 120).png().toBuffer();
    await expect(camera.fetch()).rejects.toMatchObject({ code: 'url-unavailable' });
  });
});
