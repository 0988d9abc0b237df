/** Reader of the request bodies that carry frames: a pair of frames, or one frame of a camera, as JSON or as a form. */
import type { FastifyRequest } from 'fastify';
import { ScenedeltaError } from '../../errors.js';
import type { IncomingFrame } from '../../frames/keep.js';
import { SIDES } from '../../images.js';
import { checker } from '../../schemas/validation-error.js';
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
} from '../schemas/comparison-request.js';
import { frameTooLarge, readFrame, readFrameFile, readFrameText } from './frame-input.js';

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

/** Most bytes of `metadata` as JSON. */
const METADATA_LIMIT = 4096;

/** Form of a body: the fields that are frames, and the checks of the rest. */
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

/**
 * @throws ScenedeltaError invalid-request, malformed-body, unsupported-media-type, payload-too-large or
 * image-unreadable, each naming the field
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

/** @throws ScenedeltaError as readComparison does */
export async function readCameraFrame(
  request: FastifyRequest,
  limits: FrameLimits,
): Promise<IncomingCameraFrame> {
  const { frames, options } = await readBody(request, limits, CAMERA_FRAME);
  return { frame: frames.get('frame') as IncomingFrame, options: options as CameraFrameOptions };
}

async function readBody(request: FastifyRequest, limits: FrameLimits, form: BodyForm): Promise<ReadBody> {
  const read = request.isMultipart()
    ? await readMultipart(request, limits, form)
    : readJson(request.body, limits.frameLimit, form);
  const bytes = Buffer.byteLength(JSON.stringify(read.options.metadata ?? null));
  if (bytes <= METADATA_LIMIT) return read;
  throw new ScenedeltaError(
    'invalid-request',
    `metadata has ${bytes} bytes of JSON, expected at most ${METADATA_LIMIT}`,
    { field: 'metadata' },
  );
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

async function readMultipart(
  request: FastifyRequest,
  limits: FrameLimits,
  form: BodyForm,
): Promise<ReadBody> {
  if (Number(request.headers['content-length'] ?? 0) > limits.bodyLimit) throw formTooLarge(limits.bodyLimit);
  try {
    return await readParts(request, limits, form);
  } catch (err) {
    // The rest of the body is read and dropped, so that the connection stays usable and the caller can read the answer.
    request.raw.unpipe();
    request.raw.resume();
    throw err;
  }
}

async function readParts(request: FastifyRequest, limits: FrameLimits, form: BodyForm): Promise<ReadBody> {
  const { bodyLimit, frameLimit } = limits;
  const frames = new Map<string, IncomingFrame>();
  const fields: Record<string, unknown> = {};
  let total = 0;
  const parts = request.parts({
    // A frame may also come as a text field in base64, which takes a third more.
    limits: { fileSize: bodyLimit, fieldSize: frameLimit * 1.5, files: 3, fields: 16, parts: 19 },
  });
  for await (const part of parts) {
    const name = part.fieldname;
    const isFrame = form.frames.includes(name);
    if (frames.has(name) || name in fields) throw unexpected(name, 'given twice', form);
    if (part.type === 'file') {
      if (!isFrame) throw unexpected(name, 'a file', form);
      const frame = await readFrameFile(part.file, name, frameLimit);
      total += frame.bytes.length;
      frames.set(name, frame);
    } else {
      if (part.valueTruncated) throw frameTooLarge(name, frameLimit);
      total += String(part.value).length;
      if (isFrame) frames.set(name, readFrameText(String(part.value), name, frameLimit));
      else fields[name] = parseField(name, part.value);
    }
    if (total > bodyLimit) throw formTooLarge(bodyLimit);
  }
  const options = form.checkOptions(fields) as ReadBody['options'];
  const missing = form.frames.filter((name) => !frames.has(name));
  if (missing.length === 0) return { frames, options };
  throw new ScenedeltaError(
    'invalid-request',
    `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing, expected ${expectedFiles(form)}`,
    { field: missing[0] as string },
  );
}

const expectedFiles = ({ frames }: BodyForm): string =>
  frames.length > 1
    ? `one file each in the fields ${frames.join(' and ')}`
    : `a file in the field ${frames[0]}`;

const formTooLarge = (bodyLimit: number) =>
  new ScenedeltaError('payload-too-large', `The form is larger than ${bodyLimit} bytes (BODY_LIMIT)`);
const unexpected = (name: string, what: string, form: BodyForm) =>
  new ScenedeltaError('invalid-request', `${name} is ${what}, expected ${expectedFiles(form)}`, {
    field: name,
  });

/** Form fields are text; numbers and JSON are parsed here. */
function parseField(name: string, value: unknown): unknown {
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
