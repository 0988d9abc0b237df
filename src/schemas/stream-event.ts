/** Events of the stream KEYS.events: one JSON object per entry, in the field `event`. */
import type { ChangeEventType, FoundChange } from './change.js';
import type { Comparison, Finding } from './comparison.js';
import type { SignalReason } from './loss.js';
import type { VISIT_EVENTS, Visit } from './visit.js';

export interface ComparisonEvent {
  readonly type: `comparison.${Comparison['status']}`;
  readonly comparisonId: string;
  readonly camera: string | null;
  readonly verdict: string | null;
  /** null until it is finished; older versions wrote none of the three */
  readonly kind?: Finding['kind'] | null;
  readonly severity?: Finding['severity'] | null;
  readonly caption?: string | null;
  readonly at: string;
}
export interface ChangeEvent extends Pick<FoundChange, 'camera' | 'zone' | 'kind' | 'severity'> {
  /** undefined: an older version wrote the event */
  readonly caption?: string;
  readonly type: ChangeEventType;
  readonly changeId: string;
  readonly at: string;
}
/** An alert was made: the event of a change that neither the schedule, the severity nor a cool-down withheld. */
export interface AlertEvent extends Omit<ChangeEvent, 'type'> {
  readonly type: 'alert.opened' | 'alert.escalated' | 'alert.reverted' | 'alert.acknowledged';
  readonly alertId: string;
}
/** A visit has begun or ended, or a rule has alerted it. */
export interface VisitStreamEvent extends Pick<Visit, 'camera' | 'caption'> {
  readonly type: (typeof VISIT_EVENTS)[number];
  /** id of the visit */
  readonly visit: string;
  readonly at: string;
}
/** frozen: a camera repeats one picture; signal_lost: its frames do not show its scene. recovered, back: the ends. */
export const CAMERA_EVENTS = ['camera.frozen', 'camera.recovered', 'camera.signal_lost', 'camera.signal_back'] as const;
export interface CameraHealthEvent {
  readonly type: (typeof CAMERA_EVENTS)[number];
  readonly camera: string;
  /** capture time of the first of these frames */
  readonly since: string;
  /** of signal_lost and signal_back */
  readonly reason?: SignalReason;
  readonly at: string;
}
/** An endpoint was stopped, because its receiver is gone or has failed for too long. */
export interface EndpointEvent {
  readonly type: 'endpoint.disabled';
  readonly endpoint: string;
  readonly reason: 'gone' | 'failing';
  /** a sentence for people */
  readonly detail: string;
  readonly at: string;
  readonly camera: null;
}
export type StreamEvent =
  | ComparisonEvent
  | ChangeEvent
  | AlertEvent
  | VisitStreamEvent
  | CameraHealthEvent
  | EndpointEvent;

/** Whether the event ends a comparison. */
export const endsComparison = (type: StreamEvent['type']): boolean =>
  type === 'comparison.finished' || type === 'comparison.failed' || type === 'comparison.cancelled';
