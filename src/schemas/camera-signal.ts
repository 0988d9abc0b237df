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

/** A message as it is stored and delivered to endpoints. */
export interface SignalNotice {
  /** 'alr_...' */
  readonly id: string;
  readonly type: (typeof SIGNAL_EVENTS)[number];
  readonly signal: CameraSignal;
  /** capture time, epoch ms */
  readonly at: number;
}

/** @returns the id of the subject of a camera's messages; no other id has a colon */
export const signalSubject = (camera: string): string => `camera:${camera}`;
