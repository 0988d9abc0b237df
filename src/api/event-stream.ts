/** Server-sent event streams (WHATWG HTML, 9.2) of comparisons and changes, resumable by Last-Event-ID. */
import { PassThrough } from 'node:stream';
import { type Static, Type } from 'typebox';
import { ChangeSchema } from '../schemas/change.js';
import { FindingSchema } from '../schemas/comparison.js';
import { dateTime, nullable } from '../schemas/constructors.js';
import { endsComparison } from '../schemas/stream-event.js';
import { compareEventIds, type EventFilter, type EventReader, matches, type StreamedEvent } from '../stores/events.js';

export const ComparisonEventSchema = Type.Object(
  {
    type: Type.String({ description: 'Also the name of the event: comparison.finished and so on.' }),
    comparison: Type.String({ description: 'Id of the comparison.' }),
    camera: nullable(Type.String()),
    verdict: nullable(Type.String()),
    kind: nullable(FindingSchema.properties.kind),
    severity: nullable(FindingSchema.properties.severity),
    caption: nullable(Type.String(), 'null until the comparison is finished.'),
    at: dateTime(),
  },
  { $id: 'ComparisonEvent', description: 'The `data` of one server-sent event.' },
);

const { camera, zone, kind, severity, caption } = ChangeSchema.properties;
export const ChangeEventSchema = Type.Object(
  {
    type: Type.String({ description: 'Also the name of the event: change.opened and so on.' }),
    change: Type.String({ description: 'Id of the change.' }),
    camera,
    zone,
    kind,
    severity,
    caption: nullable(caption, 'null in events that an older version wrote.'),
    at: dateTime('Capture time.'),
  },
  { $id: 'ChangeEvent', description: 'The `data` of a server-sent event about a change.' },
);

/** Proxies close idle connections, often after 30 or 60 s. */
const HEARTBEAT_MS = 15_000;
/** RequestContext of the client, after a connection broke. */
const RECONNECT_MS = 2_000;
/** Most bytes buffered per client. A slower client is disconnected and may resume with Last-Event-ID. */
const BUFFER_LIMIT = 1024 * 1024;

export interface EventStreams {
  /**
   * @param options.since id of an event: later events are replayed first; undefined: only new events
   * @param options.endOnFinal whether the stream ends with the event that ends the comparison
   * @returns the stream; it is already `writableEnded` if the final event was among the replayed ones
   */
  open(filter: EventFilter, options: { since: string | undefined; endOnFinal: boolean }): Promise<PassThrough>;
  readonly size: number;
  /** Ends all streams, so that the service can close. */
  endAll(): void;
}

export function createEventStreams(events: EventReader): EventStreams {
  const open = new Set<PassThrough>();
  return {
    async open(filter, { since, endOnFinal }) {
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
      const heartbeat = setInterval(() => stream.write(':\n\n'), HEARTBEAT_MS);
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
    get size() {
      return open.size;
    },
    endAll() {
      for (const stream of open) stream.end();
    },
  };
}

function format(id: string, event: StreamedEvent['event']): string {
  return `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(dataOf(event))}\n\n`;
}

function dataOf(
  event: StreamedEvent['event'],
): Static<typeof ComparisonEventSchema> | Static<typeof ChangeEventSchema> {
  if ('comparisonId' in event) {
    const { type, comparisonId, camera, verdict, at } = event;
    const { kind = null, severity = null, caption = null } = event;
    return { type, comparison: comparisonId, camera, verdict, kind, severity, caption, at };
  }
  const { changeId, caption = null, ...rest } = event;
  return { ...rest, caption, change: changeId };
}
