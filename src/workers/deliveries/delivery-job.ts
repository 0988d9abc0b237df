/**
 * One attempt of one delivery: a webhook by Standard Webhooks 1.0, or a request in the format of an endpoint.
 * It is independent of BullMQ; queue-workers.ts adapts it.
 */
import type { ScenedeltaError } from '../../base/errors.js';
import type { JobGuard } from '../../jobs/job-guard.js';
import { DeliveryJobSchema, parseJob } from '../../jobs/payloads.js';
import { translated } from '../../language/translate.js';
import type { PostOutcome } from '../../outbound/client.js';
import type { Logger } from '../../process/logger.js';
import { type Span, traced } from '../../process/tracing.js';
import type { Delivery, DeliveryAttempt } from '../../schemas/delivery.js';
import type { DeliveryStore } from '../../stores/delivery/deliveries.js';
import type { DeliveryLimits } from './delivery-limits.js';
import { type DeliveredMessage, type MessageDependencies, messageOf } from './delivery-message.js';
import { type EndpointAttempt, type EndpointDependencies, sendToEndpoint } from './endpoint-request.js';
import { signedHeaders } from './sign-webhook.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Wait before each attempt, in ms from the end of the one before. */
export const DELIVERY_SCHEDULE_MS = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;
const JITTER = 0.2;
/** Wait for the other worker that has a delivery. */
export const TAKEN_MS = 2 * SECOND;
/** Upper limit of a receiver's Retry-After. */
const RETRY_AFTER_LIMIT_MS = 24 * HOUR;

/** dropped: the delivery no longer exists. later: the queue should run the job again at `at` (epoch ms). */
export type DeliveryOutcome =
  | { readonly kind: 'delivered' | 'failed' | 'dropped' }
  | { readonly kind: 'later'; readonly at: number };

export interface DeliveryProcessor {
  /**
   * The attempt is in the delivery's log before this resolves.
   * @param isHeld asked before the request: whether no other worker has taken the delivery over
   * @throws ScenedeltaError if the stores are unreachable.
   */
  process(payload: unknown, isHeld?: () => Promise<boolean>): Promise<DeliveryOutcome>;
  /** Ends a delivery that is not tried any more, with the reason in its log. */
  giveUp(payload: unknown, error: ScenedeltaError): Promise<void>;
}

interface DeliveryJobDependencies extends MessageDependencies, EndpointDependencies {
  readonly deliveries: Pick<DeliveryStore, 'get' | 'record'>;
  readonly limits: DeliveryLimits;
  /** 'whsec_...', for callbacks; each endpoint has its own */
  readonly secret: string;
  /** epoch ms */
  readonly clock: () => number;
  /** uniform in [0, 1) */
  readonly random: () => number;
  readonly logger: Logger;
  /**
   * Runs what must be saved after a request was sent, again until the store takes it: a repeated job would send the
   * request again.
   */
  readonly patiently: JobGuard['patiently'];
}

