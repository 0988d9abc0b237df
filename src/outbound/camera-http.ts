/**
 * One picture of a camera over HTTP/1, read as leniently as browsers do: web servers of cameras write header lines
 * without a name, a space before the colon, lines that end in LF, wrong types and wrong lengths, and some send a stream
 * of pictures. Node's parser refuses most of these.
 *
 * Each connection carries one request, and is closed after its answer: no byte of an answer can be taken for the next
 * one, which is the danger of a lenient parser (request smuggling). Head, body and time are limited.
 */
import { validateHeaderValue } from 'node:http';
import type { Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unzip as unzipWithCallback, constants as zlib } from 'node:zlib';
import { imageTypeOf, jpegStart } from '../base/image-type.js';
import { ByteSource, Collected } from './byte-source.js';
import type { HttpConnection } from './guarded-agent.js';
import { endsAsJpeg, type Fields, JPEG_END, type Limits, lengthOf, type Picture, readFields } from './http-fields.js';
import { readFirstPart } from './multipart.js';

const unzip = promisify(unzipWithCallback);
/** Bytes of status line and header lines. */
const HEAD_LIMIT = 32 * 1024;
const CHUNK_LINE_LIMIT = 1024;
const SILENCE_MS = 1000;
/** Bytes of an answer besides its picture: the lines of its chunks and parts. */
const FRAMING_LIMIT = 1024 * 1024;
const STATUS_LINE = /^(?:HTTP\/\d(?:\.\d)?|ICY)[ \t]+(\d{3})(?!\d)/i;
const CHUNK_SIZE = /^[ \t]*([0-9a-f]{1,8})[ \t]*(?:;|$)/i;
/** Two pictures of a stream that has no parts. */
const NEXT_JPEG = Buffer.from([0xff, 0xd9, 0xff, 0xd8, 0xff]);

export interface CameraAnswer {
  readonly status: number;
  readonly fields: Fields;
  /** what follows the head */
  readonly source: ByteSource;
}

/** The connection was closed before the answer had begun: another attempt may get one. */
export class NoAnswer extends Error {
  readonly code = 'ECONNRESET';
}

/**
 * Sends a GET and reads the head of the answer.
 * @param connection its socket is destroyed if `signal` aborts, and by the caller after the answer
 * @throws NoAnswer, the error of `limits.failed`, or the reason of `signal`
 */
