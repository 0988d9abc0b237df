/** The loss of a camera's signal and its return, as messages to endpoints report them. */
import { type Static, Type } from 'typebox';
import { dateTime, literals, text } from './constructors.js';
import { SIGNAL_REASONS } from './loss.js';
import { StatementSchema } from './statement.js';

/** Events that an endpoint can ask for. */
export const SIGNAL_EVENTS = ['camera.signal_lost', 'camera.signal_back'] as const;

export const CameraSignalSchema = Type.Object(
  {
    camera: Type.String(),
    reason: literals(SIGNAL_REASONS, 'Why the frames do not show the scene, or did not.'),
    since: dateTime('Capture time of the first of these frames.'),
    caption: text('The reason as a sentence.'),
    content: StatementSchema,
  },
  { $id: 'CameraSignal' },
);
export type CameraSignal = Static<typeof CameraSignalSchema>;
