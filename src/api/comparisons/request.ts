/** From a request body of any form to what is accepted: two frames and their options, or a camera's one. */
import { createHash, type Hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ScenedeltaError } from '../../errors.js';
import { sniffImage } from '../../frames/image-type.js';
import type { IncomingBytes, IncomingFrame } from '../../frames/keep.js';
import { SIDES } from '../../images.js';
import { checker } from '../../schemas/validation-error.js';
import { isPlainKey } from '../../stores/s3-client.js';
import {
  type CameraFrameOptions,
  CameraFrameOptionsSchema,
  CameraFrameRequestSchema,
} from '../schemas/camera.js';
import {
  type ComparisonOptions,
  ComparisonOptionsSchema,
  ComparisonRequestSchema,
  type FrameInput,
  URL_PATTERN,
} from '../schemas/comparison-request.js';

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

/** One body, as it may come: which fields are frames, and what the whole has to fit. */
interface Body {
  readonly frames: readonly string[];
  /** of what is beside the frames, in a form */
  readonly checkOptions: (value: unknown) => unknown;
  /** of all, in JSON */
  readonly checkRequest: (value: unknown) => unknown;
}
interface ReadBody {
  readonly frames: ReadonlyMap<string, IncomingFrame>;
  readonly options: { readonly metadata?: unknown };
}

const COMPARISON: Body = {
  frames: SIDES,
  checkOptions: checker(ComparisonOptionsSchema),
  checkRequest: checker(ComparisonRequestSchema),
};
const CAMERA_FRAME: Body = {
  frames: ['frame'],
  checkOptions: checker(CameraFrameOptionsSchema),
  checkRequest: checker(CameraFrameRequestSchema),
};

/**
 * @throws ScenedeltaError invalid-request, malformed-body, unsupported-media-type, payload-too-large or image-unreadable, each
 * naming the field.
 */
export async function readComparison(
  request: FastifyRequest,
  limits: FrameLimits,
): Promise<IncomingComparison> {
  const { frames, options } = await readBody(request, limits, COMPARISON);
  return {
    before: frames.get('before') as IncomingFrame,
    after: frames.get('after') as IncomingFrame,
    options: options as ComparisonOptions,
  };
}

export interface IncomingCameraFrame {
  readonly frame: IncomingFrame;
  readonly options: CameraFrameOptions;
}

/** @throws ScenedeltaError as readComparison does. */
export async function readCameraFrame(
  request: FastifyRequest,
  limits: FrameLimits,
): Promise<IncomingCameraFrame> {
  const { frames, options } = await readBody(request, limits, CAMERA_FRAME);
  return { frame: frames.get('frame') as IncomingFrame, options: options as CameraFrameOptions };
}

async function readBody(request: FastifyRequest, limits: FrameLimits, body: Body): Promise<ReadBody> {
  const read = request.isMultipart()
    ? await readForm(request, limits, body)
    : readJson(request.body, limits.frameLimit, body);
  const metadata = JSON.stringify(read.options.metadata ?? null);
  if (Buffer.byteLength(metadata) > METADATA_LIMIT) {
    throw new ScenedeltaError(
      'invalid-request',
      `metadata has ${Buffer.byteLength(metadata)} bytes of JSON, expected at most ${METADATA_LIMIT}`,
      { field: 'metadata' },
    );
  }
  return read;
}

function readJson(json: unknown, frameLimit: number, body: Body): ReadBody {
  if (json === undefined) {
    throw new ScenedeltaError(
      'unsupported-media-type',
      'The request has no body, expected multipart/form-data or application/json',
    );
  }
  const options = { ...(body.checkRequest(json) as Record<string, unknown>) };
  const frames = new Map<string, IncomingFrame>();
  for (const name of body.frames) {
    frames.set(name, readFrame(options[name] as FrameInput, name, frameLimit));
    delete options[name];
  }
  return { frames, options };
}

async function readForm(request: FastifyRequest, limits: FrameLimits, body: Body): Promise<ReadBody> {
  if (Number(request.headers['content-length'] ?? 0) > limits.bodyLimit) throw formTooLarge(limits.bodyLimit);
  try {
    return await readParts(request, limits, body);
  } catch (err) {
    // What is still on its way is read and dropped: the connection stays usable, and the caller gets to read the answer.
    request.raw.unpipe();
    request.raw.resume();
    throw err;
  }
}

