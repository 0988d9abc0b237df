/**
 * Redis commands that save the changes and alerts of a camera's turn. They are part of a larger atomic step (turns.ts).
 * Writing them twice changes nothing more.
 */
import { deliveryIdOf } from '../../base/ids.js';
import type { UnseenSpan } from '../../camera/fold/state.js';
import { type SignalNotice, signalSubject } from '../../schemas/camera-signal.js';
import {
  type AlertIntent,
  CHANGE_STATUSES,
  type ChangeStatus,
  type ChangeUpdate,
  type FoundChange,
} from '../../schemas/change.js';
import type { VectorOfChange } from '../../schemas/search-vector.js';
import type { AlertEvent, CameraHealthEvent, ChangeEvent, VisitStreamEvent } from '../../schemas/stream-event.js';
import type { VisitEvent, VisitNotice } from '../../schemas/visit.js';
import { EVENTS_KEPT, KEYS, UNSEEN_KEPT } from '../redis/keys.js';
import type { RedisCommand } from '../redis/redis.js';
import { logEntry } from './change-log.js';
import { encodeVector, VECTOR_FIELD } from './change-vectors.js';

/** Retention erases by age. The expiry is later, for a Redis without running workers. */
export const EXPIRY_SLACK_MS = 3_600_000;

/** An alert with all that its delivery needs. */
export interface StoredAlert<Intent extends AlertIntent | VisitNotice | SignalNotice = AlertIntent> {
  readonly intent: Intent;
  /** of the comparison that caused the alert */
  readonly comparisonId: string;
  /** address from the camera's settings, with query and credentials; null: none. Endpoints get every alert. */
  readonly url: string | null;
  readonly traceId: string;
  /** as in the request for the comparison */
  readonly traceparent?: string;
  readonly apiKeyId: string;
}

/** A message of which a delivery is made: an alert, or an event of a visit or of a camera's signal. */
export type StoredMessage = StoredAlert<AlertIntent | VisitNotice | SignalNotice>;

/** @returns the id of the change, visit or signal that a message is about */
export function subjectOf(intent: StoredMessage['intent']): string {
  if ('signal' in intent) return signalSubject(intent.signal.camera);
  return 'visit' in intent ? intent.visit.id : intent.change.id;
}

/** Changes and alerts of one turn of a camera. */
export interface TurnChanges {
  readonly camera: string;
  readonly changes: readonly ChangeUpdate[];
  readonly alerts: readonly StoredAlert[];
  /** alerts that a cool-down suppressed, for the metrics; not stored */
  readonly suppressed?: number;
  /** search vectors of changes; absent: none */
  readonly vectors?: readonly VectorOfChange[];
  /** visits that began, ended or were linked; absent: none */
  readonly visits?: readonly VisitEvent[];
  /** about visits and the signal of the camera; absent: none */
  readonly messages?: readonly StoredMessage[];
  /** absent: nothing to report */
  readonly health?: readonly CameraHealthEvent[];
  /** spans that ended with the frame of the turn */
  readonly unseen?: readonly UnseenSpan[];
  /** number of camera events that the turn applied, and that are removed with its commit */
  readonly eventsApplied: number;
}

/** @param retentionMs time for which a change is kept after its last write, and an alert after it was made */
export function changeWrites(turn: TurnChanges, now: number, retentionMs: number): RedisCommand[] {
  const lifetime = retentionMs + EXPIRY_SLACK_MS;
  return [
    ...turn.changes.flatMap(({ change, event }) => [
      ...writesOfChange(change, now, lifetime),
      ...(event === null ? [] : [eventWrite(change, event), logEntry(change.id)]),
    ]),
    ...(turn.vectors ?? []).map(writeOfVector),
    ...(turn.health ?? []).map(addEvent),
    ...writesOfSpans(turn.camera, turn.unseen ?? [], lifetime),
    ...turn.alerts.flatMap((alert) => writesOfAlert(alert, now, lifetime)),
    ...(turn.messages ?? []).flatMap((message) => writesOfMessage(message, now, lifetime)),
    ...(turn.eventsApplied === 0 ? [] : [['LTRIM', KEYS.cameraEvents(turn.camera), turn.eventsApplied, -1] as const]),
  ];
}

