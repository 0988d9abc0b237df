/** Plan of a batch: from its inputs to the recordings of each camera. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import { counted } from '../base/counted.js';
import { invalidValue, type ScenedeltaError } from '../base/errors.js';
import { CAMERA_ID_PATTERN } from '../camera/settings/id-pattern.js';
import { endOf, usualGap } from '../footage/inputs/bounds.js';
import { kindOf, type ListedFile, listObjects } from '../footage/inputs/list-files.js';
import { type PlanOptions, planRecording } from '../footage/inputs/plan.js';
import { expectedFrames } from '../footage/inputs/recorded-time.js';
import type { FootageItem, FootageSequence, Location } from '../footage/inputs/recording-plan.js';
import { compileTemplate, PRESETS } from '../footage/inputs/template.js';
import type { FootageFailure } from '../footage/records.js';
import type { Config } from '../process/config.js';
import { dateTime } from '../schemas/constructors.js';
import { addressPattern } from '../schemas/patterns.js';
import { checker } from '../schemas/validation-error.js';
import type { BatchFiles } from '../stores/batches/batch-files.js';
import type { BatchInput, BatchRequest } from '../stores/batches/batch-request.js';
import type { S3Client } from '../stores/blobs/s3-client.js';

export interface PlanDependencies {
  readonly files: Pick<BatchFiles, 'uploadOf'>;
  readonly s3: S3Client | undefined;
  readonly config: Pick<Config, 'ffmpeg' | 'videoPixelLimit'>;
  /** epoch ms */
  readonly clock: () => number;
}

export interface PlannedBatch {
  /** empty if nothing is left to process */
  readonly sequences: readonly FootageSequence[];
  /** of each sequence: frames that will be looked at; null: unknown */
  readonly framesExpected: readonly (number | null)[];
  /** whether `since` and `until` left out recordings of a whole camera */
  readonly leftOut: boolean;
  readonly failures: readonly FootageFailure[];
  /** failures beyond those */
  readonly unlisted: number;
  /** about the inputs as a whole */
  readonly warnings: readonly string[];
}

/** Files of one batch; their list is kept in memory. */
const MAX_FILES = 1_000_000;
/** Inputs that failed before the run and are kept with their reasons: the record of the batch holds them. */
const MAX_FAILURES = 10_000;

const checkLine = checker(
  Type.Object(
    {
      file: Type.String({ pattern: addressPattern('(https?|s3)'), maxLength: 2048 }),
      camera: Type.Optional(Type.String({ pattern: CAMERA_ID_PATTERN })),
      at: Type.Optional(dateTime()),
    },
    { additionalProperties: false },
  ),
);

/** @throws ScenedeltaError of S3, if a prefix cannot be listed; 'invalid-value' for too many files */
export async function planBatch(
  batch: string,
  request: BatchRequest,
  deps: PlanDependencies,
  signal: AbortSignal,
): Promise<PlannedBatch> {
  const files = new Map<string, ListedFile>();
  let repeated = 0;
  const addFile = (file: ListedFile) => {
    // The name of an address has no query, which may name another picture.
    const name = file.location.from === 'url' ? file.location.url : file.file;
    const earlier = files.get(name);
    if (earlier === undefined) files.set(name, file);
    else if (isDeepStrictEqual(earlier, file)) repeated++;
    else fail(namedTwice(file));
    if (files.size <= MAX_FILES) return;
    throw invalidValue(`the inputs have more than ${MAX_FILES} files`, 'inputs');
  };
  const failures: FootageFailure[] = [];
  let unlisted = 0;
  const fail = (failure: FootageFailure) => {
    if (failures.length < MAX_FAILURES) failures.push(failure);
    else unlisted++;
  };
  for (const input of request.inputs) {
    for await (const file of listInput(batch, input, deps)) addFile(file);
  }
  if (request.manifest !== null) {
    for await (const line of readManifest(deps.files.uploadOf(batch, request.manifest))) {
      if ('failure' in line) fail(line.failure);
      else addFile(line.file);
    }
  }
  const plan = await planRecording(drained(files), {
    ...planOptions(request),
    ...deps.config,
    now: deps.clock(),
    signal,
  });
  for (const failure of plan.failures) fail(failure);
  const { since, until, settings, every } = request;
  const sequences: FootageSequence[] = [];
  const framesExpected: (number | null)[] = [];
  for (const sequence of plan.sequences) {
    const end = await endOf(sequence, deps.config, signal);
    const endsAt = Math.min(until ?? Number.MAX_SAFE_INTEGER, end.at);
    const from = Math.max(since ?? 0, (sequence.items[0] as FootageItem).at);
    if (from > endsAt) continue;
    const usual = usualGap(sequence, settings, every, end.frameSeconds);
    const gapMs = request.acrossGaps ? Number.MAX_SAFE_INTEGER : usual;
    const bounded = { ...sequence, range: { from, until: until ?? Number.MAX_SAFE_INTEGER }, endsAt, gapMs };
    sequences.push(bounded);
    // A search looks at few frames, and knows only at its end how many.
    framesExpected.push(request.when === undefined ? expectedFrames(bounded, every, end.keyFrameSeconds) : null);
  }
  const warnings = [
    ...plan.warnings,
    ...(repeated === 0
      ? []
      : [`${counted(repeated, 'input names', 'inputs name')} a file again: it is processed once`]),
    ...(unlisted === 0 ? [] : [notListed(unlisted)]),
  ];
  return { sequences, framesExpected, leftOut: sequences.length < plan.sequences.length, failures, unlisted, warnings };
}

