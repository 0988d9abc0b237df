/** Body of the dry run of a camera's settings. */
import { Type } from 'typebox';
import { count, dateTime, literals, nullable, text, unit } from '../../schemas/constructors.js';
import { ALERT_TYPES, CHANGE_KINDS, SEVERITIES } from '../../schemas/kinds.js';

const DryRunAlertSchema = Type.Object({
  type: literals(ALERT_TYPES),
  at: dateTime('Capture time of the frame that would have caused it.'),
  kind: literals(CHANGE_KINDS),
  caption: Type.String(),
  severity: literals(SEVERITIES),
  zone: nullable(Type.String(), 'Id.'),
  comparison: text('Id of the comparison of that frame.'),
});

export const CameraDryRunSchema = Type.Object(
  {
    camera: Type.String(),
    from: nullable(dateTime(), 'Capture time of the first frame; null without frames.'),
    to: nullable(dateTime(), 'Capture time of the last frame.'),
    frames: count('Frames that were replayed.'),
    alert_count: count('Alerts that would have been sent.'),
    alerts_per_day: nullable(Type.Number(), 'Over the time that the frames cover, gaps excluded; null without any.'),
    suppressed: count('Alerts that a cool-down would have suppressed.'),
    changes: count('Changes that would have been confirmed, with and without an alert.'),
    threshold: nullable(unit(), 'Threshold of the last frame; null: that of the bundle.'),
    alerts: Type.Array(DryRunAlertSchema, { description: 'The last 200, in the order of time.' }),
    limits: Type.Array(Type.String(), { description: 'Sentences about what the replay cannot know.' }),
  },
  { $id: 'CameraDryRun' },
);
