/** The delivery resource: one message to one receiver, with all its attempts. */
import { type Static, Type } from 'typebox';
import { dateTime, nullable, text } from './constructors.js';
import { SubjectSchema } from './stream-event.js';

const DeliveryAttemptSchema = Type.Object({
  attempt: Type.Integer({ minimum: 1 }),
  at: Type.String({ format: 'date-time' }),
  status: Type.Union([Type.Integer(), Type.Null()], {
    description: 'HTTP status of the receiver, or reply code of a mail server; null if there was no answer.',
  }),
  error: Type.Union([Type.String(), Type.Null()], {
    description: "Reason of the failure; for an endpoint with the receiver's words.",
  }),
  duration_ms: Type.Number(),
});

export const DELIVERY_ID_PATTERN = '^dlv_[0-9a-z]{26}$';

export const DeliverySchema = Type.Object(
  {
    id: Type.String({ pattern: DELIVERY_ID_PATTERN, description: 'Also the webhook-id, the same at every attempt.' }),
    comparison: Type.Optional(text('The comparison that is delivered, or that caused the message.')),
    subject: Type.Optional(SubjectSchema),
    alert: Type.Optional(text('The alert, if an endpoint receives it.')),
    endpoint: Type.Optional(text('The endpoint that receives it; absent: a callback_url.')),
    event: Type.Optional(text('Type of the event that an endpoint receives.')),
    url: text('Without query and credentials; without the path as well if the path is a secret.'),
    state: Type.Unsafe<'pending' | 'delivered' | 'failed'>(Type.String({ enum: ['pending', 'delivered', 'failed'] })),
    next_attempt_at: nullable(dateTime()),
    resent_after: Type.Optional(
      Type.Integer({ description: 'Number of attempts before it was last sent again by request.' }),
    ),
    attempts: Type.Array(DeliveryAttemptSchema),
  },
  { $id: 'Delivery' },
);
export type Delivery = Static<typeof DeliverySchema>;
export type DeliveryAttempt = Static<typeof DeliveryAttemptSchema>;
