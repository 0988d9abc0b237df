/**
 * Reader of the event stream of comparisons and changes: one blocking XREAD per process, fanned out in memory. A
 * connection per waiting request would exhaust the connections of Redis long before its throughput.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Logger } from '../../process/logger.js';
import type { StreamEvent } from '../../schemas/stream-event.js';
import { EVENTS_KEPT, KEYS } from '../redis/keys.js';
import { redisCall } from '../redis/redis.js';
import { seesCamera, seesComparison, type Visibility } from '../redis/visibility.js';

export interface StreamedEvent {
  /** id of the stream entry, 'ms-sequence', which a client sends back as Last-Event-ID */
  readonly id: string;
  readonly event: StreamEvent;
  /** owner of the comparison or the batch; undefined for other events */
  readonly owner?: string;
}
export interface EventFilter {
  /** only events of this comparison itself */
  readonly comparisonId?: string;
  readonly camera?: string;
  /** default: everything */
  readonly visibility?: Visibility;
}
export type EventReader = ReturnType<typeof createEventReader>;

const BLOCK_MS = 5_000;
const READ_AT_ONCE = 1_000;
const RETRY_MS = 500;
/** Longest time between two reads without a listener: events are read together, and soon after they were written. */
const UNHEARD_MS = 250;

export const EVENT_ID_PATTERN = '^[0-9]{1,15}(-[0-9]{1,15})?$';

/** @returns a number below 0 if `a` comes first. */
export function compareEventIds(a: string, b: string): number {
  const [aTime = 0, aSequence = 0] = a.split('-').map(Number);
  const [bTime = 0, bSequence = 0] = b.split('-').map(Number);
  return aTime - bTime || aSequence - bSequence;
}

/** @param redis for single reads; the blocking reads have a connection of their own */
export function createEventReader(redis: Redis, options: { logger?: Logger } = {}) {
  const listeners = new Set<(streamed: StreamedEvent) => void>();
  const blocking = redis.duplicate({
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    commandTimeout: undefined,
    // A connection that died unnoticed would block without end.
    blockingTimeout: BLOCK_MS,
    blockingTimeoutGrace: BLOCK_MS,
  });
  blocking.on('error', (err) => options.logger?.debug({ reason: err.message }, 'event stream unreachable'));
  let closed = false;
  let wake = () => {};
  /** on the clock of performance */
  let answeredAt = Number.NEGATIVE_INFINITY;

  const publish = (streamed: StreamedEvent) => {
    for (const listener of listeners) {
      try {
        listener(streamed);
      } catch (err) {
        options.logger?.error({ err }, 'an event listener threw');
      }
    }
  };

  /** Waits for a listener. */
  const unheard = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, UNHEARD_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const follow = async () => {
    let last: string | undefined;
    while (!closed) {
      try {
        if (last === undefined) {
          last = (await blocking.xrevrange(KEYS.events, '+', '-', 'COUNT', 1))[0]?.[0] ?? '0-0';
          answeredAt = performance.now();
        }
        const reply = await blocking.xread('COUNT', READ_AT_ONCE, 'BLOCK', BLOCK_MS, 'STREAMS', KEYS.events, last);
        answeredAt = performance.now();
        for (const entry of reply?.[0]?.[1] ?? []) {
          last = entry[0];
          publish(streamed(entry));
        }
        if (listeners.size === 0 && !closed) await unheard();
      } catch (err) {
        if (closed) return;
        options.logger?.warn({ reason: (err as Error).message }, 'event stream interrupted, resuming');
        await sleep(RETRY_MS);
      }
    }
  };
  void follow();

  return {
    /**
     * Passes on every event since the reader first reached Redis, in order, also across outages.
     * @returns how to unsubscribe.
     */
    on(listener: (streamed: StreamedEvent) => void): () => void {
      listeners.add(listener);
      wake();
      return () => void listeners.delete(listener);
    },
    /**
     * The events after `sinceId` (exclusive), oldest first; the stream keeps about the last EVENTS_KEPT events. To
     * resume without a gap, subscribe first, then read, then drop repeated events by `compareEventIds`.
     * @throws ScenedeltaError 'queue-unavailable'
     */
    read: (sinceId: string, filter: EventFilter = {}): Promise<StreamedEvent[]> =>
      redisCall('reading events', async () => {
        const entries = await redis.xrange(KEYS.events, `(${sinceId}`, '+', 'COUNT', EVENTS_KEPT * 2);
        return entries.map(streamed).filter((one) => matches(one, filter));
      }),
    /** Whether Redis has answered lately, so that later events will be passed on. */
    isFollowing: (): boolean => performance.now() - answeredAt < 1.5 * BLOCK_MS,
    async close(): Promise<void> {
      if (closed) return;
      closed = true;
      listeners.clear();
      wake();
      // Not awaited: ioredis never settles a command that waits for a connection if the client disconnects meanwhile.
      blocking.disconnect();
    },
  };
}

export function matches({ event, owner }: StreamedEvent, filter: EventFilter): boolean {
  const { comparisonId, camera, visibility = 'everything' } = filter;
  if (camera !== undefined && camera !== event.camera) return false;
  const { subject } = event;
  if (subject.kind === 'comparison') {
    if (comparisonId !== undefined && comparisonId !== subject.id) return false;
    return seesComparison(visibility, { owner, camera: event.camera });
  }
  if (comparisonId !== undefined) return false;
  if (subject.kind === 'batch') return visibility === 'everything' || visibility.owner === owner;
  return event.camera === null ? visibility === 'everything' : seesCamera(visibility, event.camera);
}

/** @param fields flat: names, each followed by its value */
export function streamed([id, fields]: [id: string, fields: string[]]): StreamedEvent {
  const [, json, , owner] = fields;
  const event = JSON.parse(json ?? 'null') as StreamEvent;
  return owner === undefined ? { id, event } : { id, event, owner };
}
