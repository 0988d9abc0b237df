/** Reader of the two bodies of a batch: JSON, and a form whose files are streamed to the data folder. */
import type { FastifyRequest } from 'fastify';
import { invalidRequest, invalidValue, ScenedeltaError } from '../../base/errors.js';
import { jsonFault } from '../../base/json-fault.js';
import { polygonFault } from '../../base/polygon.js';
import { assertTimeZone } from '../../base/wall-clock.js';
import { checkSettings } from '../../camera/settings/settings.js';
import { compileTemplate, PRESETS } from '../../footage/inputs/template.js';
import { parseDuration, parseTimeOption } from '../../footage/inputs/times.js';
import { checker } from '../../schemas/validation-error.js';
import type { BatchFiles } from '../../stores/batches/batch-files.js';
import type { BatchInput, BatchRequest, TimeInRecording, WhenRequest } from '../../stores/batches/batch-request.js';
import { assertBoundary, contentOf, isPartAFile, textOf } from '../intake/form-parts.js';
import { assertMetadata, readFieldFile } from '../intake/request.js';
import { assertFetchable, type FetchRules } from '../intake/url-policy.js';
import { assertStructure, CAMERA_STRUCTURE } from '../json-structure.js';
import { parseTime } from '../parse-time.js';
import { type BatchOptions, BatchOptionsSchema, BatchRequestSchema } from '../schemas/batches.js';

interface IncomingBatch {
  readonly request: BatchRequest;
  /** SHA-256 of each upload, in the order of their numbers, in hexadecimal */
  readonly contents: readonly string[];
}

export interface ReadContext {
  readonly id: string;
  readonly files: Pick<BatchFiles, 'saveUpload'>;
  readonly rules: FetchRules;
  /** bytes of one recording */
  readonly footageLimit: number;
  /** whether workers read the data folder of the API; false if frames are kept on S3 */
  readonly sharesFolder: boolean;
}

const checkRequest = checker(BatchRequestSchema);
const checkOptions = checker(BatchOptionsSchema);
/** Bytes of a manifest: about a million lines. */
const MANIFEST_LIMIT = 256 * 1024 * 1024;
const REQUEST_LIMIT = 32 * 1024;
const MAX_FILES = 100;

/**
 * @throws ScenedeltaError invalid-request, invalid-value, malformed-body, unsupported-media-type, payload-too-large,
 *   url-refused, storage-unavailable, each naming the field
 */
export async function readBatch(request: FastifyRequest, context: ReadContext): Promise<IncomingBatch> {
  if (request.isMultipart()) return readForm(request, context);
  if (request.body === undefined) {
    const expected = 'expected application/json or multipart/form-data';
    throw new ScenedeltaError('unsupported-media-type', `The request has no body, ${expected}`);
  }
  return { request: checked(checkRequest(request.body) as BatchOptions, [], null, context), contents: [] };
}

async function readForm(request: FastifyRequest, context: ReadContext): Promise<IncomingBatch> {
  assertBoundary(request.headers['content-type'] ?? '');
  const uploads: BatchInput[] = [];
  let options: BatchOptions = {};
  let manifest: number | null = null;
  const contents: string[] = [];
  try {
    const parts = request.parts({
      limits: { fileSize: Number.POSITIVE_INFINITY, fieldSize: REQUEST_LIMIT, files: MAX_FILES + 2, fields: 2 },
      isPartAFile,
    });
    for await (const part of parts) {
      const { fieldname: name } = part;
      if (name === 'request') {
        const text = part.type === 'file' ? await readFieldFile(contentOf(part), name) : textOf(part);
        // Forms of browsers and of generated clients have an empty field for a value that was not given.
        if (text !== '') options = checkOptions(parseRequest(text)) as BatchOptions;
      } else if (part.type !== 'file') throw unexpected(name);
      else if (name === 'footage' || name === 'manifest') {
        const what = part.filename || name;
        if (!context.sharesFolder) throw notShared(name);
        const maxBytes = name === 'footage' ? context.footageLimit : MANIFEST_LIMIT;
        const number = contents.length + 1;
        contents.push(await context.files.saveUpload(context.id, number, contentOf(part), { maxBytes, what }));
        if (name === 'footage') uploads.push({ from: 'upload', name: baseName(what), number });
        else if (manifest === null) manifest = number;
        else throw invalidRequest('manifest is given twice, expected one', name);
      } else throw unexpected(name);
    }
  } catch (thrown) {
    // The rest of the body is read and dropped, so that the caller can read the answer.
    request.raw.unpipe();
    request.raw.resume();
    throw thrown;
  }
  if (uploads.length === 0 && manifest === null && options.inputs === undefined) {
    throw invalidValue(
      'the form names no footage, expected files in the fields footage or manifest, or inputs in request',
      'footage',
    );
  }
  return { request: checked(options, uploads, manifest, context), contents };
}

