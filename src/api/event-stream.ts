/** Server-sent event streams (WHATWG HTML, 9.2) of comparisons and changes, resumable by Last-Event-ID. */
import { PassThrough } from 'node:stream';
import { type Static, Type } from 'typebox';
import { ChangeSchema } from '../schemas/change.js';
import { FindingSchema } from '../schemas/comparison.js';
import { dateTime, literals, nullable, text } from '../schemas/constructors.js';
import { SIGNAL_REASONS } from '../schemas/loss.js';
import { CAMERA_EVENTS, endsComparison } from '../schemas/stream-event.js';
import { VISIT_EVENTS } from '../schemas/visit.js';
import {
  compareEventIds,
  type EventFilter,
  type EventReader,
  matches,
  type StreamedEvent,
} from '../stores/delivery/events.js';

export const ComparisonEventSchema = Type.Object(
  {
    type: text('Also the name of the event: comparison.finished and so on.'),
    comparison: text('Id of the comparison.'),
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
    type: text('Also the name of the event: change.opened and so on.'),
    change: text('Id of the change.'),
    camera,
    zone,
    kind,
    severity,
    caption: nullable(caption, 'null in events that an older version wrote.'),
    alert: Type.Optional(text('Id of the alert, in events of the types `alert.`.')),
    at: dateTime('Capture time.'),
  },
  {
    $id: 'ChangeEvent',
    description:
      'The `data` of a server-sent event about a change. `alert.opened`, `alert.escalated` and `alert.reverted` are the ' +
      'alerts: events that neither the schedule, the severity nor a cool-down withheld.',
  },
);

export const VisitEventSchema = Type.Object(
  {
    type: literals(VISIT_EVENTS),
    visit: text('Id of the visit.'),
    camera: Type.String(),
    caption: Type.String(),
    at: dateTime('Capture time.'),
  },
  { $id: 'VisitEvent', description: 'A visit has begun or ended.' },
);

export const CameraEventSchema = Type.Object(
  {
    type: literals(CAMERA_EVENTS),
    camera: Type.String(),
    since: dateTime('Capture time of the first of the equal frames, or of those that do not show the scene.'),
    reason: Type.Optional(literals(SIGNAL_REASONS, 'Present for `camera.signal_lost` and `camera.signal_back`.')),
    at: dateTime('Capture time of the frame that it was noticed with.'),
  },
  {
    $id: 'CameraEvent',
    description:
      'A camera repeats one picture (frozen) or does not show its scene (signal_lost), or does so no longer.',
  },
);

export const EndpointEventSchema = Type.Object(
  {
    type: literals(['endpoint.disabled']),
    endpoint: text('Id of the endpoint.'),
    reason: literals(['gone', 'failing'], { description: 'gone: 410. failing: every attempt of 5 days failed.' }),
    detail: text('A sentence for people.'),
    at: dateTime(),
  },
  { $id: 'EndpointEvent', description: 'The service has stopped an endpoint. Only keys with the scope admin see it.' },
);

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

function format(id: string, event: StreamedEvent['event']): string {
  return `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(dataOf(event))}\n\n`;
}

type EventData = Static<
  | typeof ComparisonEventSchema
  | typeof ChangeEventSchema
  | typeof VisitEventSchema
  | typeof CameraEventSchema
  | typeof EndpointEventSchema
>;

function dataOf(event: StreamedEvent['event']): EventData {
  if ('comparisonId' in event) {
    const { type, comparisonId, camera, verdict, at } = event;
    const { kind = null, severity = null, caption = null } = event;
    return { type, comparison: comparisonId, camera, verdict, kind, severity, caption, at };
  }
  if (event.type === 'endpoint.disabled') {
    const { camera: _none, ...data } = event;
    return data;
  }
  if (!('changeId' in event)) return event;
  if ('alertId' in event) {
    const { alertId, changeId, caption = null, ...rest } = event;
    return { ...rest, caption, change: changeId, alert: alertId };
  }
  const { changeId, caption = null, ...rest } = event;
  return { ...rest, caption, change: changeId };
}
