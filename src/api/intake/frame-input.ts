/** Reader of one frame as a request carries it: an address, an S3 object, base64, a data URL or the bytes of a file. */
import { createHash, type Hash } from 'node:crypto';
import { invalidRequest, ScenedeltaError } from '../../base/errors.js';
import { sniffImage } from '../../base/image-type.js';
import type { IncomingBytes, IncomingFrame } from '../../frames/keep.js';
import { URL_PATTERN } from '../../schemas/patterns.js';
import { isPlainKey } from '../../stores/blobs/s3-key.js';
import type { FrameInput } from '../schemas/comparison-request.js';

/**
 * @param input a frame in one of the forms of JSON
 * @param frameLimit most bytes
 * @throws ScenedeltaError invalid-request, payload-too-large or image-unreadable, naming the field
 */
export function readFrame(input: FrameInput, field: string, frameLimit: number): IncomingFrame {
  if (typeof input === 'string') return readFrameText(input, field, frameLimit);
  if ('base64' in input) return checkedBytes(decodeBase64(input.base64, field), field, frameLimit);
  if ('url' in input) return { from: 'url', url: input.url };
  return s3Frame(input.s3, field);
}

/**
 * Stops at the first byte above the limit. The hash is computed chunk by chunk, so that a large frame does not block
 * the event loop.
 * @throws ScenedeltaError as readFrame
 */
export async function readFrameFile(
  file: AsyncIterable<Uint8Array>,
  field: string,
  frameLimit: number,
): Promise<IncomingBytes> {
  const chunks: Uint8Array[] = [];
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of file) {
    size += chunk.length;
    if (size > frameLimit) throw frameTooLarge(field, frameLimit);
    chunks.push(chunk);
    hash.update(chunk);
  }
  return incomingBytes(Buffer.concat(chunks, size), hash, field);
}

/**
 * @param text an http(s) or s3 address, a data URL or bare base64
 * @throws ScenedeltaError as readFrame
 */
export function readFrameText(text: string, field: string, frameLimit: number): IncomingFrame {
  if (new RegExp(URL_PATTERN).test(text)) {
    if (text.length <= 2048) return { from: 'url', url: text };
    throw invalid(field, `is an address of ${text.length} characters, expected at most 2048`);
  }
  if (text.startsWith('s3://')) {
    const parts = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.{1,1024})$/s.exec(text);
    if (parts !== null) return s3Frame({ bucket: parts[1] as string, key: parts[2] as string }, field);
    throw invalid(field, `is ${text.slice(0, 80)}, expected s3://bucket/key`);
  }
  const comma = text.startsWith('data:') ? text.indexOf(',') : -1;
  if (text.startsWith('data:') && !text.slice(0, comma).endsWith(';base64')) {
    const start = JSON.stringify(text.slice(0, 40));
    throw invalid(field, `starts with ${start}, expected data:<type>;base64,<base64>`);
  }
  return checkedBytes(decodeBase64(text.slice(comma + 1), field), field, frameLimit);
}

export const frameTooLarge = (field: string, frameLimit: number) =>
  new ScenedeltaError('payload-too-large', `${field} is larger than ${frameLimit} bytes (FRAME_LIMIT)`, { field });

const invalid = (field: string, what: string) => invalidRequest(`${field} ${what}`, field);

function s3Frame({ bucket, key }: { bucket: string; key: string }, field: string): IncomingFrame {
  if (isPlainKey(key)) return { from: 's3', bucket, key };
  const address = `s3://${bucket}/${key.slice(0, 80)}`;
  throw invalid(field, `is ${address}, expected a key without an empty, "." or ".." segment between its slashes`);
}

/** Takes the standard and the URL-safe alphabet, with or without padding and line breaks. */
function decodeBase64(text: string, field: string): Buffer {
  const stray = text.search(/[^A-Za-z0-9+/\-_=\r\n]/);
  if (stray === -1) return Buffer.from(text, 'base64');
  throw invalid(
    field,
    `has the character ${JSON.stringify(text[stray])} at position ${stray}, ` +
      'expected base64, data:...;base64,..., http(s)://... or s3://...',
  );
}

function checkedBytes(bytes: Uint8Array, field: string, frameLimit: number): IncomingBytes {
  if (bytes.length > frameLimit) throw frameTooLarge(field, frameLimit);
  return incomingBytes(bytes, createHash('sha256').update(bytes), field);
}

const incomingBytes = (bytes: Uint8Array, hash: Hash, field: string): IncomingBytes => ({
  from: 'bytes',
  bytes,
  contentType: sniffImage(bytes, field),
  sha256: hash.digest('hex'),
});
