/**
 * Redis commands that save the changes and alerts of a camera's turn. They are part of a larger atomic step (turns.ts).
 * Writing them twice changes nothing more.
 */
import { deliveryIdOf } from '../../base/ids.js';
import { isoTime } from '../../base/wall-clock.js';
import type { UnseenSpan } from '../../camera/state/state.js';
import type { AlertIntent, ChangeUpdate, FoundChange } from '../../schemas/change.js';
import { CHANGE_STATUSES, type ChangeEventType, type ChangeStatus } from '../../schemas/kinds.js';
import { cameraSubject, type Message } from '../../schemas/message.js';
import type { VectorOfChange } from '../../schemas/search-vector.js';
import { statedAt } from '../../schemas/shown-change.js';
import { type CameraHealthEvent, type Said, type StreamEvent, streamEvent } from '../../schemas/stream-event.js';
import type { VisitEvent } from '../../schemas/visit.js';
import { EXPIRY_SLACK_MS } from '../redis/index-tidying.js';
import { EVENTS_KEPT, KEYS, UNSEEN_KEPT } from '../redis/keys.js';
import type { RedisCommand } from '../redis/redis.js';
import { logEntry } from './change-log.js';
import { encodeVector, VECTOR_FIELD } from './change-vectors.js';

/** A message with all that its delivery needs. */
export interface StoredMessage {
  readonly message: Message;
  /** of an alert that began a cool-down, which depends on its delivery; absent: none */
  readonly cooldown?: Pick<AlertIntent, 'suppressedCount'> & { readonly cooldownKey: string };
  /** of the comparison that caused the message */
  readonly comparisonId: string;
  /** address from the camera's settings, with query and credentials; null: none. Endpoints get every message. */
  readonly url: string | null;
  /** the endpoint that alone gets the message, whatever it asks for; absent: all that want it */
  readonly endpoint?: string;
  readonly traceId: string;
  /** as in the request for the comparison */
  readonly traceparent?: string;
  readonly apiKeyId: string;
}

/** Changes and alerts of one turn of a camera. */
export interface TurnChanges {
  readonly camera: string;
  readonly changes: readonly ChangeUpdate[];
  /** of changes; each is an event of the stream as well */
  readonly alerts: readonly StoredMessage[];
  /** alerts that a cool-down suppressed, for the metrics; not stored */
  readonly suppressed?: number;
  /** search vectors of changes; absent: none */
  readonly vectors?: readonly VectorOfChange[];
  /** visits that began, ended or were linked; absent: none */
  readonly visits?: readonly VisitEvent[];
  /** about visits and the signal of the camera; absent: none */
  readonly messages?: readonly StoredMessage[];
  /** absent: nothing to report */
  readonly health?: readonly (CameraHealthEvent & Said)[];
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
    ...(turn.health ?? []).map(({ type, camera, since, reason, share, at, caption, sentence }) =>
      addEvent(
        streamEvent({
          ...{ type, camera, at, subject: cameraSubject(camera), caption },
          data: { since, reason, sentence, ...(share !== undefined && { share }) },
        }),
      ),
    ),
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

export const writesOfAlert = (alert: StoredMessage, now: number, lifetime: number): RedisCommand[] => [
  addEvent(alertEventOf(alert.message)),
  ...writesOfMessage(alert, now, lifetime),
];

/** The message as its deliveries and recovery read it. */
export function writesOfMessage(stored: StoredMessage, now: number, lifetime: number): RedisCommand[] {
  const { id, at, subject } = stored.message;
  return [
    ['SET', KEYS.alert(id), JSON.stringify(stored), 'PX', lifetime],
    ['ZADD', KEYS.alertsOf(subject.id), at, id],
    ['ZREMRANGEBYSCORE', KEYS.alertsByTime, '-inf', now - lifetime],
    ['ZADD', KEYS.alertsByTime, now, id],
    ['PEXPIRE', KEYS.alertsOf(subject.id), lifetime],
    // Open from now on, so that recovery finds the delivery if a crash prevents its job.
    ['ZADD', KEYS.deliveriesOpen, now, deliveryIdOf(id)],
  ];
}

const eventWrite = (change: FoundChange, type: ChangeEventType): RedisCommand => {
  const at = type === 'change.reverted' ? (change.reverted_at ?? change.last_seen) : change.last_seen;
  return addEvent(eventOf(change, type, at));
};
export const addEvent = (event: StreamEvent): RedisCommand => [
  ...(['XADD', KEYS.events, 'MAXLEN', '~', EVENTS_KEPT, '*', 'event'] as const),
  JSON.stringify(event),
];
export const eventOf = (change: FoundChange, type: ChangeEventType, at: string): StreamEvent => {
  const { id, camera, zone, kind, severity } = change;
  const { caption } = statedAt(type, change);
  return { type, camera, at, subject: { kind: 'change', id }, kind, severity, zone, caption, data: {} };
};

const alertEventOf = ({ id, type, at, camera, subject, kind, severity, zone, caption }: Message): StreamEvent => ({
  type: type.replace('change.', 'alert.'),
  camera,
  at: isoTime(at),
  subject,
  kind,
  severity,
  zone,
  caption,
  data: { alert: id },
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
