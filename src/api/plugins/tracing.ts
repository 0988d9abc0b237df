/**
 * One trace id from the request to the webhook: the one of the caller's W3C `traceparent`, or a new one. It is in every
 * log line of the request (`trace_id`), in the job and in the answer's `Trace-Id`.
 */
import type { IncomingMessage } from 'node:http';
import { newTraceId } from '../../base/ids.js';
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
export function traceparentOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const [given, traceId] = TRACEPARENT.exec(String(headers.traceparent ?? '')) ?? [];
  return traceId === INVALID ? undefined : given;
}

export function useTracing(app: Api): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('Trace-Id', request.id);
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
