/** Bodies of the camera routes. */
import { type Static, Type } from 'typebox';
import { HEALTH_STATES } from '../../camera/settings/health.js';
import { CAMERA_ID_PATTERN } from '../../camera/settings/id-pattern.js';
import { LIGHTS } from '../../camera/settings/light.js';
import { PRESETS, type Preset } from '../../camera/settings/presets.js';
import {
  type CameraSettings,
  CameraSettingsRequestSchema,
  CameraSettingsSchema,
} from '../../camera/settings/settings.js';
import { PendingChangeSchema } from '../../schemas/camera-frame.js';
import { count, dateTime, flag, literals, nullable, text, unit } from '../../schemas/constructors.js';
import { mergePatchOf } from '../../schemas/optional-where-default.js';
import {
  binary,
  FrameBase64Schema,
  FrameBytesSchema,
  FrameInputSchema,
  optionProperties,
} from './comparison-request.js';

export const CameraIdParams = Type.Object({
  id: Type.String({ pattern: CAMERA_ID_PATTERN, description: 'Id of the camera.', examples: ['gate-3'] }),
});

export const StoredFrameSchema = Type.Object(
  { sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) },
  { $id: 'StoredFrame', additionalProperties: false },
);
/** A picture that frames are compared with, in a request. */
export const PictureSchema = Type.Union([FrameBytesSchema, FrameBase64Schema, StoredFrameSchema], {
  $id: 'Picture',
  description: 'bytes in base64, or {"sha256": "..."} of a stored frame of the camera (its ETag)',
});

/** The frame that `before: reference` compares with, in a request. */
const reference = Type.Union([PictureSchema, Type.Null()], {
  description:
    'The frame that `before: reference` compares with: bytes in base64, or {"sha256": "..."} of a ' +
    'stored frame of the camera (its ETag). If it is left out, the earlier reference stays; if there is none, or ' +
    'with null, the next frame becomes the reference.',
});

export type CameraRequest = Partial<CameraSettings> & { preset?: Preset | null; reference?: Static<typeof reference> };
export const CameraRequestSchema = Type.Unsafe<CameraRequest>({
  ...CameraSettingsRequestSchema,
  $id: 'CameraRequest',
  properties: {
    ...(CameraSettingsRequestSchema as unknown as { properties: object }).properties,
    reference: Type.Optional(reference),
  },
});

export const CameraPatchSchema = Type.Unsafe<object>({
  ...mergePatchOf(CameraRequestSchema),
  $id: 'CameraPatch',
  description: 'A JSON merge patch (RFC 7396) of the settings: absent members stay, and null sets a default.',
});

export const CamerasPatchSchema = Type.Object(
  {
    cameras: Type.Array(Type.String({ pattern: CAMERA_ID_PATTERN }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'Ids of the cameras.',
    }),
    patch: Type.Unsafe<object>({ $ref: 'CameraPatch#' }),
  },
  { $id: 'CamerasPatch', additionalProperties: false },
);

const snapshot = CameraSettingsSchema.properties.snapshot.anyOf[0].properties;
export const SnapshotTestRequestSchema = Type.Object(
  {
    url: snapshot.url,
    username: snapshot.username,
    password: snapshot.password,
    certificate: snapshot.certificate,
  },
  { $id: 'SnapshotTestRequest', additionalProperties: false },
);

const LensStatusSchema = Type.Object({
  since: dateTime('Capture time of the first frame that it covers.'),
  share: unit('Share of the view that it covers in the last of them.'),
});
const LENS_STATUS = 'What has covered a fifth of the view or more for `covered_after_s`; null: nothing.';

export const CameraStatusSchema = Type.Object(
  {
    frames: Type.Integer({ description: 'Processed frames.' }),
    waiting: Type.Integer({ description: 'Waiting frames.' }),
    pending: Type.Array(PendingChangeSchema, {
      description: 'Changes that wait for their confirmation by further frames.',
    }),
    last_frame_at: nullable(dateTime(), 'Capture time of the last processed frame.'),
    frozen_since: nullable(
      dateTime(),
      'Capture time from which the frames do not differ at all, if that is longer than `frozen_after_s`.',
    ),
    signal_lost_since: nullable(
      dateTime(),
      'Capture time from which the frames do not show the scene: a lost signal, a damaged or a foreign picture.',
    ),
    lens: nullable(LensStatusSchema, LENS_STATUS),
    interval_s: nullable(Type.Number(), 'Typical time between two frames, in seconds.'),
    light: nullable(literals(LIGHTS), 'Light of the last frame, if `before` is `memory`.'),
    memory: Type.Array(literals(LIGHTS), { description: 'Lights for which there is a background model.' }),
    threshold: nullable(Type.Number(), 'Threshold that `false_alarms_per_day` leads to, if it is set.'),
    false_alarms_per_day: nullable(
      Type.Number(),
      'Expected false alarms per day at that threshold, before confirmation; more than the setting of this name if no ' +
        'stricter threshold was measured.',
    ),
    snapshot: nullable(
      Type.Object({ at: dateTime(), error: nullable(Type.String(), 'null if it returned a frame.') }),
      'Outcome of the last snapshot pull.',
    ),
    snapshot_login: flag('Whether a login is stored for `snapshot`. User name and password are never shown.'),
  },
  { $id: 'CameraStatus' },
);

