/** From a request body of any form to the one thing that is accepted: two frames and their options. */
import { createHash, type Hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ScenedeltaError } from '../../errors.js';
import { sniffImage } from '../../image-type.js';
import { SIDES, type Side } from '../../images.js';
import { checker } from '../../mismatch.js';
import {
  type ComparisonOptions,
  ComparisonOptionsSchema,
  type ComparisonRequest,
  ComparisonRequestSchema,
  type FrameInput,
  URL_PATTERN,
} from '../schemas/comparison-request.js';

export interface IncomingBytes {
  readonly from: 'bytes';
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly contentType: string;
}

/** A frame as it came: bytes that begin like an image, or where the worker is to fetch them. */
export type IncomingFrame =
  | IncomingBytes
  | { readonly from: 'url'; readonly url: string }
  | { readonly from: 's3'; readonly bucket: string; readonly key: string };

export interface IncomingComparison {
  readonly before: IncomingFrame;
  readonly after: IncomingFrame;
  readonly options: ComparisonOptions;
}

/** Both in bytes. Fastify holds JSON bodies to `bodyLimit`; forms are held to it here. */
export interface FrameLimits {
  readonly bodyLimit: number;
  readonly frameLimit: number;
}

const METADATA_LIMIT = 4096;

const checkOptions = checker(ComparisonOptionsSchema);
const checkRequest = checker(ComparisonRequestSchema);

/**
 * @throws ScenedeltaError invalid-request, malformed-body, unsupported-media-type, payload-too-large or image-unreadable, each
 * naming the field.
 */
export async function readComparison(
  request: FastifyRequest,
  limits: FrameLimits,
): Promise<IncomingComparison> {
  const incoming = request.isMultipart()
    ? await readForm(request, limits)
    : readJson(request.body, limits.frameLimit);
  const metadata = JSON.stringify(incoming.options.metadata ?? null);
  if (Buffer.byteLength(metadata) > METADATA_LIMIT) {
    throw new ScenedeltaError(
      'invalid-request',
      `metadata has ${Buffer.byteLength(metadata)} bytes of JSON, expected at most ${METADATA_LIMIT}`,
      { field: 'metadata' },
    );
  }
  return incoming;
}

function readJson(body: unknown, frameLimit: number): IncomingComparison {
  if (body === undefined) {
    throw new ScenedeltaError(
      'unsupported-media-type',
      'The request has no body, expected multipart/form-data or application/json',
    );
  }
  const { before, after, ...options } = checkRequest(body) as ComparisonRequest;
  return {
    before: readFrame(before, 'before', frameLimit),
    after: readFrame(after, 'after', frameLimit),
    options,
  };
}

async function readForm(request: FastifyRequest, limits: FrameLimits): Promise<IncomingComparison> {
  if (Number(request.headers['content-length'] ?? 0) > limits.bodyLimit) throw formTooLarge(limits.bodyLimit);
  try {
    return await readParts(request, limits);
  } catch (err) {
    // What is still on its way is read and dropped: the connection stays usable, and the caller gets to read the answer.
    request.raw.unpipe();
    request.raw.resume();
    throw err;
  }
}

async function readParts(request: FastifyRequest, limits: FrameLimits): Promise<IncomingComparison> {
  const { bodyLimit, frameLimit } = limits;
  const frames = new Map<Side, IncomingFrame>();
  const fields: Record<string, unknown> = {};
  let total = 0;
  const parts = request.parts({
    // a frame may also come as a text field in base64, which takes a third more
    limits: { fileSize: bodyLimit, fieldSize: frameLimit * 1.5, files: 3, fields: 16, parts: 19 },
  });
  for await (const part of parts) {
    const name = part.fieldname;
    const side = SIDES.find((s) => s === name);
    if (frames.has(side as Side) || name in fields) throw unexpected(name, 'given twice');
    if (part.type === 'file') {
      if (side === undefined) throw unexpected(name, 'a file');
      const frame = await readFile(part.file, side, frameLimit);
      total += frame.bytes.length;
      frames.set(side, frame);
    } else {
      if (part.valueTruncated) throw tooLarge(name, frameLimit);
      total += String(part.value).length;
      if (side === undefined) fields[name] = formValue(name, part.value);
      else frames.set(side, readText(String(part.value), side, frameLimit));
    }
    if (total > bodyLimit) throw formTooLarge(bodyLimit);
  }
  const options = checkOptions(fields) as ComparisonOptions;
  const [before, after] = [frames.get('before'), frames.get('after')];
  if (before !== undefined && after !== undefined) return { before, after, options };
  const missing = SIDES.filter((side) => !frames.has(side));
  throw new ScenedeltaError(
    'invalid-request',
    `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing, expected one file each in the fields before and after`,
    { field: missing[0] as string },
  );
}

