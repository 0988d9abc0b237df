/** Server-sent event streams (WHATWG HTML, 9.2) of comparisons and changes, resumable by Last-Event-ID. */
import { PassThrough } from 'node:stream';
import { endsComparison } from '../schemas/stream-event.js';
import {
  compareEventIds,
  type EventFilter,
  type EventReader,
  matches,
  type StreamedEvent,
} from '../stores/delivery/events.js';

/** Proxies close idle connections, often after 30 or 60 s. A stream whose key is revoked ends with the next one. */
const HEARTBEAT_MS = 15_000;
/** Without an id: a client that resumes continues after its last real event. */
const HEARTBEAT = 'event: heartbeat\ndata: {}\n\n';
/** Delay after which a client connects again, if a connection broke. */
const RECONNECT_MS = 2_000;
/** Most bytes buffered per client. A slower client is disconnected and may resume with Last-Event-ID. */
const BUFFER_LIMIT = 1024 * 1024;

interface StreamOptions {
  /** id of an event: later events are replayed first; undefined: only new events */
  readonly since: string | undefined;
  /** whether the stream ends with the event that ends the comparison */
  readonly endOnFinal: boolean;
  /** whether events `heartbeat` report that Redis answers; default: no */
  readonly heartbeats?: boolean;
  /** asked with every heartbeat: false ends the stream, an error (Redis is away) does not */
  readonly isStillAllowed: () => Promise<boolean>;
}

export type EventStreams = ReturnType<typeof createEventStreams>;

export function createEventStreams(events: EventReader) {
  const open = new Set<PassThrough>();
  return {
    /** @returns the stream; it is already `writableEnded` if the final event was among the replayed ones */
    async open(filter: EventFilter, options: StreamOptions): Promise<PassThrough> {
      const { since, endOnFinal, heartbeats = false, isStillAllowed } = options;
      const stream = new PassThrough({ highWaterMark: BUFFER_LIMIT });
      let last = since ?? '0';
      let replaying: StreamedEvent[] | undefined = [];
      // Past events are written at once, before the client reads, so the buffer limit applies only after them.
      let allowance = Number.POSITIVE_INFINITY;
      stream.on('drain', () => {
        allowance = BUFFER_LIMIT;
      });
      const write = ({ id, event }: StreamedEvent) => {
        if (stream.writableEnded || compareEventIds(id, last) <= 0) return;
        last = id;
        stream.write(format(id, event));
        if (endOnFinal && endsComparison(event.type)) stream.end();
        else if (stream.writableLength >= allowance) stream.destroy();
      };
      const unsubscribe = events.on((streamed) => {
        if (!matches(streamed, filter)) return;
        if (replaying === undefined) write(streamed);
        else replaying.push(streamed);
      });
      const heartbeat = setInterval(async () => {
        const allowed = await isStillAllowed().catch(() => true);
        if (stream.writableEnded || stream.destroyed) return;
        if (allowed) stream.write(heartbeats && events.isFollowing() ? HEARTBEAT : ':\n\n');
        else stream.end();
      }, HEARTBEAT_MS);
      open.add(stream);
      const release = () => {
        unsubscribe();
        clearInterval(heartbeat);
        open.delete(stream);
      };
      // 'finish' when the service ended the stream, 'close' when the client left, possibly before the end.
      stream.once('finish', release).once('close', release);
      try {
        stream.write(`retry: ${RECONNECT_MS}\n\n`);
        if (heartbeats && events.isFollowing()) stream.write(HEARTBEAT);
        const past = since === undefined ? [] : await events.read(since, filter);
        for (const streamed of [...past, ...replaying]) write(streamed);
        replaying = undefined;
        allowance = stream.writableLength + BUFFER_LIMIT;
      } catch (err) {
        stream.destroy();
        throw err;
      }
      return stream;
    },
    get size(): number {
      return open.size;
    },
    /** Ends all streams, so that the service can close. */
    endAll(): void {
      for (const stream of open) stream.end();
    },
  };
}

const format = (id: string, event: StreamedEvent['event']): string =>
  `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
