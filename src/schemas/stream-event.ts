/** Events of the stream KEYS.events: one JSON object per entry, in the field `event`, which GET /v1/events sends. */
import { type Static, Type } from 'typebox';
import { dateTime, literals, nullable, text } from './constructors.js';
import { SEVERITIES } from './kinds.js';
import type { LENS, SignalReason } from './loss.js';
import { SUBJECT_KINDS } from './message.js';

export const SubjectSchema = Type.Object(
  { kind: literals(SUBJECT_KINDS), id: text('That of a camera begins with `camera:`.') },
  { $id: 'Subject', description: 'The thing that an event or a message is about.' },
);

export const StreamEventSchema = Type.Object(
  {
    type: text('Also the name of the event: `comparison.finished`, `change.opened` and so on.'),
    camera: nullable(Type.String()),
    at: dateTime('Capture time; of `comparison.`, `endpoint.` and `batch.` the time of the service.'),
    subject: SubjectSchema,
    kind: nullable(Type.String(), 'Kind of the comparison, change or visit.'),
    severity: nullable(literals(SEVERITIES)),
    zone: nullable(Type.String()),
    caption: nullable(Type.String(), 'The sentence, in English.'),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Fields of the type. `comparison.`: `verdict`. `alert.`: `alert`, its id. `camera.`: `since`, the capture ' +
        'time of the first of the equal frames, or of those that do not show the scene, or the time of the last frame of ' +
        'a silent camera, and `reason`; of silent and stuck cameras also `alert`, the id of the message, and `cameras`, ' +
        'all that failed together; of a covered lens also `share` of the view; ' +
        '`sentence`, the caption in the language of the camera. ' +
        '`endpoint.disabled`: `reason` and `detail`. `batch.`: the members of the batch that count, `frames` of ' +
        '`frames_expected` among them.',
    }),
  },
  {
    $id: 'StreamEvent',
    description:
      'The `data` of one server-sent event. `alert.opened`, `alert.escalated`, `alert.reverted` and ' +
      '`alert.acknowledged` are the alerts: events of changes that neither the schedule, the severity nor a cool-down ' +
      'withheld. Only keys with the scope admin see `endpoint.disabled`: the service has stopped an endpoint. ' +
      '`batch.progress` comes with the first frames of a batch and each further percent of a camera, then ' +
      '`batch.completed`, `batch.failed` or `batch.cancelled`; only its owner and the scope admin see them.',
  },
);
export type StreamEvent = Static<typeof StreamEventSchema>;

/** An event with the members of its head that it has. */
export const streamEvent = (
  given: Pick<StreamEvent, 'type' | 'camera' | 'at' | 'subject'> & Partial<StreamEvent>,
): StreamEvent => ({ kind: null, severity: null, zone: null, caption: null, data: {}, ...given });

/**
 * signal_lost: the frames of a camera do not show its scene; lens_covered: something on its lens hides a part of it.
 * signal_back and lens_clear: the ends.
 */
export interface CameraHealthEvent {
  readonly type: 'camera.signal_lost' | 'camera.signal_back' | 'camera.lens_covered' | 'camera.lens_clear';
  readonly camera: string;
  /** capture time of the first of these frames */
  readonly since: string;
  readonly reason: SignalReason | typeof LENS;
  /** of lens_covered and lens_clear: share of the view that was covered, 0..1 */
  readonly share?: number;
  readonly at: string;
}

/** The sentence of an event about the health of a camera. */
export interface Said {
  /** in English */
  readonly caption: string;
  /** in the language of the camera */
  readonly sentence: string;
}

/** Whether the event ends a comparison. */
export const endsComparison = (type: string): boolean =>
  type === 'comparison.finished' || type === 'comparison.failed' || type === 'comparison.cancelled';
