/** Answers of the camera routes, which the description of the API alone reads. */
import { type Static, Type } from 'typebox';
import { HEALTH_STATES } from '../../camera/settings/health.js';
import { LIGHTS } from '../../camera/settings/light.js';
import { PRESETS } from '../../camera/settings/presets.js';
import { CameraSettingsSchema } from '../../camera/settings/settings.js';
import { PendingChangeSchema } from '../../schemas/camera-frame.js';
import { count, dateTime, flag, literals, nullable, text, unit } from '../../schemas/constructors.js';

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