export const CameraOverviewSchema = Type.Object(
  {
    state: literals(HEALTH_STATES, 'State in a word; `no_frames`: none for longer than usual.'),
    detail: text('A sentence for people about the state, or about the last frame.'),
    last_frame_at: nullable(dateTime(), 'Capture time of the last processed frame.'),
    frozen_since: nullable(dateTime(), 'Capture time of the picture that a stuck camera repeats.'),
    lens: nullable(LensStatusSchema, LENS_STATUS),
    last_failure: nullable(
      Type.Object({ at: dateTime('Its capture time.'), error: Type.String() }),
      'Why the last frame was not compared; null: it was.',
    ),
    comparison: nullable(
      Type.String(),
      'Comparison of the last compared frame: `/v1/comparisons/{id}/frames/after?size=small` is its picture.',
    ),
  },
  { $id: 'CameraOverview' },
);
export type CameraOverview = Static<typeof CameraOverviewSchema>;

export const FalseAlarmBudgetSchema = Type.Object(
  {
    threshold: nullable(
      unit(),
      'Least confidence of a change, computed from the setting `false_alarms_per_day`; null: not known yet.',
    ),
    false_alarms_per_day: nullable(
      Type.Number(),
      'Expected false alarms per day at that threshold, before confirmation.',
    ),
    met: nullable(
      Type.Boolean(),
      'false: more false alarms are expected than the setting accepts; null: not known yet.',
    ),
    rate_ratio: Type.Number({
      description:
        "How many times as often the camera's own frames look changed by mistake as the pairs of the bundle's " +
        'measurement; 1 before the first frame.',
    }),
    frames: count('Own frames that were counted for `rate_ratio`; older ones count less.'),
    detail: text('A sentence for people.'),
  },
  { $id: 'FalseAlarmBudget', description: 'Whether the false-alarm budget can be met at the rate of the frames.' },
);

export const CameraSchema = Type.Object(
  {
    id: Type.String(),
    ...CameraSettingsSchema.properties,
    reference: nullable(Type.Object({ sha256: Type.String() }), 'The reference frame as it is stored, masked.'),
    preset: nullable(literals(PRESETS), 'The preset that the rules of `alerts` are those of; null: other rules.'),
    created_at: dateTime(),
    updated_at: dateTime(),
    notes: Type.Optional(
      Type.Array(Type.Object({ field: text('The setting, as `alerts.severity_rules.0`.'), detail: Type.String() }), {
        description: 'In the answer to PUT and PATCH: what keeps these settings from alerting; absent if nothing does.',
      }),
    ),
    false_alarm_budget: Type.Optional(FalseAlarmBudgetSchema),
    reset: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'In the answer to PUT: settings that the request left out and that lost an earlier value to their default, ' +
          'as `zones` or `alerts.persist_s`; absent if there are none.',
      }),
    ),
    status: Type.Optional(CameraStatusSchema),
    overview: Type.Optional(CameraOverviewSchema),
  },
  {
    $id: 'Camera',
    description:
      'A camera with its settings, defaults filled in. Its status is present only if the camera is read by itself, its ' +
      'overview also in a list with `overview=true`, its false-alarm budget with `false_alarms_per_day`, if the ' +
      'camera is set up or read by itself.',
  },
);
export type Camera = Static<typeof CameraSchema>;

const { callback_url, metadata, deadline_s } = optionProperties;
const frameOptions = {
  captured_at: Type.Optional(
    dateTime("Capture time by the camera's clock; default: now. Frames are processed in this order."),
  ),
  callback_url,
  metadata,
  deadline_s,
};
export const CameraFrameOptionsSchema = Type.Object(frameOptions, { additionalProperties: false });
export type CameraFrameOptions = Static<typeof CameraFrameOptionsSchema>;

/** Query of a frame; a body that is an image has no other place for its time. */
export const CameraFrameQuery = Type.Object({
  captured_at: Type.Optional(dateTime('Capture time, if the body does not state it.')),
});

export const CameraFrameRequestSchema = Type.Object(
  { frame: FrameInputSchema, ...frameOptions },
  { $id: 'CameraFrameRequest', additionalProperties: false, description: 'One frame of a camera.' },
);

export const CameraFrameFormSchema = Type.Object(
  {
    frame: binary('A file, or a text in one of the forms of FrameInput.'),
    ...frameOptions,
    metadata: Type.Optional(text('JSON, at most 4096 bytes.')),
  },
  { $id: 'CameraFrameForm', additionalProperties: false },
);

export const BaselineRequestSchema = Type.Object(
  { frame: PictureSchema },
  { $id: 'BaselineRequest', additionalProperties: false },
);
export type BaselineRequest = Static<typeof BaselineRequestSchema>;

export const BaselineFormSchema = Type.Object(
  { frame: binary('The picture as a file, or its text in base64.') },
  { $id: 'BaselineForm', additionalProperties: false },
);

export const BaselineOrderSchema = Type.Object(
  {
    camera: Type.String(),
    action: literals(['set', 'reset']),
    before: CameraSettingsSchema.properties.before,
    light: nullable(
      literals(LIGHTS),
      'Light of the picture, if `before` is `memory`: it becomes the background of it.',
    ),
    sha256: nullable(Type.String(), 'The picture as it is stored, masked.'),
    settles: Type.Array(Type.String(), { description: 'Ids of the changes that are open and settle with it.' }),
    detail: text('A sentence for people.'),
  },
  { $id: 'BaselineOrder', description: 'An order that the next frame of the camera carries out.' },
);
