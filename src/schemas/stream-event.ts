/** Events of the stream KEYS.events: one JSON object per entry, in the field `event`. */
import type { ChangeEventType, FoundChange } from './change.js';
import type { Comparison, Finding } from './comparison.js';

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
export type StreamEvent = ComparisonEvent | ChangeEvent;

/** Whether the event ends a comparison. */
export const endsComparison = (type: StreamEvent['type']): boolean =>
  type === 'comparison.finished' || type === 'comparison.failed' || type === 'comparison.cancelled';
