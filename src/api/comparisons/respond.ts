/** From accepted work to its answer: once a key, waiting as long as the caller prefers, with the outcome or the promise of one. */
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

/** Who asks for which comparison. */
export interface RequestContext {
  readonly comparisonId: string;
  readonly traceId: string;
  readonly apiKeyId: string;
}

export interface Submission {
  /** two requests of one key are the same where this is */
  readonly fingerprint: string;
  readonly frames: readonly IncomingFrame[];
  readonly queue: 'live' | 'archive';
  /**
   * Once resolved, nothing is lost by any crash.
   * @param unattended no connection is held for the outcome
   * @returns the comparison as it was accepted.
   */
  accept(asked: RequestContext, unattended: boolean): Promise<StoredComparison>;
}

export type Respond = (
  request: FastifyRequest,
  reply: FastifyReply,
  submission: Submission,
) => Promise<FastifyReply>;

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
   * @returns the id of the comparison that this request stands for: an earlier one of the same key, or a new one, which is returned
   * too. Once that is accepted, nothing is thrown any more: who is told of a failure sends the request again.
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
      accepted = await accept({ comparisonId, traceId: request.id, apiKeyId }, preference.waitSeconds === 0);
    } catch (err) {
      if (reservation) await deps.idempotency.release(reservation).catch(() => {});
      throw err;
    }
    if (reservation) {
      await deps.idempotency.confirm(reservation).catch((err: Error) => {
        request.log.warn(
          { comparison_id: comparisonId, reason: err.message },
          'Idempotency-Key not confirmed',
        );
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
        // Redis went away, but the work is accepted: 503 would have it sent a second time
        if (accepted !== undefined && isUnavailable(thrown)) return accepted;
        throw thrown;
      });
    return answer(reply, outcome, comparisonId);
  };
}

/** Aborts when the caller has gone. (request.signal does so as soon as the request's body has been read: Node's 'close'.) */
function onDisconnect(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