export function createDeliveryProcessor(deps: DeliveryJobDependencies): DeliveryProcessor {
  const { deliveries, clock } = deps;

  /** The delivery's log decides the next step, not the queue, so that a job that was queued again continues it. */
  const record = async (
    delivery: Delivery,
    message: DeliveredMessage | undefined,
    sentAt: number,
    outcome: PostOutcome,
  ): Promise<DeliveryOutcome> => {
    const attempt: DeliveryAttempt = {
      attempt: delivery.attempts.length + 1,
      at: new Date(sentAt).toISOString(),
      status: outcome.status,
      error: outcome.error,
      duration_ms: clock() - sentAt,
    };
    const tries = attempt.attempt - (delivery.resent_after ?? 0);
    const delay = outcome.error === null ? null : delayAfter(tries, outcome, deps.random);
    if (delay === null) {
      const state = outcome.error === null ? 'delivered' : 'failed';
      const event = message?.cameraEvent(message.overtaken ? 'overtaken' : state);
      await deps.patiently(() => deliveries.record(delivery.id, attempt, state, null, event));
      return { kind: state };
    }
    const at = clock() + delay;
    const next = new Date(at).toISOString();
    await deps.patiently(() => deliveries.record(delivery.id, attempt, 'pending', next));
    return { kind: 'later', at };
  };

  const send = async (
    delivery: Delivery,
    message: DeliveredMessage | undefined,
    sentAt: number,
    traceparent: string | undefined,
  ): Promise<EndpointAttempt> => {
    if (message === undefined) return ERASED;
    if (message.overtaken) return OVERTAKEN;
    if (message.url === null) return sendToEndpoint(delivery, message, { at: sentAt, traceparent }, deps);
    const { payload, locale } = message.message;
    const body = JSON.stringify(translated(payload, locale));
    const headers = {
      'content-type': 'application/json',
      ...signedHeaders({ id: delivery.id, at: sentAt, body }, [deps.secret]),
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    return deps.outbound.post(message.url, { body, headers });
  };

  const attempt = async (delivery: Delivery, traceId: string, isHeld: () => Promise<boolean>) => {
    const sentAt = clock();
    const message = await messageOf(delivery, deps);
    const { traceId: ofRequest = traceId, traceparent: parent } = message?.trace ?? {};
    const sending = async (span: Span) => {
      const sent = await send(delivery, message, sentAt, span.traceparent ?? parent);
      if ('status' in sent && sent.status !== null) span.set({ 'http.response.status_code': sent.status });
      return sent;
    };
    // Last of all: an earlier holder, whose request was under way, may have recorded its answer meanwhile.
    const isUnchanged = async () => (await deliveries.get(delivery.id))?.attempts.length === delivery.attempts.length;
    if (!(await isHeld()) || !(await isUnchanged())) return { kind: 'later', at: clock() + TAKEN_MS } as const;
    const attributes = { 'scenedelta.delivery_id': delivery.id, 'scenedelta.attempt': delivery.attempts.length + 1 };
    const outcome = await traced('deliver', sending, { parent, traceId: ofRequest, kind: 'client', attributes });
    if ('kind' in outcome) return { kind: 'later', at: clock() + outcome.waitMs } as const;
    const recorded = await record(delivery, message, sentAt, outcome);
    const { status, error } = outcome;
    const fields = { delivery_id: delivery.id, trace_id: traceId, endpoint_id: delivery.endpoint, status, error };
    deps.logger.info({ ...fields, next: recorded.kind }, 'delivery attempted');
    return recorded;
  };

  return {
    async giveUp(payload, error) {
      const delivery = await deliveries.get(parseJob(DeliveryJobSchema, payload).deliveryId);
      if (delivery?.state !== 'pending') return;
      const message = await messageOf(delivery, deps);
      await record(delivery, message, clock(), { ...ERASED, error: error.message });
    },
    async process(payload, isHeld = async () => true) {
      const job = parseJob(DeliveryJobSchema, payload);
      const delivery = await deliveries.get(job.deliveryId);
      if (delivery === undefined) return { kind: 'dropped' };
      if (delivery.state !== 'pending') return { kind: delivery.state };
      const due = delivery.next_attempt_at === null ? 0 : Date.parse(delivery.next_attempt_at);
      if (due > clock()) return { kind: 'later', at: due };

      const room = deps.limits.enter(delivery.endpoint ?? new URL(delivery.url).origin, job.owner);
      if ('laterAt' in room) return { kind: 'later', at: room.laterAt };
      try {
        return await attempt(delivery, job.traceId, isHeld);
      } finally {
        room.leave();
      }
    },
  };
}

const OVERTAKEN: PostOutcome = {
  status: null,
  error: 'a later alert of the change has been delivered, so this one is not sent any more',
  retryAfterMs: null,
  permanent: true,
};

const ERASED: PostOutcome = {
  status: null,
  error: 'the comparison or change has been erased, or its message is sent no more, so there is nothing to deliver',
  retryAfterMs: null,
  permanent: true,
};

/** @returns ms until the next attempt, or null if there is none. */
function delayAfter(attempt: number, outcome: PostOutcome, random: () => number): number | null {
  const scheduled = DELIVERY_SCHEDULE_MS[attempt];
  // 410 Gone: the receiver asks for no further attempt.
  if (scheduled === undefined || outcome.permanent || outcome.status === 410) return null;
  const jittered = scheduled * (1 - JITTER + 2 * JITTER * random());
  const obeyed = outcome.status === 429 || outcome.status === 503 ? (outcome.retryAfterMs ?? 0) : 0;
  return Math.round(Math.max(jittered, Math.min(obeyed, RETRY_AFTER_LIMIT_MS)));
}
