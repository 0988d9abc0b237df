/** A camera that shows nothing of its scene, and its return, as messages to endpoints report them. */
import { type Static, Type } from 'typebox';
import { dateTime, literals, nullable, text, unit } from './constructors.js';
import { LENS, SIGNAL_REASONS, STANDSTILLS } from './loss.js';
import { StatementSchema } from './statement.js';

export const CameraSignalSchema = Type.Object(
  {
    camera: Type.String(),
    cameras: Type.Array(Type.String(), {
      description: 'The cameras that the message is about: several if those of one host or label failed together.',
    }),
    reason: literals(
      [...SIGNAL_REASONS, ...STANDSTILLS, LENS],
      'Why the frames do not show the scene, or did not. silent: no frame has come. stuck: each is the same picture. ' +
        'lens: something on the lens covers a part of it.',
    ),
    detail: nullable(Type.String(), 'The error of the last snapshot; null: none, or no snapshots are pulled.'),
    share: Type.Optional(
      unit('Share of the view that something on the lens covers, or covered last; absent: of other reasons.'),
    ),
    since: dateTime('Capture time of the first of these frames; of a silent camera the time of its last frame.'),
    caption: text('The reason as a sentence.'),
    content: StatementSchema,
  },
  { $id: 'CameraSignal' },
);
export type CameraSignal = Static<typeof CameraSignalSchema>;