function checked(
  options: BatchOptions,
  uploads: readonly BatchInput[],
  manifest: number | null,
  context: ReadContext,
): BatchRequest {
  const { camera = null, template = null, time_zone = null, every = 'auto', exact = false } = options;
  if (time_zone !== null) usable('time_zone', () => assertTimeZone(time_zone, 'time_zone'));
  if (template !== null && PRESETS[template] === undefined) {
    usable('template', () => compileTemplate(template, time_zone ?? 'UTC'));
  }
  const isMode = every === 'auto' || every === 'keyframes' || every === 'all';
  const since = timeOf(options.since, 'since');
  const until = timeOf(options.until, 'until');
  if (since !== null && until !== null && until <= since) {
    throw invalidValue('until is not after since, expected a later time', 'until');
  }
  if (options.metadata !== undefined) assertMetadata(options.metadata);
  const when = readWhen(options);
  return {
    ...(when === undefined ? {} : { when }),
    inputs: [...(options.inputs ?? []).map((address, i) => inputOf(address, `inputs/${i}`, context)), ...uploads],
    manifest,
    camera,
    template,
    timeZone: time_zone,
    since,
    until,
    settings: settingsOf(options.settings),
    start: timeOf(options.start, 'start'),
    imageInterval: options.image_interval_s ?? 1,
    every: isMode
      ? { mode: every }
      : { mode: 'seconds', seconds: usable('every', () => parseDuration(every, 'every')), exact },
    acrossGaps: options.across_gaps ?? false,
    mergeWindow: options.merge_window_s ?? null,
    ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
  };
}

/** A recording sends no alerts, fetches no snapshots and has no reference. */
function settingsOf(given: BatchOptions['settings']) {
  const settings = checkSettings(given ?? {});
  return { ...settings, snapshot: null, alerts: { ...settings.alerts, callback_url: null } };
}

const timeOf = (text: string | undefined, field: string): number | null =>
  text === undefined ? null : parseTime(text, field);

function inputOf(address: string, field: string, { rules, sharesFolder }: ReadContext): BatchInput {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(address) ?? [];
  if (bucket !== undefined) {
    assertFetchable({ [field]: { from: 's3', bucket, key: prefix } }, rules);
    return { from: 's3', bucket, prefix };
  }
  if (!sharesFolder) throw notShared(field);
  assertFetchable({ [field]: { from: 'url', url: address } }, rules);
  return { from: 'url', url: address };
}

function parseRequest(text: string): unknown {
  assertStructure(Buffer.from(text), CAMERA_STRUCTURE, 'request', 'request');
  try {
    return JSON.parse(text);
  } catch {
    const detail = `request is no JSON: ${jsonFault(text)}; expected the members of BatchRequest`;
    throw new ScenedeltaError('malformed-body', detail, { field: 'request' });
  }
}

const baseName = (name: string): string => name.replaceAll('\\', '/').split('/').pop() || 'footage';
const unexpected = (name: string) =>
  invalidRequest(`${name.slice(0, 60)} is unexpected, expected request, footage or manifest`, name.slice(0, 60));