function writesOfChange(change: FoundChange, now: number, lifetime: number): RedisCommand[] {
  const { id, camera, status } = change;
  const at = Date.parse(change.confirmed_at);
  const current = statusIndexes(status, camera);
  const left = turnStatuses(camera).filter((index) => !current.includes(index));
  return [
    ['HSET', KEYS.change(id), 'change', JSON.stringify(change)],
    ['PEXPIRE', KEYS.change(id), lifetime],
    ['ZADD', KEYS.changesByWriting, now, id],
    ...(change.reverted_at === null
      ? []
      : [['ZADD', KEYS.changesByEnd(camera), Date.parse(change.reverted_at), id] as const]),
    ...left.map((index) => ['ZREM', index, id] as const),
    ...[KEYS.changesByTime, KEYS.changesByCamera(camera), ...current].map((index) => ['ZADD', index, at, id] as const),
  ];
}

/** It is part of the hash of the change, and so is erased with it. */
const writeOfVector = ({ change, vector }: VectorOfChange): RedisCommand => [
  'HSET',
  KEYS.change(change),
  VECTOR_FIELD,
  encodeVector(vector),
];

function writesOfSpans(camera: string, spans: readonly UnseenSpan[], lifetime: number): RedisCommand[] {
  if (spans.length === 0) return [];
  const key = KEYS.cameraUnseen(camera);
  return [
    ...spans.map((span) => ['ZADD', key, span.until, JSON.stringify(span)] as const),
    ['ZREMRANGEBYRANK', key, 0, -UNSEEN_KEPT - 1],
    ['PEXPIRE', key, lifetime],
  ];
}

export const writesOfAlert = (alert: StoredAlert, now: number, lifetime: number): RedisCommand[] => [
  addEvent(alertEventOf(alert.intent)),
  ...writesOfMessage(alert, now, lifetime),
];

/** The message as its deliveries and recovery read it. */
function writesOfMessage(alert: StoredMessage, now: number, lifetime: number): RedisCommand[] {
  const { id, at } = alert.intent;
  const subject = subjectOf(alert.intent);
  return [
    ['SET', KEYS.alert(id), JSON.stringify(alert), 'PX', lifetime],
    ['ZADD', KEYS.alertsOf(subject), at, id],
    ['ZREMRANGEBYSCORE', KEYS.alertsByTime, '-inf', now - lifetime],
    ['ZADD', KEYS.alertsByTime, now, id],
    ['PEXPIRE', KEYS.alertsOf(subject), lifetime],
    // Open from now on, so that recovery finds the delivery if a crash prevents its job.
    ['ZADD', KEYS.deliveriesOpen, now, deliveryIdOf(id)],
  ];
}

const eventWrite = (change: FoundChange, type: ChangeEvent['type']): RedisCommand => {
  const at = type === 'change.reverted' ? (change.reverted_at ?? change.last_seen) : change.last_seen;
  return addEvent(eventOf(change, type, at));
};
export const addEvent = (event: ChangeEvent | CameraHealthEvent | AlertEvent | VisitStreamEvent): RedisCommand => [
  ...(['XADD', KEYS.events, 'MAXLEN', '~', EVENTS_KEPT, '*', 'event'] as const),
  JSON.stringify(event),
];
export const eventOf = (change: FoundChange, type: ChangeEvent['type'], at: string): ChangeEvent => ({
  type,
  changeId: change.id,
  camera: change.camera,
  zone: change.zone,
  kind: change.kind,
  severity: change.severity,
  caption: change.caption,
  at,
});

const alertEventOf = ({ id, type, change, at }: AlertIntent): AlertEvent => ({
  ...eventOf(change, type, new Date(at).toISOString()),
  type: `alert.${type.slice('change.'.length)}` as AlertEvent['type'],
  alertId: id,
});

/** Indexes of the statuses that a turn writes. `acknowledged` is written by the API. */
const turnStatuses = (camera: string): string[] =>
  CHANGE_STATUSES.filter((status) => status !== 'acknowledged').flatMap((status) => statusIndexes(status, camera));
const statusIndexes = (status: ChangeStatus, camera: string): string[] => [
  KEYS.changesByStatus(status),
  KEYS.changesByStatusAndCamera(status, camera),
];
export const allIndexes = (camera: string): string[] => [
  KEYS.changesByTime,
  KEYS.changesByCamera(camera),
  KEYS.changesByEnd(camera),
  ...CHANGE_STATUSES.flatMap((status) => statusIndexes(status, camera)),
];
