/** The two ends of a request that submits a comparison: what its acceptance needs to know, and the answer. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ScenedeltaError } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import type { IncomingFrame } from '../../frames/keep.js';
import type { Comparison } from '../../schemas/comparison.js';
import type { StoredComparison } from '../../stores/comparisons/results.js';
import { isUnavailable } from '../../stores/redis/redis.js';
import type { ApiDependencies, ApiOptions } from '../dependencies.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import type { ApiMetrics } from '../plugins/metrics.js';
import { sendProblem } from '../plugins/problems.js';
import { isImageBody } from './image-body.js';
import { type OutcomeWaiter, parsePrefer } from './wait.js';

export interface RequestContext {
  /** of the new comparison */
  readonly comparisonId: string;
  readonly traceId: string;
  /** W3C trace context of the span of this request, or of the caller */
  readonly traceparent?: string;
  readonly apiKeyId: string;
  /** owner of that key */
  readonly owner: string;
  /** how long the connection waits for the outcome, as `Prefer` says; 0: it does not */
  readonly waitSeconds: number;
}

/** @param traceparent of the span of this request, or of the caller */
export function contextOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, options }: Pick<ApiDependencies, 'clock'> & { readonly options: Pick<ApiOptions, 'waitLimit'> },
  traceparent: string | undefined,
): RequestContext {
  const { waitSeconds, applied } = parsePrefer(request.headers.prefer as string | undefined, options.waitLimit);
  if (applied !== undefined) reply.header('Preference-Applied', applied);
  const apiKeyId = request.apiKeyId ?? LOCAL_KEY_ID;
  return {
    comparisonId: newId('cmp', clock()),
    traceId: request.id,
    ...(traceparent === undefined ? {} : { traceparent }),
    apiKeyId,
    owner: request.owner ?? apiKeyId,
    waitSeconds,
  };
}

/** Counts a comparison that was accepted, by the form of its request, and the bytes of its frames. */
export function countAccepted(
  { accepted, frameBytes }: Pick<ApiMetrics, 'accepted' | 'frameBytes'>,
  request: FastifyRequest,
  queue: 'live' | 'archive',
  frames: readonly IncomingFrame[],
): void {
  const form = request.isMultipart() ? 'multipart' : isImageBody(request) ? 'image' : 'json';
  accepted.inc({ form, queue });
  for (const frame of frames) {
    if (frame.from === 'bytes') frameBytes.inc(frame.bytes.length);
  }
}

/** Waits for the end of an accepted comparison, as long as the request does, and answers 200 or 202, or its problem. */
export type AnswerOutcome = (
  reply: FastifyReply,
  comparison: {
    readonly id: string;
    readonly waitSeconds: number;
    /** absent: a comparison of an earlier request */
    readonly accepted?: StoredComparison;
  },
) => Promise<FastifyReply>;

const RETRY_AFTER_SECONDS = 2;

/** @param present rounds figures and adds links */
export function createAnswerOutcome(
  waiter: OutcomeWaiter,
  present: (comparison: Comparison) => Comparison,
): AnswerOutcome {
  const outcomeOf = async (reply: FastifyReply, { id, waitSeconds, accepted }: Parameters<AnswerOutcome>[1]) => {
    if (accepted !== undefined && waitSeconds === 0) return accepted;
    try {
      return await waiter.outcome(id, waitSeconds, onDisconnect(reply));
    } catch (thrown) {
      // Redis is lost, but the work is accepted; after a 503 the caller would send it again.
      if (accepted !== undefined && isUnavailable(thrown)) return accepted;
      throw thrown;
    }
  };

  return async (reply, waited) => {
    const { id } = waited;
    const stored = await outcomeOf(reply, waited);
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
