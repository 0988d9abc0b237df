/** Routes of event streams: of one comparison, and of all comparisons and changes. */
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { dateTime, literals, text } from '../../schemas/constructors.js';
import { isFinal } from '../../schemas/finding.js';
import { EVENT_ID_PATTERN } from '../../stores/delivery/events.js';
import { findComparison } from '../comparisons/find-comparison.js';
import type { Api } from '../dependencies.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import { ComparisonIdParams, json, media, problems, ref } from '../schemas/shared.js';
import { signToken } from '../tokens.js';
import type { RouteContext } from './context.js';

/** Streams have no timeout: this is the longest time that a timer takes. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
/** Tolerated difference between the clocks of this host and of Redis. */
const CLOCK_SLACK_MS = 5_000;

const HeadersSchema = Type.Object({
  'Last-Event-ID': Type.Optional(
    Type.String({
      pattern: `^$|${EVENT_ID_PATTERN}`,
      description: 'Id of the last received event; the stream continues after it.',
      examples: ['1700000000000-0'],
    }),
  ),
});
/** For browsers, whose event sources send no headers. */
const TokenQuery = Type.Object({
  access_token: Type.Optional(text('An event token of POST /v1/events/token, instead of an API key.')),
});
const security = [{ bearer: [] }, { apiKey: [] }, { eventToken: [] }];
const STREAM =
  'Server-sent events; the schema describes one of them. A comment every 15 s keeps the connection open; when the key ' +
  'has been revoked, the stream ends there.';
/** The fields of a server-sent event. @param data schema of the JSON in `data` */
const serverSentEvent = (data: TSchema) =>
  Type.Object({
    id: Type.String({ pattern: EVENT_ID_PATTERN, description: 'For Last-Event-ID.' }),
    event: text('The `type` of the data.'),
    data: Type.String({ contentMediaType: 'application/json', contentSchema: data }),
  });
const events = media(STREAM, { 'text/event-stream': serverSentEvent(ref('StreamEvent')) });

export function eventRoutes(app: Api, deps: RouteContext): void {
  const { streams } = deps;
  const ofComparison = {
    operationId: 'watchComparison',
    summary: 'Watch one comparison',
    description:
      'Past and future events of it; the stream ends with the event that ends the comparison. A client ' +
      'that resumes after that event gets 204, on which event sources stop.',
    tags: ['events'],
    security,
    params: ComparisonIdParams,
    headers: HeadersSchema,
    querystring: TokenQuery,
    response: {
      200: events,
      204: { description: 'There are no further events.', type: 'null' },
      ...problems(['not-found']),
    },
  };
  const config = { scope: 'read', eventTokens: true } as const;
  const options = { config, handlerTimeout: NO_TIMEOUT_MS } as const;
  app.get('/v1/comparisons/:id/events', { ...options, schema: ofComparison }, async (request, reply) => {
    const { id } = request.params;
    const { comparison } = await findComparison(deps, id, request.visibility);
    const resumed = lastEventId(request);
    const since = resumed ?? String(Date.parse(comparison.created_at) - CLOCK_SLACK_MS);
    const { isStillAllowed } = request;
    const stream = await streams.open({ comparisonId: id }, { since, endOnFinal: true, isStillAllowed });
    // The comparison is final and no event followed the client's last one, so that event was the final one.
    if (isFinal(comparison.status) && !stream.writableEnded) {
      stream.destroy();
      return reply.code(204).send();
    }
    return sendStream(reply, stream);
  });

  const ofAll = {
    operationId: 'watchComparisons',
    summary: 'Watch all comparisons, changes, visits and cameras',
    description: 'New events, or all events after `Last-Event-ID`; about the last 10,000 are kept.',
    tags: ['events'],
    security,
    headers: HeadersSchema,
    querystring: Type.Object(
      {
        ...TokenQuery.properties,
        camera: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Only of this camera.' })),
        heartbeats: Type.Optional(
          literals(['true', 'false'], {
            description:
              'Whether an event `heartbeat` without an id comes at the opening and instead of each comment, as long as ' +
              'Redis answers: without one for longer than 15 s, events may be missing. Default: false.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    response: { 200: events, ...problems() },
  };
  app.get('/v1/events', { ...options, schema: ofAll }, async (request, reply) => {
    const { camera } = request.query;
    const heartbeats = request.query.heartbeats === 'true';
    const { isStillAllowed } = request;
    const stream = await streams.open(
      { ...(camera === undefined ? {} : { camera }), visibility: request.visibility },
      { since: lastEventId(request), endOnFinal: false, heartbeats, isStillAllowed },
    );
    return sendStream(reply, stream);
  });
}

const sendStream = (reply: FastifyReply, stream: Readable) =>
  reply
    .header('Cache-Control', 'no-store')
    // nginx would otherwise buffer events.
    .header('X-Accel-Buffering', 'no')
    .type('text/event-stream')
    .send(stream);

const lastEventId = ({ headers }: FastifyRequest): string | undefined =>
  (headers['last-event-id'] as string | undefined) || undefined;

export function eventTokenRoutes(app: Api, deps: RouteContext): void {
  const schema = {
    operationId: 'createEventToken',
    summary: 'Make a token that opens event streams in a browser',
    description:
      'EventSource sends no headers. With the token in its query, `/v1/events?access_token=...` and ' +
      '`/v1/comparisons/{id}/events?access_token=...` open as they do with the key of this request, for five minutes; ' +
      'an open stream stays open. Call this on a server that has the key, and hand the token to the page.',
    tags: ['events'],
    response: {
      201: json(
        'The token.',
        Type.Object({
          token: Type.String(),
          expires_at: dateTime('Time after which no stream can be opened with it.'),
        }),
      ),
      ...problems(),
    },
  };
  app.post('/v1/events/token', { schema, config: { scope: 'read' } }, async (request, reply) => {
    const { token, expiresAt } = signToken('events', request.apiKeyId ?? LOCAL_KEY_ID, {
      key: deps.linkKey,
      now: deps.clock(),
    });
    reply.code(201).header('Cache-Control', 'no-store');
    return { token, expires_at: new Date(expiresAt).toISOString() };
  });
}
