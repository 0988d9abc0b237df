/** Bodies of the camera routes. */
import { type Static, Type } from 'typebox';
import { CAMERA_ID_PATTERN } from '../../camera/settings/id-pattern.js';
import type { Preset } from '../../camera/settings/presets.js';
import {
  type CameraSettings,
  CameraSettingsRequestSchema,
  CameraSettingsSchema,
} from '../../camera/settings/settings.js';
import { dateTime, text } from '../../schemas/constructors.js';
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
