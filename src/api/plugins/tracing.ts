/**
 * One trace id from the request to the webhook: the one of the caller's W3C `traceparent`, or a new one. It is in every
 * log line of the request (`trace_id`), in the job and in the answer's `Trace-Id`.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { newTraceId } from '../../base/ids.js';
import { VERSION } from '../../base/version.js';
import { type Span, traced } from '../../process/tracing.js';
import type { Api } from '../dependencies.js';
import { shownPath } from './shown-path.js';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/;
const INVALID = '0'.repeat(32);

/** @returns 32 hex digits */
export function traceIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = TRACEPARENT.exec(String(request.headers.traceparent ?? ''))?.[1];
  return given !== undefined && given !== INVALID ? given : newTraceId();
}

/** @returns the trace context of the caller, which is handed on to the webhook; undefined: none, or an invalid one */
function traceparentOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const [given, traceId] = TRACEPARENT.exec(String(headers.traceparent ?? '')) ?? [];
  return traceId === INVALID ? undefined : given;
}

/** Runs the work of a request in a span that begins with it. @param work gets the trace context that it hands on */
export function inSpan<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  clock: () => number,
  work: (traceparent: string | undefined) => Promise<T>,
): Promise<T> {
  const parent = traceparentOf(request);
  const route = request.routeOptions.url ?? 'unmatched';
  const inside = async (span: Span) => {
    const done = await work(span.traceparent ?? parent);
    span.set({ 'http.response.status_code': reply.statusCode });
    return done;
  };
  return traced(`${request.method} ${route}`, inside, {
    parent,
    traceId: request.id,
    kind: 'server',
    from: clock() - reply.elapsedTime,
    attributes: { 'http.request.method': request.method, 'http.route': route },
  });
}

/** Marks an answer with the id of its request, and with the version of the service, which clients check. */
export const markAnswer = ({ id }: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.headers({ 'Trace-Id': id, 'Scenedelta-Version': VERSION });

export function useTracing(app: Api): void {
  app.addHook('onRequest', async (request, reply) => {
    markAnswer(request, reply);
  });
  app.addHook('onResponse', async (request, reply) => {
    // Probes and scrapes come every few seconds.
    const level = request.url.startsWith('/v1') ? 'info' : 'debug';
    request.log[level](
      {
        method: request.method,
        route: request.routeOptions.url,
        path: shownPath(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'answered',
    );
  });
}
