/**
 * Responder of comparison requests: accepts once per Idempotency-Key, waits as `Prefer` says, and answers 200 or 202.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ScenedeltaError } from '../../errors.js';
import type { IncomingFrame } from '../../frames/keep.js';
import { newId } from '../../ids.js';
import { isUnavailable } from '../../stores/redis.js';
import type { StoredComparison } from '../../stores/results.js';
import type { ApiDependencies, ApiOptions } from '../dependencies.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import type { ApiMetrics } from '../plugins/metrics.js';
import { sendProblem } from '../plugins/problems.js';
import type { Present } from './links-presenter.js';
import { type OutcomeWaiter, type Preference, parsePrefer } from './wait.js';

/** Identifiers of a request: its comparison, its trace and its API key. */
export interface RequestContext {
  readonly comparisonId: string;
  readonly traceId: string;
  readonly apiKeyId: string;
  /** owner of that key */
  readonly owner: string;
}

export interface Submission {
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
  present: Present;
  waiting: OutcomeWaiter;
}): Respond {
  const { deps, options, metrics, present, waiting } = context;

  /**
   * Throws nothing after the acceptance, because a caller that gets an error sends the request again.
   * @returns the id of the request's comparison, and the comparison itself if it is new; it is an earlier one if the
   * Idempotency-Key was used before
   */
  async function acceptOnce(
    request: FastifyRequest,
    reply: FastifyReply,
    { fingerprint, frames, queue, accept }: Submission,
    preference: Preference,
  ): Promise<{ comparisonId: string; accepted?: StoredComparison }> {
    const apiKeyId = request.apiKeyId ?? LOCAL_KEY_ID;
    const comparisonId = newId('cmp', deps.clock());
    const key = request.headers['idempotency-key'] as string | undefined;
    const reservation = key === undefined ? undefined : { apiKeyId, key, fingerprint, comparisonId };
    const earlier = reservation && (await deps.idempotency.reserve(reservation));
    if (earlier !== undefined) {
      reply.header('Idempotent-Replayed', 'true');
      return { comparisonId: earlier.comparisonId };
    }
    let accepted: StoredComparison;
    try {
      const context = { comparisonId, traceId: request.id, apiKeyId, owner: request.owner ?? apiKeyId };
      accepted = await accept(context, preference.waitSeconds === 0);
    } catch (err) {
      if (reservation) await deps.idempotency.release(reservation).catch(() => {});
      throw err;
    }
    if (reservation) {
      await deps.idempotency.confirm(reservation).catch((err: Error) => {
        request.log.warn({ comparison_id: comparisonId, reason: err.message }, 'Idempotency-Key not confirmed');
      });
    }
    metrics.accepted.inc({ form: request.isMultipart() ? 'multipart' : 'json', queue });
    for (const frame of frames) {
      if (frame.from === 'bytes') metrics.frameBytes.inc(frame.bytes.length);
    }
    return { comparisonId, accepted };
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

  return async (request, reply, submission) => {
    const preference = parsePrefer(request.headers.prefer as string | undefined, options.waitLimit);
    if (preference.applied !== undefined) reply.header('Preference-Applied', preference.applied);
    const { comparisonId, accepted } = await acceptOnce(request, reply, submission, preference);
    const outcome = await waiting
      .until(comparisonId, preference.waitSeconds, onDisconnect(reply))
      .catch((thrown: unknown) => {
        // Redis is lost, but the work is accepted; after a 503 the caller would send it again.
        if (accepted !== undefined && isUnavailable(thrown)) return accepted;
        throw thrown;
      });
    return answer(reply, outcome, comparisonId);
  };
}

/**
 * @returns a signal that aborts on disconnection; request.signal already aborts when the body has been read (Node's
 * 'close')
 */
function onDisconnect(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