/** Stops at the first byte too many rather than after the last one; hashed as it comes, so that no large frame holds up others. */
async function readFile(
  file: AsyncIterable<Uint8Array>,
  field: Side,
  frameLimit: number,
): Promise<IncomingBytes> {
  const chunks: Uint8Array[] = [];
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of file) {
    size += chunk.length;
    if (size > frameLimit) throw tooLarge(field, frameLimit);
    chunks.push(chunk);
    hash.update(chunk);
  }
  return incomingBytes(Buffer.concat(chunks, size), hash, field);
}

const tooLarge = (field: string, frameLimit: number) =>
  new ScenedeltaError('payload-too-large', `${field} is larger than ${frameLimit} bytes (FRAME_LIMIT)`, {
    field,
  });
const formTooLarge = (bodyLimit: number) =>
  new ScenedeltaError('payload-too-large', `The form is larger than ${bodyLimit} bytes (BODY_LIMIT)`);
const unexpected = (name: string, what: string) =>
  new ScenedeltaError('invalid-request', `${name} is ${what}, expected one file each in before and after`, {
    field: name,
  });

/** A form has only texts: those that stand for something else are read here. */
function formValue(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (name === 'deadline_s' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  if (name !== 'metadata') return value;
  try {
    return JSON.parse(value);
  } catch {
    throw new ScenedeltaError('invalid-request', `metadata is not JSON: ${value.slice(0, 60)}`, {
      field: 'metadata',
    });
  }
}

function readFrame(input: FrameInput, field: Side, frameLimit: number): IncomingFrame {
  if (typeof input === 'string') return readText(input, field, frameLimit);
  if ('base64' in input) return wholeBytes(decodeBase64(input.base64, field), field, frameLimit);
  if ('url' in input) return { from: 'url', url: input.url };
  return { from: 's3', ...input.s3 };
}

/** A frame given as one string: an address, a data URL or bare base64. */
function readText(text: string, field: Side, frameLimit: number): IncomingFrame {
  if (new RegExp(URL_PATTERN).test(text)) {
    if (text.length <= 2048) return { from: 'url', url: text };
    throw new ScenedeltaError(
      'invalid-request',
      `${field} is an address of ${text.length} characters, expected at most 2048`,
      { field },
    );
  }
  if (text.startsWith('s3://')) {
    const parts = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.{1,1024})$/.exec(text);
    if (parts !== null) return { from: 's3', bucket: parts[1] as string, key: parts[2] as string };
    throw new ScenedeltaError(
      'invalid-request',
      `${field} is ${text.slice(0, 80)}, expected s3://bucket/key`,
      {
        field,
      },
    );
  }
  const comma = text.startsWith('data:') ? text.indexOf(',') : -1;
  if (text.startsWith('data:') && !text.slice(0, comma).endsWith(';base64')) {
    throw new ScenedeltaError(
      'invalid-request',
      `${field} starts with ${JSON.stringify(text.slice(0, 40))}, expected data:<type>;base64,<base64>`,
      { field },
    );
  }
  return wholeBytes(decodeBase64(text.slice(comma + 1), field), field, frameLimit);
}

/** Standard or URL-safe alphabet, padding optional, line breaks allowed. */
function decodeBase64(text: string, field: Side): Buffer {
  const stray = text.search(/[^A-Za-z0-9+/\-_=\r\n]/);
  if (stray === -1) return Buffer.from(text, 'base64');
  throw new ScenedeltaError(
    'invalid-request',
    `${field} has the character ${JSON.stringify(text[stray])} at position ${stray}, expected base64, data:...;base64,..., http(s)://... or s3://...`,
    { field },
  );
}

function wholeBytes(bytes: Uint8Array, field: Side, frameLimit: number): IncomingBytes {
  if (bytes.length > frameLimit) throw tooLarge(field, frameLimit);
  return incomingBytes(bytes, createHash('sha256').update(bytes), field);
}

const incomingBytes = (bytes: Uint8Array, hash: Hash, field: Side): IncomingBytes => ({
  from: 'bytes',
  bytes,
  contentType: sniffImage(bytes, field),
  sha256: hash.digest('hex'),
});
