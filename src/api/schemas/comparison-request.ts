/** The body of POST /v1/comparisons, as JSON and as a form. */
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { literals, text, truthShare } from '../../schemas/constructors.js';
import { URL_PATTERN } from '../../schemas/patterns.js';

export const optionProperties = {
  camera: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
      description:
        'Name of the camera, for lists and event streams. If it exists, its settings apply: privacy zones are black, ' +
        'changes count by its zones, areas and `threshold`, `model` and `truth` are its own unless given, and ' +
        'endpoints with the event `pair.compared` get the answer.',
      examples: ['gate-3'],
    }),
  ),
  model: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Name of the bundle that compares the frames; default: the configured one.',
    }),
  ),
  callback_url: Type.Optional(
    Type.String({
      pattern: URL_PATTERN,
      maxLength: 2048,
      description: 'Receives the outcome as a signed webhook (Standard Webhooks 1.0).',
    }),
  ),
  metadata: Type.Optional(
    Type.Unknown({ description: 'Any JSON, at most 4096 bytes; echoed in the answer and the webhook.' }),
  ),
  deadline_s: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 86_400,
      description: 'Seconds after which the comparison is dropped if it has not started.',
    }),
  ),
  truth: Type.Optional(
    truthShare(
      'Share of the things named in sentences that must be true. A noun, colour, place or way that is not probable enough ' +
        'for it gives way to a wider one ("vehicle" for "van"), or is left out. Default: the setting TRUTH.',
    ),
  ),
  seconds_apart: Type.Optional(
    Type.Number({
      minimum: 0,
      description:
        'Time from `before` to `after`: after 5 minutes no move is stated of people and animals, after 2 hours none of ' +
        'vehicles, but what left and what came. Default: not known.',
    }),
  ),
  priority: Type.Optional(
    literals(['live', 'archive'], 'archive work waits in a queue of its own and never delays live work.'),
  ),
};

export const ComparisonOptionsSchema = Type.Object(optionProperties, { additionalProperties: false });
export type ComparisonOptions = Static<typeof ComparisonOptionsSchema>;

const closed = { additionalProperties: false } as const;
// The members have names of their own, because generators of clients number those without.
const FrameTextSchema = Type.String({
  minLength: 1,
  $id: 'FrameText',
  description: 'base64, "data:image/...;base64,...", "https://..." or "s3://bucket/key".',
});
export const FrameBase64Schema = Type.Object(
  { base64: Type.String({ minLength: 1, description: 'The bytes of the image file.' }) },
  { $id: 'FrameBase64', ...closed },
);
const FrameUrlSchema = Type.Object(
  { url: Type.String({ pattern: URL_PATTERN, maxLength: 2048, examples: ['https://cam.example/now.jpg'] }) },
  { $id: 'FrameUrl', ...closed },
);
const S3ObjectSchema = Type.Object(
  {
    bucket: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$', examples: ['archive'] }),
    key: Type.String({ minLength: 1, maxLength: 1024, examples: ['2026/06/01/gate-3.jpg'] }),
  },
  { $id: 'S3Object', ...closed },
);
const FrameS3Schema = Type.Object({ s3: S3ObjectSchema }, { $id: 'FrameS3', ...closed });
/** A frame's bytes as text: no address. */
export const FrameBytesSchema = Type.String({
  minLength: 1,
  $id: 'FrameBytes',
  description: 'base64, or "data:image/...;base64,...".',
});

const BASE64 = '[A-Za-z0-9+/_=\\r\\n-]+';
const SEGMENT = '(?:[^/.][^/]*|[.][^/.][^/]*|[.][.][^/]+)';
const S3_KEY = `${SEGMENT}(?:/${SEGMENT})*`;
const ENCODED = `data:[^,]*;base64,${BASE64}|${BASE64}`;
const S3_ADDRESS = `s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/${S3_KEY}`;
const withPattern = (schema: TSchema, name: string, pattern: string): TSchema => {
  const { properties } = schema as TObject;
  const documented = { ...properties, [name]: { ...properties[name], pattern } };
  return { ...schema, properties: documented } as TSchema;
};
/**
 * The forms of a frame, which are components of the OpenAPI file. Their patterns are only documented: the readers in
 * frame-input.ts check the same, and name the character or the segment that is wrong.
 */
export const FRAME_FORMS: readonly TSchema[] = [
  { ...FrameTextSchema, pattern: `^(?:${URL_PATTERN.slice(1, -1)}|${S3_ADDRESS}|${ENCODED})$` } as TSchema,
  { ...FrameBytesSchema, pattern: `^(?:${ENCODED})$` } as TSchema,
  withPattern(FrameBase64Schema, 'base64', `^${BASE64}$`),
  FrameUrlSchema,
  withPattern(S3ObjectSchema, 'key', `^${S3_KEY}$`),
  FrameS3Schema,
];

export const FrameInputSchema = Type.Union([FrameTextSchema, FrameBase64Schema, FrameUrlSchema, FrameS3Schema], {
  $id: 'FrameInput',
  description:
    'a frame: {"base64": "..."}, {"url": "https://..."}, {"s3": {"bucket": "...", "key": "..."}}, or ' +
    'a string: base64, "data:image/...;base64,...", "https://..." or "s3://bucket/key"',
});
export type FrameInput = Static<typeof FrameInputSchema>;

export const ComparisonRequestSchema = Type.Object(
  { before: FrameInputSchema, after: FrameInputSchema, ...optionProperties },
  { $id: 'ComparisonRequest', additionalProperties: false, description: 'Two frames of one fixed camera.' },
);

export const binary = (description: string) => Type.Unsafe<Buffer>({ type: 'string', format: 'binary', description });

/** Documents the form; its fields are checked as ComparisonOptions. */
export const ComparisonFormSchema = Type.Object(
  {
    before: binary('The earlier frame: a file, or a text in one of the forms of FrameInput.'),
    after: binary('The later frame.'),
    ...optionProperties,
    metadata: Type.Optional(text('JSON, at most 4096 bytes.')),
  },
  { $id: 'ComparisonForm', additionalProperties: false },
);

/** Longer than any caption. */
const MAX_LENGTH = 500;

export const AskRequestSchema = Type.Object(
  {
    sentence: Type.String({
      minLength: 1,
      maxLength: MAX_LENGTH,
      description: 'In English, as the captions are worded: "a white van has appeared on the left".',
    }),
  },
  { $id: 'AskRequest', additionalProperties: false },
);
export type AskRequest = Static<typeof AskRequestSchema>;
