/**
 * A message to receivers: an alert, or another event that an endpoint can ask for. Delivery, filters, formats and the
 * event stream read its head, and pass `data` on without knowing what it contains. It is built where its event is made.
 */

import type { FilterKind, Severity } from './kinds.js';
import type { ShownFrame } from './shown-change.js';

type Payload = 'WebhookPayload' | 'AlertPayload' | 'VisitPayload' | 'SignalPayload' | 'DigestPayload';
export interface EventTraits<P = Payload> {
  /** schema of the request's body in OpenAPI */
  readonly payload: P;
  readonly summary: string;
  /** whether `min_severity` of an endpoint counts */
  readonly graded: boolean;
  /** whether it ends what people were alerted about */
  readonly ends: boolean;
  /** whether a `callback_url` gets it as well */
  readonly calledBack: boolean;
}
type Others = Partial<Omit<EventTraits, 'payload'>>;
const event = <P extends Payload>(payload: P, summary: string, given: Others = {}): EventTraits<P> => {
  return { payload, summary, graded: false, ends: false, calledBack: false, ...given };
};
const alert = <P extends Payload>(payload: P, summary: string, given: Others = {}): EventTraits<P> =>
  event(payload, summary, { graded: true, calledBack: true, ...given });

/** The events that an endpoint can ask for. */
export const MESSAGE_EVENTS = {
  'change.opened': alert('AlertPayload', 'A change at a camera has been confirmed'),
  'change.escalated': alert('AlertPayload', 'An open change has become more severe'),
  'change.reverted': alert('AlertPayload', 'An open change has reverted', { ends: true }),
  'change.acknowledged': alert('AlertPayload', 'A person has acknowledged an open change', {
    ends: true,
    calledBack: false,
  }),
  'visit.opened': event('VisitPayload', 'A visit has begun: three frames show the thing'),
  'visit.ended': event('VisitPayload', 'A visit has ended', { ends: true }),
  'visit.alerted': alert('VisitPayload', 'A rule about visits holds: a long stay, or something came and went'),
  'camera.silent': event('SignalPayload', 'No frame has come from a camera for `silent_after_s`'),
  'camera.stuck': event('SignalPayload', 'A camera has repeated one picture for `frozen_after_s`'),
  'camera.back': event('SignalPayload', 'A silent or stuck camera shows its scene again', { ends: true }),
  'camera.signal_lost': event('SignalPayload', 'The frames of a camera do not show its scene any more'),
  'camera.signal_back': event('SignalPayload', 'The frames of a camera show its scene again', { ends: true }),
  'camera.lens_covered': event('SignalPayload', 'Something has covered a part of the view for `covered_after_s`'),
  'camera.lens_clear': event('SignalPayload', 'The view of a camera is clear again', { ends: true }),
  'pair.compared': event('WebhookPayload', 'The comparison of a pair of a camera has ended', { graded: true }),
} as const satisfies Readonly<Record<string, EventTraits>>;
export type MessageEvent = keyof typeof MESSAGE_EVENTS;
export const ENDPOINT_EVENTS = Object.keys(MESSAGE_EVENTS) as MessageEvent[];

type EventWith<P extends Payload> = {
  [E in MessageEvent]: (typeof MESSAGE_EVENTS)[E]['payload'] extends P ? E : never;
}[MessageEvent];
const eventsWith = <P extends Payload>(payload: P) =>
  ENDPOINT_EVENTS.filter((type): type is EventWith<P> => MESSAGE_EVENTS[type].payload === payload);
/** Events in the life of a visit. */
export const VISIT_EVENTS = eventsWith('VisitPayload');
export type VisitMessageEvent = EventWith<'VisitPayload'>;
/** Events of a camera that shows nothing of its scene, and its return. */
export const SIGNAL_EVENTS = eventsWith('SignalPayload');
export type SignalEvent = EventWith<'SignalPayload'>;

/**
 * endpoint.test: sent by request. alerts.digest: to an endpoint with a limit, about the messages that it held back.
 * evidence.package: to the bucket that a request names. brief.daily: to an endpoint with a brief.
 * comparison.finished and comparison.failed: to the callback of a comparison alone.
 */
export type MessageType =
  | MessageEvent
  | 'endpoint.test'
  | 'alerts.digest'
  | 'evidence.package'
  | 'brief.daily'
  | 'comparison.finished'
  | 'comparison.failed';
const traitsOf = (type: MessageType): EventTraits | undefined =>
  type in MESSAGE_EVENTS ? MESSAGE_EVENTS[type as MessageEvent] : undefined;
/** Whether it ends what people were alerted about. */
export const endsSubject = (type: MessageType): boolean => traitsOf(type)?.ends === true;
export const isGraded = (type: MessageType): boolean => traitsOf(type)?.graded === true;

export const SUBJECT_KINDS = ['comparison', 'change', 'visit', 'camera', 'endpoint', 'batch'] as const;
/** The thing that a message or an event is about. The id of a camera begins with 'camera:'; no other id has a colon. */
export interface Subject {
  readonly kind: (typeof SUBJECT_KINDS)[number];
  readonly id: string;
}
export const cameraSubject = (camera: string): Subject => ({ kind: 'camera', id: `camera:${camera}` });

export interface Message {
  /** 'alr_...'; that of the delivery for a test event, of the comparison for its end */
  readonly id: string;
  readonly type: MessageType;
  /** '' for a comparison without one */
  readonly camera: string;
  /** all cameras that it is about, `camera` the first of them; absent: `camera` alone */
  readonly cameras?: readonly string[];
  /** capture time, epoch ms */
  readonly at: number;
  readonly subject: Subject;
  /** e.g. 'appear', 'passage' or 'signal_lost' */
  readonly kind: string;
  readonly severity: Severity;
  /** time from which it is so, RFC 3339 */
  readonly since: string;
  /** in English; `content` is its statement, from which it is written in other languages */
  readonly caption: string;
  readonly content?: object | undefined;
  /** text of the language tables in which the caption is the slot `sentence`; absent: the caption alone */
  readonly phrase?: { readonly key: string; readonly n?: number };
  /** id of a zone, for people */
  readonly zone: string | null;
  /** that the filter by zones counts; absent: it lets the message pass */
  readonly zones?: readonly string[];
  /** as `zones`, for the filter by kinds */
  readonly kinds?: readonly FilterKind[];
  /** the frame that shows it; `outlined`: it has maps. null: none */
  readonly picture: ShownFrame | null;
  /** path of its page in the console */
  readonly path: string;
  /** what receivers get, without the links to `picture` */
  readonly data: object;
}
