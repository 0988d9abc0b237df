/**
 * Responder of comparison requests: accepts once per Idempotency-Key, waits as `Prefer` says, and answers 200 or 202.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ScenedeltaError } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import type { IncomingFrame } from '../../frames/keep.js';
import { type Span, traced } from '../../process/tracing.js';
import type { Comparison } from '../../schemas/comparison.js';
import type { StoredComparison } from '../../stores/comparisons/results.js';
import { isUnavailable } from '../../stores/redis/redis.js';
import type { ApiDependencies, ApiOptions } from '../dependencies.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import type { ApiMetrics } from '../plugins/metrics.js';
import { sendProblem } from '../plugins/problems.js';
import { traceparentOf } from '../plugins/tracing.js';
import { acceptOnce } from './accept-once.js';
import { isImageBody } from './image-body.js';
import { type OutcomeWaiter, type Preference, parsePrefer } from './wait.js';

export interface RequestContext {
  readonly comparisonId: string;
  readonly traceId: string;
  /** W3C trace context of the span of this request, or of the caller */
  readonly traceparent?: string;
  readonly apiKeyId: string;
  /** owner of that key */
  readonly owner: string;
}

interface Submission {
  /** equal for equal requests */
  readonly fingerprint: string;
  readonly frames: readonly IncomingFrame[];
  readonly queue: 'live' | 'archive';
  /**
   * Once it resolves, no crash loses the work.
   * @param unattended true if no connection waits for the outcome
   * @returns the accepted comparison
   */
  accept(context: RequestContext, unattended: boolean): Promise<StoredComparison>;
}

export type Respond = (request: FastifyRequest, reply: FastifyReply, submission: Submission) => Promise<FastifyReply>;

const RETRY_AFTER_SECONDS = 2;

export function createRespond(context: {
  deps: Pick<ApiDependencies, 'idempotency' | 'clock'>;
  options: Pick<ApiOptions, 'waitLimit'>;
  metrics: ApiMetrics;
  /** rounds figures and adds links */
  present: (comparison: Comparison) => Comparison;
  waiting: OutcomeWaiter;
}): Respond {
  const { deps, options, metrics, present, waiting } = context;

  /**
   * @param comparisonId of the new comparison
   * @returns the id of the request's comparison, and the comparison itself if it is new
   */
  async function acceptComparison(
    request: FastifyRequest,
    reply: FastifyReply,
    { fingerprint, frames, queue, accept }: Submission,
    preference: Preference,
    comparisonId: string,
    traceparent: string | undefined,
  ): Promise<{ comparisonId: string; accepted?: StoredComparison }> {
    const apiKeyId = request.apiKeyId ?? LOCAL_KEY_ID;
    const trace = { traceId: request.id, ...(traceparent === undefined ? {} : { traceparent }) };
    const context = { comparisonId, ...trace, apiKeyId, owner: request.owner ?? apiKeyId };
    const { id, accepted } = await acceptOnce(request, reply, deps.idempotency, {
      fingerprint,
      id: comparisonId,
      accept: () => traced('accept', () => accept(context, preference.waitSeconds === 0)),
    });
    if (accepted === undefined) return { comparisonId: id };
    metrics.accepted.inc({
      form: request.isMultipart() ? 'multipart' : isImageBody(request) ? 'image' : 'json',
      queue,
    });
    for (const frame of frames) {
      if (frame.from === 'bytes') metrics.frameBytes.inc(frame.bytes.length);
    }
    return { comparisonId: id, accepted };
  }

  function answer(reply: FastifyReply, stored: StoredComparison | undefined, id: string): FastifyReply {
    if (stored === undefined || stored.comparison.status === 'cancelled') {
      throw new ScenedeltaError('cancelled', `The comparison ${id} was cancelled or erased`);
    }
    const comparison = present(stored.comparison);
    const { status, error } = comparison;
    if (status === 'finished') return reply.code(200).send(comparison);
    if (status === 'failed' && error !== undefined) return sendProblem(reply, error, { comparison });
    return reply
      .code(202)
      .header('Location', `/v1/comparisons/${id}`)
      .header('Retry-After', RETRY_AFTER_SECONDS)
      .send(comparison);
  }

  const respond = async (
    request: FastifyRequest,
    reply: FastifyReply,
    submission: Submission,
    traceparent: string | undefined,
  ): Promise<FastifyReply> => {
    const preference = parsePrefer(request.headers.prefer as string | undefined, options.waitLimit);
    if (preference.applied !== undefined) reply.header('Preference-Applied', preference.applied);
    const id = newId('cmp', deps.clock());
    // Before the acceptance: a worker may be faster than the answer of Redis to it.
    let following = waiting.follow(id, preference.waitSeconds);
    try {
      const { comparisonId, accepted } = await acceptComparison(
        ...([request, reply, submission, preference, id, traceparent] as const),
      );
      if (comparisonId !== id) {
        following.stop();
        following = waiting.follow(comparisonId, preference.waitSeconds);
      }
      const outcome = await following.until(onDisconnect(reply), accepted).catch((thrown: unknown) => {
        // Redis is lost, but the work is accepted; after a 503 the caller would send it again.
        if (accepted !== undefined && isUnavailable(thrown)) return accepted;
        throw thrown;
      });
      return answer(reply, outcome, comparisonId);
    } finally {
      following.stop();
    }
  };

  return (request, reply, submission) => {
    const parent = traceparentOf(request);
    const route = request.routeOptions.url ?? 'unmatched';
    const respondIn = async (span: Span) => {
      const answered = await respond(request, reply, submission, span.traceparent ?? parent);
      span.set({ 'http.response.status_code': reply.statusCode });
      return answered;
    };
    return traced(`${request.method} ${route}`, respondIn, {
      ...{ parent, traceId: request.id, kind: 'server', from: deps.clock() - reply.elapsedTime },
      attributes: { 'http.request.method': request.method, 'http.route': route },
    });
  };
}

/**
 * @returns a signal that aborts on disconnection; request.signal already aborts when the body has been read (Node's
 * 'close')
 */
function onDisconnect(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // Without a reason, every answer would cost an exception with its stack.
  reply.raw.once('close', () => gone.abort('the connection has closed'));
  return gone.signal;
}
