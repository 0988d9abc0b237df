/** The batch resource: recordings that are processed as cameras that run fast. */
import { type Static, Type } from 'typebox';
import { count, dateTime, literals, nullable, text, unit } from './constructors.js';
import { ProblemSchema } from './problem.js';

const BATCH_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];
export const isBatchFinal = (status: BatchStatus): boolean => status !== 'queued' && status !== 'running';

export const BATCH_MODES = ['changes', 'when'] as const;
export type BatchMode = (typeof BATCH_MODES)[number];

export const RESULT_FORMATS = ['ndjson', 'csv', 'json', 'visits', 'vtt', 'html', 'stats'] as const;
/** Formats of a search for the moment at which a place changed. */
const WHEN_FORMATS = ['ndjson', 'json'] as const satisfies readonly ResultFormat[];
export const formatsOf = (mode: BatchMode): readonly ResultFormat[] =>
  mode === 'when' ? WHEN_FORMATS : RESULT_FORMATS;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

const counts = {
  frames: count('Sampled frames so far.'),
  examined: count('Frames that were compared; the others were quiet.'),
  changes: count('Changes found.'),
  visits: count('Visits found: things that at least three frames show. A batch of mode when has none.'),
  gaps: count('Pauses across which nothing was compared.'),
  failures: count('Files and frames that could not be used.'),
};

export type Counts = { readonly [K in keyof typeof counts]: number };
export const eachCount = (value: (name: keyof Counts) => number): Counts =>
  Object.fromEntries(Object.keys(counts).map((name) => [name, value(name as keyof Counts)])) as Counts;
/** Before the first frame. */
export const NO_COUNTS = eachCount(() => 0);

const framesExpected = nullable(
  count(''),
  'Frames that will be sampled in all, estimated from the length of the recordings; null: not known.',
);

export const BatchCameraSchema = Type.Object(
  {
    camera: Type.String(),
    files: count('Videos and pictures of this camera.'),
    starts_at: dateTime('Capture time of the first frame that is wanted.'),
    ends_at: dateTime('Capture time of the last.'),
    reached: nullable(dateTime(), 'Capture time up to which the frames are processed; null before the first.'),
    done: Type.Boolean(),
    ...counts,
    frames_expected: framesExpected,
  },
  { $id: 'BatchCamera' },
);
export type BatchCamera = Static<typeof BatchCameraSchema>;

export const BatchFailureSchema = Type.Object(
  {
    camera: nullable(Type.String(), 'null if it is unknown.'),
    file: text('The input as it was named.'),
    code: text('Code of docs/errors.md.'),
    reason: text('A sentence: the value that came and the value that was expected.'),
  },
  { $id: 'BatchFailure' },
);

export const BatchSchema = Type.Object(
  {
    id: Type.String({ pattern: '^bat_[0-9a-z]{26}$' }),
    mode: literals(BATCH_MODES, 'That of the request.'),
    status: literals(BATCH_STATUSES),
    created_at: dateTime(),
    finished_at: nullable(dateTime(), 'null until the batch has ended.'),
    progress: unit('Share of all recordings that is processed, by their time or by their frames.'),
    ...counts,
    frames_expected: framesExpected,
    cameras: Type.Array(BatchCameraSchema, { description: 'Empty until the inputs have been listed.' }),
    failed_inputs: Type.Array(BatchFailureSchema, {
      maxItems: 100,
      description: 'The first inputs that could not be used at all. The results have every failure.',
    }),
    warnings: Type.Array(Type.String(), {
      description: 'About the inputs as a whole, such as files whose time is that of their last modification.',
    }),
    error: nullable(ProblemSchema, 'Why the batch failed as a whole; null otherwise.'),
    results: nullable(
      Type.Partial(Type.Object(Object.fromEntries(RESULT_FORMATS.map((format) => [format, Type.String()])))),
      'Paths of the results, once the batch is completed. A batch of mode when has ndjson and json.',
    ),
    metadata: Type.Optional(Type.Unknown({ description: 'That of the request.' })),
  },
  { $id: 'Batch' },
);
export type Batch = Static<typeof BatchSchema>;
