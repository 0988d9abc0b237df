/** The part of a comparison that says how a frame of a camera was processed. */
import { type Static, Type } from 'typebox';
import { count, dateTime, literals, nullable, text } from './constructors.js';

const CAMERA_NOTES = [
  'first_frame',
  'before_lost',
  'mask_changed',
  'size_changed',
  'view_changed',
  'gap',
  'duplicate',
  'out_of_order',
  'other_light',
  'regions_left_out',
  'baseline_set',
  'baseline_reset',
  'frozen',
] as const;

export const PendingChangeSchema = Type.Object(
  {
    first_seen: dateTime('Capture time of the first frame that showed it.'),
    frames: count('Frames in a row that showed it.'),
    confirm_frames: Type.Integer({ minimum: 1, description: 'Frames in a row that confirm it.' }),
    detail: text('A sentence for people.'),
  },
  {
    $id: 'PendingChange',
    description: 'A change that waits for its confirmation; `GET /v1/changes` lists it from then on.',
  },
);
export type PendingChange = Static<typeof PendingChangeSchema>;

export const CameraFrameSchema = Type.Object(
  {
    captured_at: dateTime(),
    before: Type.Union(
      [
        Type.Object({
          mode: literals(['previous', 'reference', 'memory'], "The camera's setting."),
          captured_at: nullable(
            dateTime('When "before" was captured, or the background model was last updated; null: unknown.'),
          ),
        }),
        Type.Null(),
      ],
      { description: 'The other side of the comparison; null if the camera has none yet.' },
    ),
    notes: Type.Array(
      Type.Object({
        code: literals(CAMERA_NOTES, 'Stable name.'),
        detail: text('A sentence for people.'),
      }),
      { description: 'Unusual circumstances of this frame.' },
    ),
    nothing_new_since: Type.Optional(
      Type.Object(
        { comparison: text('Id.'), captured_at: dateTime() },
        {
          description:
            'Present if the frame equals the last examined frame of the camera, except for noise: the comparison of ' +
            'that frame. The answer follows from it without a run of the model.',
        },
      ),
    ),
    pending: Type.Optional(
      Type.Array(PendingChangeSchema, {
        description: 'Changes of the camera that wait for their confirmation after this frame.',
      }),
    ),
  },
  { $id: 'CameraFrame', description: "How a camera's frame was processed." },
);
export type CameraFrame = Static<typeof CameraFrameSchema>;
export type CameraNote = CameraFrame['notes'][number];
