/** The body of POST /v1/comparisons, as JSON and as a form. */
import { type Static, Type } from 'typebox';
import { literals } from '../../schemas/constructors.js';

export const URL_PATTERN = '^https?://[^\\s]+$';

/** Options beside the two frames, in JSON and in a form. */
export const optionProperties = {
  camera: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
      description: 'Name of the camera, for lists and event streams.',
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
    Type.Unknown({
      description: 'Any JSON, at most 4096 bytes; echoed in the answer and the webhook.',
    }),
  ),
  deadline_s: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 86_400,
      description: 'Seconds after which the comparison is dropped if it has not started.',
    }),
  ),
  priority: Type.Optional(
    literals(['live', 'archive'], 'archive work waits in a queue of its own and never delays live work.'),
  ),
};

export const ComparisonOptionsSchema = Type.Object(optionProperties, { additionalProperties: false });
export type ComparisonOptions = Static<typeof ComparisonOptionsSchema>;

const closed = { additionalProperties: false } as const;
export const FrameInputSchema = Type.Union(
  [
    Type.String({ minLength: 1 }),
    Type.Object({ base64: Type.String({ minLength: 1 }) }, closed),
    Type.Object({ url: Type.String({ pattern: URL_PATTERN, maxLength: 2048 }) }, closed),
    Type.Object(
      {
        s3: Type.Object(
          {
            bucket: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$' }),
            key: Type.String({ minLength: 1, maxLength: 1024 }),
          },
          closed,
        ),
      },
      closed,
    ),
  ],
  {
    $id: 'FrameInput',
    description:
      'a frame: {"base64": "..."}, {"url": "https://..."}, {"s3": {"bucket": "...", "key": "..."}}, or ' +
      'a string: base64, "data:image/...;base64,...", "https://..." or "s3://bucket/key"',
  },
);
export type FrameInput = Static<typeof FrameInputSchema>;

export const ComparisonRequestSchema = Type.Object(
  { before: FrameInputSchema, after: FrameInputSchema, ...optionProperties },
  {
    $id: 'ComparisonRequest',
    additionalProperties: false,
    description: 'Two frames of one fixed camera.',
  },
);
export type ComparisonRequest = Static<typeof ComparisonRequestSchema>;

export const binary = (description: string) =>
  Type.Unsafe<Buffer>({ type: 'string', format: 'binary', description });

/** Documents the form; its fields are checked as ComparisonOptions. */
export const ComparisonFormSchema = Type.Object(
  {
    before: binary('The earlier frame: a file, or a text in one of the forms of FrameInput.'),
    after: binary('The later frame.'),
    ...optionProperties,
    metadata: Type.Optional(Type.String({ description: 'JSON, at most 4096 bytes.' })),
  },
  { $id: 'ComparisonForm', additionalProperties: false },
);
