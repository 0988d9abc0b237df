/** Server-sent events (WHATWG HTML, 9.2): what happens to comparisons and changes, resumable by Last-Event-ID. */
import { PassThrough } from 'node:stream';
import { type Static, Type } from 'typebox';
import { ChangeSchema } from '../schemas/change.js';
import { dateTime, nullable } from '../schemas/constructors.js';
import { endsComparison } from '../schemas/stream-event.js';
import {
  compareEventIds,
  type EventFilter,
  type EventReader,
  matches,
  type StreamedEvent,
} from '../stores/events.js';

export const ComparisonEventSchema = Type.Object(
  {
    type: Type.String({ description: 'Also the name of the event: comparison.finished and so on.' }),
    comparison: Type.String({ description: 'Id of the comparison.' }),
    camera: nullable(Type.String()),
    verdict: nullable(Type.String()),
    at: dateTime(),
  },
  { $id: 'ComparisonEvent', description: 'The `data` of one server-sent event.' },
);

const { camera, zone, kind, severity } = ChangeSchema.properties;
export const ChangeEventSchema = Type.Object(
  {
    type: Type.String({ description: 'Also the name of the event: change.opened and so on.' }),
    change: Type.String({ description: 'Id of the change.' }),
    camera,
    zone,
    kind,
    severity,
    at: dateTime("The camera's time."),
  },
  { $id: 'ChangeEvent', description: 'The `data` of a server-sent event about a change.' },
);

/** Proxies close connections on which nothing moves, often after 30 or 60 s. */
const HEARTBEAT_MS = 15_000;
/** RequestContext of the client, after a connection broke. */
const RECONNECT_MS = 2_000;
/** Bytes that wait for a client. One that leaves more lying is let go; it may come back with Last-Event-ID. */
const BUFFER_LIMIT = 1024 * 1024;

export interface EventStreams {
  /**
   * @param options.since events after this id first; undefined: only what happens from now on
   * @param options.endOnFinal the stream ends with the event that ends the comparison
   * @returns the stream; `writableEnded` already where that event was among the past ones.
   */
  open(
    filter: EventFilter,
    options: { since: string | undefined; endOnFinal: boolean },
  ): Promise<PassThrough>;
  readonly size: number;
  /** Ends all of them, so that the service can close. */
  endAll(): void;
}

export function createEventStreams(events: EventReader): EventStreams {
  const open = new Set<PassThrough>();
  return {
    async open(filter, { since, endOnFinal }) {
      const stream = new PassThrough({ highWaterMark: BUFFER_LIMIT });
      let last = since ?? '0';
      let replaying: StreamedEvent[] | undefined = [];
      // The past is written in one go, before anybody reads: it may wait as a whole, and what comes meanwhile beside it.
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
        if (!matches(streamed.event, filter)) return;
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
      // ended by us, or left by the client, who may not have read to the end
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
    return { type, comparison: comparisonId, camera, verdict, at };
  }
  const { changeId, ...rest } = event;
  return { ...rest, change: changeId };
}