export async function askCamera(
  { socket, target, headers: ofProxy }: HttpConnection,
  url: URL,
  headers: Readonly<Record<string, string>>,
  { signal, limits }: { signal: AbortSignal; limits: Limits },
): Promise<CameraAnswer> {
  const lines = Object.entries({ host: url.host, ...ofProxy, ...headers, connection: 'close' }).map(([name, value]) => {
    validateHeaderValue(name, value);
    return `${name}: ${value}\r\n`;
  });
  addAbortSignal(signal, socket);
  // An error ends the reading of the socket, which is where it is examined.
  socket.on('error', () => {});
  socket.write(`GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  const { maxBytes, tooLarge } = limits;
  const source = new ByteSource(untilClosed(socket, signal), 2 * maxBytes + FRAMING_LIMIT, tooLarge);
  return { ...(await readHead(source, limits)), source };
}

/** A reset ends the bytes as a proper end does: the length of the answer shows whether some are missing. */
async function* untilClosed(socket: Socket, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* socket as AsyncIterable<Buffer>;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if ((error as NodeJS.ErrnoException).code?.startsWith('ERR_SSL') === true) throw error;
  }
}

async function readHead(source: ByteSource, { failed }: Limits): Promise<{ status: number; fields: Fields }> {
  let status = 0;
  let fields: Fields = new Map();
  let left = HEAD_LIMIT;
  // Answers before the final one (100 Continue) have a head of their own.
  while (status < 200) {
    let line = await source.line(left);
    while (line === '' && left > 0) {
      left -= 2;
      line = await source.line(left);
    }
    if (line === undefined) {
      if ((await source.peek(1)).length === 0) throw new NoAnswer('closed before an answer');
      throw failed('sent no status line of HTTP');
    }
    status = Number(STATUS_LINE.exec(line)?.[1] ?? 0);
    if (status < 100) throw failed('sent no status line of HTTP');
    left -= line.length + 2;
    const read = await readFields(source, left);
    if (read === 'too long') throw failed(`sent header lines of more than ${HEAD_LIMIT} bytes`);
    if (read === 'ended') throw new NoAnswer('closed within the header');
    fields = read.fields;
    left -= read.bytes;
  }
  return { status, fields };
}

/**
 * Reads the picture of an answer, whatever type it states: an image, an image compressed with gzip or deflate, or the
 * first image of a multipart stream.
 * @throws the errors of `limits`, or the reason of the signal
 */
export async function readPicture({ fields, source }: CameraAnswer, limits: Limits): Promise<Picture> {
  const { maxBytes, tooLarge } = limits;
  const body = bodyOf(fields, source);
  const content = new ByteSource(body.pieces, source.limit, tooLarge);
  const stated = fields.get('content-type')?.at(-1)?.toLowerCase() ?? '';
  const first = await content.peek(4);
  const startsAsPart = first.toString('latin1').trimStart().startsWith('--');
  if (jpegStart(first) < 0 && (startsAsPart || stated.startsWith('multipart/'))) {
    return readFirstPart(content, stated, limits);
  }
  if ((body.length ?? 0) > maxBytes && !fields.has('transfer-encoding')) throw tooLarge();
  const collected = new Collected();
  for (;;) {
    const isWhole = endsAsJpeg(collected.bytes);
    const piece = await (isWhole ? unlessSilent(content.some(maxBytes)) : content.some(maxBytes));
    if (piece.length === 0) break;
    const searched = Math.max(0, collected.bytes.length - NEXT_JPEG.length);
    collected.add(piece);
    const { bytes } = collected;
    if (bytes.length > maxBytes) throw tooLarge();
    const next = body.length === undefined && jpegStart(bytes) >= 0 ? bytes.indexOf(NEXT_JPEG, searched) : -1;
    if (next >= 0) return { bytes: bytes.subarray(0, next + JPEG_END.length), complete: true };
  }
  const { bytes } = collected;
  return { bytes: await unpacked(bytes, limits), complete: body.isComplete() || endsAsJpeg(bytes) };
}

/** Behind a whole JPEG, a silence ends the answer: its length was too large, and the connection is kept open. */
async function unlessSilent(next: Promise<Buffer>): Promise<Buffer> {
  const silence = new AbortController();
  const nothing = setTimeout(SILENCE_MS, Buffer.alloc(0), { signal: silence.signal });
  return Promise.race([next, nothing]).finally(() => silence.abort());
}

/** The bytes of an answer without their framing. `isComplete` is valid when they have been read. */
function bodyOf(fields: Fields, source: ByteSource) {
  let complete = false;
  const isChunked = fields.get('transfer-encoding')?.some((value) => /\bchunked\b/i.test(value)) === true;
  const length = isChunked ? undefined : lengthOf(fields);

  async function* counted(count: number): AsyncGenerator<Buffer, boolean> {
    for (let left = count; left > 0; ) {
      const piece = await source.some(left);
      if (piece.length === 0) return false;
      left -= piece.length;
      yield piece;
    }
    return true;
  }
  async function* chunks(): AsyncGenerator<Buffer, boolean> {
    for (let number = 0; ; number++) {
      let line = await source.line(CHUNK_LINE_LIMIT);
      if (line === '' && number > 0) line = await source.line(CHUNK_LINE_LIMIT);
      const size = CHUNK_SIZE.exec(line ?? '')?.[1];
      if (size === undefined) return false;
      if (Number.parseInt(size, 16) === 0) return true;
      if (!(yield* counted(Number.parseInt(size, 16)))) return false;
    }
  }
  async function* pieces(): AsyncGenerator<Buffer> {
    // Some servers announce chunks and send none.
    const hasChunks = isChunked && jpegStart(await source.peek(4)) < 0;
    if (hasChunks) complete = yield* chunks();
    else if (length !== undefined) complete = yield* counted(length);
    else {
      yield* counted(Number.POSITIVE_INFINITY);
      complete = true;
    }
  }
  return { pieces: pieces(), length, isComplete: () => complete };
}

/** Some cameras compress although they are asked not to. */
async function unpacked(bytes: Buffer, { maxBytes, tooLarge }: Limits): Promise<Buffer> {
  const isPacked = bytes[0] === 0x1f ? bytes[1] === 0x8b : bytes[0] === 0x78 && bytes.readUInt16BE(0) % 31 === 0;
  if (imageTypeOf(bytes) !== undefined || bytes.length < 2 || !isPacked) return bytes;
  try {
    return await unzip(bytes, { maxOutputLength: maxBytes, finishFlush: zlib.Z_SYNC_FLUSH });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    return bytes;
  }
}
