/**
 * Intake: reads the event stream, takes the events of changes, alerts and visits over into the publisher's own list,
 * and passes those of comparisons and cameras on. It does not depend on the broker, so that an outage of the broker is
 * not limited by the length of the stream, most of which is comparisons.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../process/logger.js';
import type { StreamEvent } from '../schemas/stream-event.js';
import type { EventCursor } from '../stores/delivery/event-cursor.js';
import { compareEventIds, type StreamedEvent } from '../stores/delivery/events.js';
import type { MqttStore } from '../stores/delivery/mqtt.js';
import type { MqttMetrics } from './metrics.js';

const READ_AT_ONCE = 500;
const PAUSE_MS = 1_000;

export interface IntakeDependencies {
  readonly store: Pick<MqttStore, 'position' | 'take' | 'waiting'>;
  readonly cursor: Pick<EventCursor, 'first' | 'last' | 'next'>;
  /** receives each event that is about no change and no visit */
  readonly onOther: (event: StreamEvent) => void;
  /** called after events were taken over */
  readonly onTaken: () => void;
  readonly metrics: Pick<MqttMetrics, 'waiting' | 'dropped'>;
  readonly logger: Logger;
}

/** Runs until the signal aborts; outages of Redis are waited for. */
export async function runIntake(deps: IntakeDependencies, signal: AbortSignal): Promise<void> {
  const { store, cursor, metrics, logger } = deps;
  let position: string | undefined;
  while (!signal.aborted) {
    try {
      position ??= await startPosition(deps);
      const events = await cursor.next(position, READ_AT_ONCE);
      const last = events.at(-1)?.id;
      if (last === undefined || signal.aborted) continue;
      const taken = events.filter(isPublished);
      const dropped = await store.take(
        taken.map(({ id, event }) => ({ id, event })),
        last,
      );
      position = last;
      if (dropped > 0) {
        metrics.dropped(dropped);
        logger.error({ events: dropped }, 'more change events wait for the broker than are kept: the oldest were lost');
      }
      for (const one of events) {
        if (!isPublished(one)) deps.onOther(one.event);
      }
      if (taken.length > 0) deps.onTaken();
      metrics.waiting(await store.waiting());
    } catch (err) {
      if (signal.aborted) return;
      logger.warn({ reason: (err as Error).message }, 'events cannot be read, trying again');
      position = undefined;
      await sleep(PAUSE_MS);
    }
  }
}

/** A publisher that runs for the first time begins with the next event. */
async function startPosition({ store, cursor, metrics, logger }: IntakeDependencies): Promise<string> {
  const position = await store.position();
  if (position === null) {
    const last = await cursor.last();
    await store.take([], last);
    return last;
  }
  const first = await cursor.first();
  if (first !== null && compareEventIds(first, position) > 0) {
    // How many of them were about changes is not known; it counts as one.
    metrics.dropped(1);
    logger.error({ position, first }, 'the event stream no longer has the events after the last one that was read');
  }
  return position;
}

const isPublished = ({ event: { subject } }: StreamedEvent): boolean =>
  subject.kind === 'change' || subject.kind === 'visit';