const notShared = (field: string) =>
  invalidValue(
    `${field}: this service keeps its frames on S3, so that its workers share no folder; expected s3:// inputs`,
    field,
  );

/** @throws ScenedeltaError 'invalid-value' naming the field, because the value fits the schema */
function usable<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof ScenedeltaError)) throw thrown;
    throw new ScenedeltaError('invalid-value', thrown.message, { field, cause: thrown });
  }
}

const OF_WHEN = ['roi', 'polygon', 'between', 'covered_s'] as const;
/** The search compares single frames at one place: these would change nothing. */
const OF_CHANGES = ['since', 'until', 'exact', 'across_gaps', 'merge_window_s'] as const;
const DEFAULT_EVERY = '1s';
const DEFAULT_COVERED_S = 60;

/**
 * @returns undefined if every change is looked for
 * @throws ScenedeltaError 'invalid-value' naming the field: a member of the other mode, no place or two, a place
 *   without an area or outside the frame, times that cannot be read or of which the second is not later
 */
function readWhen(options: BatchOptions): WhenRequest | undefined {
  const mode = options.mode ?? 'changes';
  const foreign = (mode === 'when' ? OF_CHANGES : OF_WHEN).find((name) => options[name] !== undefined);
  if (foreign !== undefined) {
    const other = mode === 'when' ? 'changes' : 'when';
    throw refused(foreign, `${foreign} belongs to mode ${other} and the mode is ${mode}`);
  }
  if (mode === 'changes') return undefined;
  const { every = 'auto', covered_s = DEFAULT_COVERED_S, time_zone = 'UTC' } = options;
  if (every === 'keyframes' || every === 'all') {
    throw refused('every', `every is ${every} and the mode is when, expected a duration as 10s`);
  }
  const text = every === 'auto' ? DEFAULT_EVERY : every;
  return {
    place: placeOf(options),
    between: betweenOf(options.between, time_zone),
    every: usable('every', () => parseDuration(text, 'every')),
    covered: covered_s,
  };
}

function placeOf({ roi, polygon }: BatchOptions): WhenRequest['place'] {
  if ((roi === undefined) === (polygon === undefined)) {
    const came = roi === undefined ? 'neither roi nor polygon is' : 'roi and polygon are both';
    throw refused('roi', `${came} given and the mode is when, expected one of them`);
  }
  if (polygon !== undefined) {
    const fault = polygonFault(polygon);
    if (fault !== null) throw refused('polygon', `polygon ${fault}, expected a polygon without crossings`);
    return polygon;
  }
  const { x, y, width, height } = roi as NonNullable<typeof roi>;
  const isInside = width > 0 && height > 0 && x + width <= 1 + Number.EPSILON && y + height <= 1 + Number.EPSILON;
  if (isInside) return { x, y, width, height };
  throw refused('roi', `roi is ${x},${y},${width},${height}, expected a rectangle with an area within the frame`);
}

function betweenOf(between: BatchOptions['between'], timeZone: string): WhenRequest['between'] {
  if (between === undefined) return null;
  const [from, until] = between.map((text) => usable('between', () => readTime(text, timeZone)));
  if (from === undefined || until === undefined) return null;
  const isOrdered =
    'at' in from && 'at' in until ? from.at < until.at : 'at' in from || 'at' in until || from.seconds < until.seconds;
  if (isOrdered) return { from, until };
  throw refused('between', `between is ${between.join(', ')}, expected two times, the earlier one first`);
}

function readTime(text: string, timeZone: string): TimeInRecording {
  const time = parseTimeOption(text, 'between', timeZone);
  if (!('frame' in time)) return time;
  throw refused('between', `between is ${text}, expected times as 12.5s or 2026-06-01T12:00:00Z`);
}

const refused = (field: string, message: string) => invalidValue(message, field);
