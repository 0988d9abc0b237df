/** Reader of the request bodies that carry frames: a pair of frames, or one frame of a camera, as JSON or as a form. */
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { invalidRequest, invalidValue, ScenedeltaError } from '../../base/errors.js';
import { SIDES } from '../../base/images.js';
import { jsonFault } from '../../base/json-fault.js';
import type { IncomingFrame } from '../../frames/keep.js';
import { checker } from '../../schemas/validation-error.js';
import { assertStructure, BODY_STRUCTURE } from '../json-structure.js';
import {
  BaselineFormSchema,
  type CameraFrameOptions,
  CameraFrameOptionsSchema,
  CameraFrameRequestSchema,
} from '../schemas/camera.js';
import {
  type ComparisonOptions,
  ComparisonOptionsSchema,
  ComparisonRequestSchema,
  type FrameInput,
} from '../schemas/comparison-request.js';
import { assertBoundary, contentOf, isPartAFile, textOf } from './form-parts.js';
import { frameTooLarge, readFrame, readFrameFile, readFrameText } from './frame-input.js';
import { isImageBody, readImageBody } from './image-body.js';

export interface IncomingComparison {
  readonly before: IncomingFrame;
  readonly after: IncomingFrame;
  readonly options: ComparisonOptions;
}

export interface IncomingCameraFrame {
  readonly frame: IncomingFrame;
  readonly options: CameraFrameOptions;
}

/** Both in bytes. Fastify applies `bodyLimit` to JSON; forms are held to it here. */
export interface FrameLimits {
  readonly bodyLimit: number;
  readonly frameLimit: number;
}

const METADATA_LIMIT = 4096;
/** Most characters of a form's field that is no frame: metadata with an escape (\u00e9) per byte, and line breaks. */
const FIELD_LIMIT = 8 * METADATA_LIMIT;
const NUMBERS: ReadonlySet<string> = new Set(['deadline_s', 'truth', 'seconds_apart']);

interface BodyForm {
  readonly frames: readonly string[];
  /** checks the fields beside the frames, in a multipart form */
  readonly checkOptions: (value: unknown) => unknown;
  /** checks the whole body, in JSON */
  readonly checkRequest: (value: unknown) => unknown;
}
interface ReadBody {
  readonly frames: ReadonlyMap<string, IncomingFrame>;
  readonly options: { readonly metadata?: unknown };
}

const COMPARISON: BodyForm = {
  frames: SIDES,
  checkOptions: checker(ComparisonOptionsSchema),
  checkRequest: checker(ComparisonRequestSchema),
};
const CAMERA_FRAME: BodyForm = {
  frames: ['frame'],
  checkOptions: checker(CameraFrameOptionsSchema),
  checkRequest: checker(CameraFrameRequestSchema),
};

const PICTURE: BodyForm = {
  frames: ['frame'],
  checkOptions: checker(Type.Object({}, { additionalProperties: false })),
  checkRequest: checker(BaselineFormSchema),
};

/**
 * @throws ScenedeltaError invalid-request, invalid-value, malformed-body, unsupported-media-type, payload-too-large or
 * image-unreadable, each naming the field
 */
export async function readComparison(request: FastifyRequest, limits: FrameLimits): Promise<IncomingComparison> {
  const { frames, options } = await readBody(request, limits, COMPARISON);
  return {
    before: frames.get('before') as IncomingFrame,
    after: frames.get('after') as IncomingFrame,
    options: options as ComparisonOptions,
  };
}

/**
 * Reads a form, JSON, or an image that is the whole body (FastifyContextConfig.imageBody).
 * @param capturedAt of the query; a form and JSON may carry it themselves
 * @throws ScenedeltaError as readComparison does
 */
export async function readCameraFrame(
  request: FastifyRequest,
  limits: FrameLimits,
  capturedAt: string | undefined,
): Promise<IncomingCameraFrame> {
  const inQuery: CameraFrameOptions = capturedAt === undefined ? {} : { captured_at: capturedAt };
  if (isImageBody(request)) return { frame: await readImageBody(request, limits), options: inQuery };
  const { frames, options } = await readBody(request, limits, CAMERA_FRAME);
  const given = options as CameraFrameOptions;
  if (capturedAt !== undefined && given.captured_at !== undefined) {
    const detail = 'captured_at is in the query and in the body, expected it once';
    throw invalidValue(detail, 'captured_at');
  }
  return { frame: frames.get('frame') as IncomingFrame, options: { ...given, ...inQuery } };
}

/** Reads a form with one picture. @throws ScenedeltaError as readComparison does */
export async function readPictureForm(request: FastifyRequest, limits: FrameLimits): Promise<IncomingFrame> {
  const { frames } = await readMultipart(request, limits, PICTURE);
  return frames.get('frame') as IncomingFrame;
}

async function readBody(request: FastifyRequest, limits: FrameLimits, form: BodyForm): Promise<ReadBody> {
  const read = request.isMultipart()
    ? await readMultipart(request, limits, form)
    : readJson(request.body, limits.frameLimit, form);
  assertMetadata(read.options.metadata);
  return read;
}

/** @throws ScenedeltaError 'invalid-value' above METADATA_LIMIT */
export function assertMetadata(metadata: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(metadata ?? null));
  if (bytes <= METADATA_LIMIT) return;
  throw invalidValue(`metadata has ${bytes} bytes of JSON, expected at most ${METADATA_LIMIT}`, 'metadata');
}