/** Why a batch whose plan has no recordings fails. */
export function nothingToProcess({ leftOut, failures, unlisted }: PlannedBatch): ScenedeltaError {
  const [first] = failures;
  const count = failures.length + unlisted;
  const named = count === 1 ? first?.file : `the first of them ${first?.file}`;
  const failed = `${counted(count, 'input')} failed, ${named}: ${first?.reason}`;
  const why = [
    ...(leftOut ? ['all recordings lie outside since and until'] : []),
    ...(first === undefined ? [] : [failed]),
  ];
  const detail = `expected videos or pictures, and ${why.join('; ') || 'the inputs have none'}`;
  return invalidValue(detail, 'inputs');
}

/** Hands the files over one by one, so that they are not kept twice. */
function* drained(files: Map<string, ListedFile>): Generator<ListedFile> {
  for (const [name, file] of files) {
    files.delete(name);
    yield file;
  }
}

const notListed = (count: number): string =>
  `${counted(count, 'more input')} failed: the first ${MAX_FAILURES} are listed with their reasons`;

const namedTwice = ({ file, stated }: ListedFile): FootageFailure => ({
  v: 1,
  camera: stated?.camera ?? null,
  file,
  seconds: null,
  code: 'invalid-value',
  reason: 'is named twice with other values: the first of them is processed',
});

async function* listInput(
  batch: string,
  input: BatchInput,
  { files, s3 }: PlanDependencies,
): AsyncGenerator<ListedFile> {
  if (input.from === 's3') yield* listObjects(`s3://${input.bucket}/${input.prefix}`, s3);
  else if (input.from === 'url') yield fileAt(input.url);
  else {
    const path = files.uploadOf(batch, input.number);
    const { name } = input;
    yield { kind: kindOf(name) ?? 'video', file: name, location: { from: 'file', path }, modifiedAt: null };
  }
}

function fileAt(url: string, stated?: ListedFile['stated']): ListedFile {
  const s3 = /^s3:\/\/([^/]+)\/(.+)$/.exec(url);
  const [path] = url.split(/[?#]/) as [string];
  const location: Location =
    s3 === null ? { from: 'url', url } : { from: 's3', bucket: s3[1] as string, key: s3[2] as string };
  const kind = kindOf(path) ?? 'image';
  if (stated === undefined) return { kind, file: path, location, modifiedAt: null };
  return { kind, file: path, location, modifiedAt: null, stated };
}

type ManifestLine = { readonly file: ListedFile } | { readonly failure: FootageFailure };

/** A line that cannot be used is a failure; the others are processed. */
async function* readManifest(path: string): AsyncGenerator<ManifestLine> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (line.trim() === '') continue;
    try {
      const { file, camera, at } = checkLine(JSON.parse(line)) as { file: string; camera?: string; at?: string };
      yield { file: fileAt(file, { camera: camera ?? null, at: at === undefined ? null : Date.parse(at) }) };
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      yield {
        failure: {
          v: 1,
          camera: null,
          file: `line ${number} of the manifest`,
          seconds: null,
          code: 'invalid-value',
          reason,
        },
      };
    }
  }
}

function planOptions({
  template,
  timeZone,
  camera,
  start,
  imageInterval,
}: BatchRequest): Omit<PlanOptions, 'ffmpeg' | 'videoPixelLimit' | 'now' | 'signal'> {
  const preset = template === null ? undefined : PRESETS[template];
  const zone = timeZone ?? preset?.timeZone ?? 'UTC';
  const compiled = template === null ? null : compileTemplate(preset?.template ?? template, zone);
  return { template: compiled, timeZone: zone, camera, start, imageInterval };
}
