/**
 * One attempt of one webhook delivery, by Standard Webhooks 1.0.
 * It is independent of BullMQ; queue-workers.ts adapts it.
 */
import { Webhook } from 'standardwebhooks';
import { alertIdOf, deliveryIdOf } from '../ids.js';
import { DeliveryJobSchema, parseJob } from '../jobs/payloads.js';
import type { Logger } from '../logger.js';
import type { OutboundClient, PostOutcome } from '../outbound/client.js';
import type { AlertIntent, CameraEvent } from '../schemas/change.js';
import {
  type AlertPayload,
  buildAlertPayload,
  buildWebhookPayload,
  type WebhookLinks,
  type WebhookPayload,
} from '../schemas/webhook-payload.js';
import type { ChangeStore } from '../stores/changes.js';
import type { Delivery, DeliveryAttempt, DeliveryStore } from '../stores/deliveries.js';
import type { ResultStore } from '../stores/results.js';

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
/** Upper limit of a receiver's Retry-After. */
const RETRY_AFTER_LIMIT_MS = 24 * HOUR;

/** dropped: the delivery no longer exists. later: the queue should run the job again at `at` (epoch ms). */
export type DeliveryOutcome =
  | { readonly kind: 'delivered' | 'failed' | 'dropped' }
  | { readonly kind: 'later'; readonly at: number };

export interface DeliveryProcessor {
  /**
   * The attempt is in the delivery's log before this resolves.
   * @throws ScenedeltaError if the stores are unreachable.
   */
  process(payload: unknown, signal?: AbortSignal): Promise<DeliveryOutcome>;
}

interface DeliveryJobDependencies {
  readonly deliveries: DeliveryStore;
  readonly results: ResultStore;
  readonly changes: Pick<ChangeStore, 'alert' | 'alertsAfter' | 'get'>;
  readonly outbound: Pick<OutboundClient, 'post'>;
  /** 'whsec_...' */
  readonly secret: string;
  readonly links: WebhookLinks;
  /** epoch ms */
  readonly clock: () => number;
  /** uniform in [0, 1) */
  readonly random: () => number;
  readonly logger: Logger;
}

export function createDeliveryProcessor(deps: DeliveryJobDependencies): DeliveryProcessor {
  const { deliveries, clock } = deps;
  const webhook = new Webhook(deps.secret);

  /** The delivery's log decides the next step, not the queue, so that a job that was queued again continues it. */
  const record = async (
    delivery: Delivery,
    message: Message | undefined,
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
    const delay = outcome.error === null ? null : delayAfter(attempt.attempt, outcome, deps.random);
    if (delay === null) {
      const state = outcome.error === null ? 'delivered' : 'failed';
      await deliveries.record(
        delivery.id,
        attempt,
        state,
        null,
        message?.cameraEvent(message.overtaken ? 'overtaken' : state),
      );
      return { kind: state };
    }
    const at = clock() + delay;
    await deliveries.record(delivery.id, attempt, 'pending', new Date(at).toISOString());
    return { kind: 'later', at };
  };

  const send = async (
    delivery: Delivery,
    message: Message | undefined,
    sentAt: number,
    signal: AbortSignal | undefined,
  ): Promise<PostOutcome> => {
    if (message === undefined) return ERASED;
    if (message.overtaken) return OVERTAKEN;
    const body = JSON.stringify(message.payload);
    const headers = signedHeaders(webhook, delivery.id, sentAt, body);
    return deps.outbound.post(message.url, { body, headers, ...(signal === undefined ? {} : { signal }) });
  };

  return {
    async process(payload, signal) {
      const job = parseJob(DeliveryJobSchema, payload);
      const delivery = await deliveries.get(job.deliveryId);
      if (delivery === undefined) return { kind: 'dropped' };
      if (delivery.state !== 'pending') return { kind: delivery.state };
      const due = delivery.next_attempt_at === null ? 0 : Date.parse(delivery.next_attempt_at);
      if (due > clock()) return { kind: 'later', at: due };

      const sentAt = clock();
      const message = await messageOf(delivery, deps);
      const outcome = await send(delivery, message, sentAt, signal);
      const recorded = await record(delivery, message, sentAt, outcome);
      deps.logger.info(
        {
          delivery_id: delivery.id,
          trace_id: job.traceId,
          status: outcome.status,
          error: outcome.error,
          next: recorded.kind,
        },
        'delivery attempted',
      );
      return recorded;
    },
  };
}

interface Message {
  /** with query and credentials */
  readonly url: string;
  readonly payload: WebhookPayload | AlertPayload;
  /** a later alert, which contains this one, has been delivered */
  readonly overtaken: boolean;
  /** input of the change reducer for the end of the delivery; undefined if no cool-down depends on it */
  readonly cameraEvent: (
    state: 'delivered' | 'failed' | 'overtaken',
  ) => { camera: string; event: CameraEvent } | undefined;
}

/** @returns undefined if the comparison or change has been erased. */
async function messageOf(
  delivery: Delivery,
  deps: Pick<DeliveryJobDependencies, 'results' | 'changes' | 'deliveries' | 'links'>,
): Promise<Message | undefined> {
  const { results, changes, links } = deps;
  if (delivery.change === undefined) {
    const stored = await results.get(delivery.comparison);
    if (stored === undefined || stored.request.callbackUrl === null) return undefined;
    const payload = buildWebhookPayload(stored.comparison, links);
    return { url: stored.request.callbackUrl, payload, overtaken: false, cameraEvent: () => undefined };
  }
  const alert = await changes.alert(alertIdOf(delivery.id));
  if (alert === undefined) return undefined;
  const { change, cooldownKey, suppressedCount, id } = alert.intent;
  if ((await changes.get(change.id)) === undefined) return undefined;
  const best = (await results.get(change.comparisons.best))?.comparison;
  return {
    url: alert.url,
    payload: buildAlertPayload(alert.intent, best?.finished_at == null ? null : Date.parse(best.finished_at), links),
    overtaken: await isOvertaken(alert.intent, deps),
    cameraEvent: (state) =>
      cooldownKey === null
        ? undefined
        : {
            camera: change.camera,
            event: { type: `alert.${state}`, alertId: id, cooldownKey, suppressedCount },
          },
  };
}

/**
 * An alert that arrives after a later one of its change would report an outdated state; the later one contained the
 * whole change. Holding the later one back instead could delay it for days if the receiver refuses one alert.
 */
async function isOvertaken(
  { change, at }: AlertIntent,
  { changes, deliveries }: Pick<DeliveryJobDependencies, 'changes' | 'deliveries'>,
): Promise<boolean> {
  const later = await changes.alertsAfter(change.id, at);
  const found = await Promise.all(later.map((id) => deliveries.get(deliveryIdOf(id))));
  return found.some((delivery) => delivery?.state === 'delivered');
}

const OVERTAKEN: PostOutcome = {
  status: null,
  error: 'a later alert of the change has been delivered, so this one is not sent any more',
  retryAfterMs: null,
  permanent: true,
};

const ERASED: PostOutcome = {
  status: null,
  error: 'the comparison or change has been erased, so there is nothing to deliver',
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

/** The id is the same at every attempt, so that a receiver recognises a repetition. @param at time of the attempt */
function signedHeaders(webhook: Webhook, id: string, at: number, body: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': webhook.sign(id, new Date(at), body),
  };
}