function readJson(json: unknown, frameLimit: number, form: BodyForm): ReadBody {
  if (json === undefined) {
    throw new ScenedeltaError(
      'unsupported-media-type',
      'The request has no body, expected multipart/form-data or application/json',
    );
  }
  const options = { ...(form.checkRequest(json) as Record<string, unknown>) };
  const frames = new Map<string, IncomingFrame>();
  for (const name of form.frames) {
    frames.set(name, readFrame(options[name] as FrameInput, name, frameLimit));
    delete options[name];
  }
  return { frames, options };
}

async function readMultipart(request: FastifyRequest, limits: FrameLimits, form: BodyForm): Promise<ReadBody> {
  const { bodyLimit } = limits;
  if (Number(request.headers['content-length'] ?? 0) > bodyLimit) throw formTooLarge(bodyLimit);
  assertBoundary(request.headers['content-type'] ?? '');
  const { raw } = request;
  try {
    const reading = readParts(request, limits, form);
    return await Promise.race([reading, excessOf(raw, bodyLimit)]);
  } catch (err) {
    // The rest of the body is read and dropped, so that the connection stays usable and the caller can read the answer.
    raw.unpipe();
    raw.resume();
    throw err;
  }
}

/**
 * Counts all bytes of a form, also those outside of its parts, which the parser drops. Must be called after the parser
 * was attached, because the first listener starts the stream.
 * @returns a promise that rejects above the limit. Above twice the limit the connection ends: the answer has been sent.
 */
function excessOf(body: Readable, bodyLimit: number): Promise<never> {
  let bytes = 0;
  return new Promise((_, reject) => {
    body.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes > bodyLimit) reject(formTooLarge(bodyLimit));
      if (bytes > 2 * bodyLimit) body.destroy();
    });
  });
}

async function readParts(request: FastifyRequest, limits: FrameLimits, form: BodyForm): Promise<ReadBody> {
  const { bodyLimit, frameLimit } = limits;
  const frames = new Map<string, IncomingFrame>();
  const fields: Record<string, unknown> = {};
  const parts = request.parts({
    // A frame may also come as a text field in base64, which takes a third more.
    limits: { fileSize: bodyLimit, fieldSize: frameLimit * 1.5, files: 4, fields: 16, parts: 20 },
    isPartAFile,
  });
  for await (const part of parts) {
    const name = part.fieldname;
    const isFrame = form.frames.includes(name);
    if (frames.has(name) || name in fields) throw unexpected(name, 'given twice', form);
    if (part.type === 'file') {
      if (isFrame) frames.set(name, await readFrameFile(contentOf(part), name, frameLimit));
      else if (isJson(part.mimetype)) fields[name] = parseField(name, await readFieldFile(contentOf(part), name));
      else throw unexpected(name, 'a file', form);
      continue;
    }
    if (part.valueTruncated) throw frameTooLarge(name, frameLimit);
    // The text of a frame is base64 itself.
    const text = isFrame ? String(part.value) : textOf(part);
    // Forms of browsers and of generated clients have an empty field for a value that was not given.
    if (text === '') continue;
    if (isFrame) frames.set(name, readFrameText(text, name, frameLimit));
    else fields[name] = parseField(name, text);
  }
  const options = form.checkOptions(fields) as ReadBody['options'];
  const missing = form.frames.filter((name) => !frames.has(name));
  if (missing.length === 0) return { frames, options };
  throw invalidRequest(
    `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing, expected ${expectedFiles(form)}`,
    missing[0] as string,
  );
}

const isJson = (type: string): boolean => /^application\/json\b/i.test(type);

/** @throws ScenedeltaError 'invalid-request' above FIELD_LIMIT */
export async function readFieldFile(file: AsyncIterable<Uint8Array>, name: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file) {
    size += chunk.length;
    if (size > FIELD_LIMIT) throw fieldTooLong(name, `more than ${FIELD_LIMIT}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString();
}

const expectedFiles = ({ frames }: BodyForm): string =>
  frames.length > 1 ? `one file each in the fields ${frames.join(' and ')}` : `a file in the field ${frames[0]}`;

const formTooLarge = (bodyLimit: number) =>
  new ScenedeltaError('payload-too-large', `The form is larger than ${bodyLimit} bytes (BODY_LIMIT)`);
const unexpected = (name: string, what: string, form: BodyForm) =>
  invalidRequest(`${name} is ${what}, expected ${expectedFiles(form)}`, name);

/** Form fields are text; numbers and JSON are parsed here. */
function parseField(name: string, value: string): unknown {
  if (value.length > FIELD_LIMIT) throw fieldTooLong(name, String(value.length));
  if (NUMBERS.has(name) && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  if (name !== 'metadata') return value;
  assertStructure(Buffer.from(value), BODY_STRUCTURE, name, name);
  try {
    return JSON.parse(value);
  } catch {
    throw invalidValue(`metadata is ${value.slice(0, 60)}, expected JSON: ${jsonFault(value)}`, 'metadata');
  }
}

function fieldTooLong(name: string, characters: string): ScenedeltaError {
  const field = name.slice(0, 60);
  const detail = `${field} has ${characters} characters, expected at most ${FIELD_LIMIT}`;
  return invalidRequest(detail, field);
}
