/** The body of POST /v1/batches, as JSON and as a form. */
import { type Static, Type } from 'typebox';
import { CAMERA_ID_PATTERN } from '../../camera/settings/id-pattern.js';
import { CameraSettingsRequestSchema, ZoneSchema } from '../../camera/settings/settings.js';
import { BATCH_MODES } from '../../schemas/batch.js';
import { BoxSchema } from '../../schemas/box.js';
import { dateTime, flag, literals } from '../../schemas/constructors.js';
import { addressPattern } from '../../schemas/patterns.js';
import { binary } from './comparison-request.js';

const closed = { additionalProperties: false } as const;

const options = {
  mode: Type.Optional(
    literals(BATCH_MODES, {
      default: 'changes',
      description:
        'changes: every change, as of a live camera. when: the moment at which one place changed, and at which it ' +
        'became again as it was; the recordings are of one camera.',
    }),
  ),
  roi: Type.Optional(
    Type.Intersect([BoxSchema], { description: 'With mode when: the place as a rectangle; or `polygon`.' }),
  ),
  polygon: Type.Optional(
    Type.Intersect([ZoneSchema.properties.polygon], {
      description: 'With mode when: the place as a polygon; or `roi`.',
    }),
  ),
  between: Type.Optional(
    Type.Array(Type.String({ maxLength: 64, examples: ['2026-06-01T12:00:00Z', '12.5s'] }), {
      minItems: 2,
      maxItems: 2,
      description:
        'With mode when: begin and end of the search, as capture times or from the beginning of the recording ' +
        "('12.5s', '01:30:00').",
    }),
  ),
  covered_s: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 86_400,
      default: 60,
      description: 'With mode when: longest time for which something may stand before the place, without a change.',
    }),
  ),
  camera: Type.Optional(
    Type.String({
      pattern: CAMERA_ID_PATTERN,
      description: 'Name of the camera of files that name none; default: the name of their folder.',
      examples: ['gate-3'],
    }),
  ),
  settings: Type.Optional(
    Type.Intersect([CameraSettingsRequestSchema], {
      description:
        'Settings of the cameras, as for PUT /v1/cameras/{id}. A batch sends no alerts. The privacy zones of a camera of ' +
        'the service with the same name apply as well. With mode when, privacy zones alone apply.',
    }),
  ),
  template: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Camera and time from the names: 'frigate', 'dated', or a text as '{camera}/{t:%Y%m%d-%H%M%S}.jpg'.",
      examples: ['frigate'],
    }),
  ),
  time_zone: Type.Optional(
    Type.String({ maxLength: 64, description: 'Time zone of times without one; default: UTC.', examples: ['UTC'] }),
  ),
  start: Type.Optional(dateTime('Capture time of the first frame; the files follow each other without a pause.')),
  image_interval_s: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 86_400, default: 1, description: 'With `start`: between pictures.' }),
  ),
  since: Type.Optional(dateTime('Only frames of this capture time or later.')),
  until: Type.Optional(dateTime('Only frames before this capture time.')),
  every: Type.Optional(
    Type.String({
      pattern: '^(auto|keyframes|all|[0-9]+([.][0-9]+)?(ms|s|m|h|d))$',
      maxLength: 20,
      default: 'auto',
      description:
        "Frames to look at: a duration as '10s', or auto: key frames if at most 4 s apart, else one per second. With " +
        'mode when: the time between two frames that the search may choose; auto is 1 s.',
      examples: ['10s'],
    }),
  ),
  exact: Type.Optional(flag('With a duration: decode every frame, even if key frames are close enough.')),
  across_gaps: Type.Optional(flag('Compare frames across pauses of the recording as well.')),
  merge_window_s: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 86_400,
      description: 'One change instead of several that follow within this time at one place.',
    }),
  ),
  metadata: Type.Optional(Type.Unknown({ description: 'Any JSON, at most 4096 bytes; echoed in the answer.' })),
};

const AddressSchema = Type.String({
  pattern: addressPattern('(https?|s3)'),
  maxLength: 2048,
  examples: ['s3://archive/2026-06-01/'],
});

export const BatchRequestSchema = Type.Object(
  {
    inputs: Type.Array(AddressSchema, {
      minItems: 1,
      maxItems: 1000,
      description: 'Addresses of videos and pictures, and `s3://bucket/prefix` for all objects below it.',
    }),
    ...options,
  },
  { $id: 'BatchRequest', ...closed },
);
export const BatchOptionsSchema = Type.Object(
  { inputs: Type.Optional(BatchRequestSchema.properties.inputs), ...options },
  { $id: 'BatchOptions', ...closed },
);
export type BatchOptions = Static<typeof BatchOptionsSchema>;

export const BatchFormSchema = Type.Object(
  {
    request: Type.Optional(BatchOptionsSchema),
    footage: Type.Optional(
      Type.Array(binary('A video or a picture.'), {
        description: 'Videos or pictures, in files of the same field. Their names may have times.',
      }),
    ),
    manifest: Type.Optional(
      binary(
        'NDJSON with a line per file: {"file": "https://... or s3://...", "camera": "gate-3", "at": "2026-06-01T12:00:00Z"}. ' +
          '`camera` and `at` may be absent. A line that cannot be used is a failure of its own.',
      ),
    ),
  },
  { $id: 'BatchForm', ...closed },
);
