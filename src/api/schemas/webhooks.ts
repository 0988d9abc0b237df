/** Requests that the service sends to receivers (OpenAPI 3.1 `webhooks`), by the `type` of their body. */
import { type EventTraits, MESSAGE_EVENTS } from '../../schemas/message.js';

const header = (name: string, description: string) => ({
  name,
  in: 'header' as const,
  required: true,
  schema: { type: 'string' as const },
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

function describe(type: string, { payload, summary, calledBack }: Described) {
  return {
    post: {
      operationId: `on-${type.replace('.', '-')}`,
      summary,
      description:
        `Sent to the ${calledBack ? '`callback_url` and to the ' : ''}endpoints that want it. Answer first and work ` +
        `afterwards.${payload === 'AlertPayload' ? orderOf(type) : ''}`,
      security: [],
      parameters: HEADERS,
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${payload}` } } },
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

type Described = Pick<EventTraits, 'payload' | 'summary' | 'calledBack'>;
const ofComparison = (summary: string): Described => ({ payload: 'WebhookPayload', summary, calledBack: true });

export const WEBHOOKS = Object.fromEntries(
  Object.entries({
    'comparison.finished': ofComparison('A comparison has finished'),
    'comparison.failed': ofComparison('A comparison has failed for good'),
    ...MESSAGE_EVENTS,
    'alerts.digest': {
      payload: 'DigestPayload',
      summary: 'The messages about a camera that the `limit` of the endpoint held back',
      calledBack: false,
    } satisfies Described,
  }).map(([type, event]) => [type, describe(type, event)]),
);
