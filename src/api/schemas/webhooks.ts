/** Requests that the service sends to receivers (OpenAPI 3.1 `webhooks`), by the `type` of their body. */
import { SIGNAL_EVENTS } from '../../schemas/camera-signal.js';
import { ALERT_TYPES, type ENDPOINT_EVENTS } from '../../schemas/change.js';
import { VISIT_EVENTS } from '../../schemas/visit.js';
import { WEBHOOK_TYPES } from '../../schemas/webhook-payload.js';

const SUMMARIES: Readonly<Record<(typeof WEBHOOK_TYPES)[number] | (typeof ENDPOINT_EVENTS)[number], string>> = {
  'comparison.finished': 'A comparison has finished',
  'comparison.failed': 'A comparison has failed for good',
  'change.opened': 'A change at a camera has been confirmed',
  'change.escalated': 'An open change has become more severe',
  'change.reverted': 'An open change has reverted',
  'change.acknowledged': 'A person has acknowledged an open change',
  'visit.opened': 'A visit has begun: three frames show the thing',
  'visit.ended': 'A visit has ended',
  'visit.alerted': 'A rule about visits holds: a long stay, or something came and went',
  'camera.signal_lost': 'The frames of a camera do not show its scene any more',
  'camera.signal_back': 'The frames of a camera show its scene again',
  'round.compared': 'The comparison of a round of a camera has ended',
};

/** Events that no callback_url receives. */
const ENDPOINTS_ONLY: ReadonlySet<string> = new Set([
  ...['change.acknowledged', 'visit.opened', 'visit.ended'],
  ...SIGNAL_EVENTS,
  'round.compared',
]);

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  schema: { type: 'string' },
  description,
});

/** Standard Webhooks 1.0. */
const HEADERS = [
  header('webhook-id', 'The same at every attempt, so that a receiver can drop duplicates.'),
  header('webhook-timestamp', 'Time of this attempt in epoch seconds; refuse requests older than five minutes.'),
  header('webhook-signature', '`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`, with the webhook secret.'),
];

const ORDER =
  ' Deliveries may overtake each other; the order is the one of `timestamp`. Each alert contains the ' +
  'whole change; once a later one has been delivered, earlier ones of the same change are not ' +
  'attempted again.';
/** Once in full, because the events share it. */
const orderOf = (type: string) => (type === 'change.opened' ? ORDER : ' For their order see `change.opened`.');

function describe(
  type: keyof typeof SUMMARIES,
  component: 'WebhookPayload' | 'AlertPayload' | 'VisitPayload' | 'SignalPayload',
) {
  return {
    post: {
      operationId: `on-${type.replace('.', '-')}`,
      summary: SUMMARIES[type],
      description:
        `Sent to the ${ENDPOINTS_ONLY.has(type) ? '' : '`callback_url` and to the '}endpoints that want it. Answer first and work ` +
        `afterwards.${component === 'AlertPayload' ? orderOf(type) : ''}`,
      security: [],
      parameters: HEADERS,
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${component}` } } },
      },
      responses: {
        '2XX': { description: 'Accepted. The body is ignored.' },
        '410': { description: 'Gone for good: there is no further attempt.' },
        default: {
          description:
            'Not accepted: attempted again after 5 s, 5 min, 30 min and so on; `Retry-After` of 429 and 503 is obeyed.',
        },
      },
    },
  };
}

export const WEBHOOKS = Object.fromEntries([
  ...WEBHOOK_TYPES.map((type) => [type, describe(type, 'WebhookPayload')]),
  ...ALERT_TYPES.map((type) => [type, describe(type, 'AlertPayload')]),
  ...VISIT_EVENTS.map((type) => [type, describe(type, 'VisitPayload')]),
  ...SIGNAL_EVENTS.map((type) => [type, describe(type, 'SignalPayload')]),
  ['round.compared', describe('round.compared', 'WebhookPayload')],
]);