async function readParts(request: FastifyRequest, limits: FrameLimits, body: Body): Promise<ReadBody> {
  const { bodyLimit, frameLimit } = limits;
  const frames = new Map<string, IncomingFrame>();
  const fields: Record<string, unknown> = {};
  let total = 0;
  const parts = request.parts({
    // a frame may also come as a text field in base64, which takes a third more
    limits: { fileSize: bodyLimit, fieldSize: frameLimit * 1.5, files: 3, fields: 16, parts: 19 },
  });
  for await (const part of parts) {
    const name = part.fieldname;
    const isFrame = body.frames.includes(name);
    if (frames.has(name) || name in fields) throw unexpected(name, 'given twice', body);
    if (part.type === 'file') {
      if (!isFrame) throw unexpected(name, 'a file', body);
      const frame = await readFile(part.file, name, frameLimit);
      total += frame.bytes.length;
      frames.set(name, frame);
    } else {
      if (part.valueTruncated) throw tooLarge(name, frameLimit);
      total += String(part.value).length;
      if (isFrame) frames.set(name, readText(String(part.value), name, frameLimit));
      else fields[name] = formValue(name, part.value);
    }
    if (total > bodyLimit) throw formTooLarge(bodyLimit);
  }
  const options = body.checkOptions(fields) as ReadBody['options'];
  const missing = body.frames.filter((name) => !frames.has(name));
  if (missing.length === 0) return { frames, options };
  throw new ScenedeltaError(
    'invalid-request',
    `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing, expected ${oneFileEach(body)}`,
    { field: missing[0] as string },
  );
}

const oneFileEach = ({ frames }: Body): string =>
  frames.length > 1
    ? `one file each in the fields ${frames.join(' and ')}`
    : `a file in the field ${frames[0]}`;

/** Stops at the first byte too many rather than after the last one; hashed as it comes, so that no large frame holds up others. */
async function readFile(
  file: AsyncIterable<Uint8Array>,
  field: string,
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
const unexpected = (name: string, what: string, body: Body) =>
  new ScenedeltaError('invalid-request', `${name} is ${what}, expected ${oneFileEach(body)}`, {
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

/** A frame as JSON brings it. */
export function readFrame(input: FrameInput, field: string, frameLimit: number): IncomingFrame {
  if (typeof input === 'string') return readText(input, field, frameLimit);
  if ('base64' in input) return wholeBytes(decodeBase64(input.base64, field), field, frameLimit);
  if ('url' in input) return { from: 'url', url: input.url };
  return s3Frame(input.s3, field);
}

/** A frame given as one string: an address, a data URL or bare base64. */
function readText(text: string, field: string, frameLimit: number): IncomingFrame {
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
    if (parts !== null) return s3Frame({ bucket: parts[1] as string, key: parts[2] as string }, field);
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

function s3Frame({ bucket, key }: { bucket: string; key: string }, field: string): IncomingFrame {
  if (isPlainKey(key)) return { from: 's3', bucket, key };
  throw new ScenedeltaError(
    'invalid-request',
    `${field} is s3://${bucket}/${key.slice(0, 80)}, expected a key without an empty, "." or ".." segment between its slashes`,
    { field },
  );
}

/** Standard or URL-safe alphabet, padding optional, line breaks allowed. */
function decodeBase64(text: string, field: string): Buffer {
  const stray = text.search(/[^A-Za-z0-9+/\-_=\r\n]/);
  if (stray === -1) return Buffer.from(text, 'base64');
  throw new ScenedeltaError(
    'invalid-request',
    `${field} has the character ${JSON.stringify(text[stray])} at position ${stray}, expected base64, data:...;base64,..., http(s)://... or s3://...`,
    { field },
  );
}

function wholeBytes(bytes: Uint8Array, field: string, frameLimit: number): IncomingBytes {
  if (bytes.length > frameLimit) throw tooLarge(field, frameLimit);
  return incomingBytes(bytes, createHash('sha256').update(bytes), field);
}

const incomingBytes = (bytes: Uint8Array, hash: Hash, field: string): IncomingBytes => ({
  from: 'bytes',
  bytes,
  contentType: sniffImage(bytes, field),
  sha256: hash.digest('hex'),
});
