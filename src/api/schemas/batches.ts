/** The body of POST /v1/batches, as JSON and as a form. */
import { type Static, Type } from 'typebox';
import { CAMERA_ID_PATTERN } from '../../camera/settings/id-pattern.js';
import { CameraSettingsRequestSchema, ZoneSchema } from '../../camera/settings/settings.js';
import { BATCH_MODES } from '../../schemas/batch.js';
import { BoxSchema } from '../../schemas/box.js';
import { dateTime, literals } from '../../schemas/constructors.js';
import { addressPattern } from '../../schemas/patterns.js';
import { RECORDING_OPTIONS } from '../../schemas/recording-options.js';
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
  ...RECORDING_OPTIONS,
  since: Type.Optional(dateTime('Only frames of this capture time or later.')),
  until: Type.Optional(dateTime('Only frames before this capture time.')),
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
