/** The attempt log of webhook deliveries. Redis (deliveries-redis.ts). */
import { type Static, Type } from 'typebox';
import type { CameraEvent } from '../schemas/change.js';

export const DeliveryAttemptSchema = Type.Object({
  attempt: Type.Integer({ minimum: 1 }),
  at: Type.String({ format: 'date-time' }),
  status: Type.Union([Type.Integer(), Type.Null()], {
    description: 'HTTP status of the receiver; null where there was no answer.',
  }),
  error: Type.Union([Type.String(), Type.Null()], {
    description: "Why it did not succeed, in words of our own (never the receiver's body).",
  }),
  duration_ms: Type.Number(),
});

export const DeliverySchema = Type.Object(
  {
    id: Type.String({
      pattern: '^dlv_[0-9a-z]{26}$',
      description: 'Also the webhook-id, the same at every try.',
    }),
    comparison: Type.String({ description: 'What is delivered, or gave rise to the alert.' }),
    change: Type.Optional(Type.String({ description: 'The change that an alert tells of.' })),
    url: Type.String({ description: 'Without query and credentials.' }),
    state: Type.Unsafe<'pending' | 'delivered' | 'failed'>(
      Type.String({ enum: ['pending', 'delivered', 'failed'] }),
    ),
    next_attempt_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    attempts: Type.Array(DeliveryAttemptSchema),
  },
  { $id: 'Delivery' },
);
export type Delivery = Static<typeof DeliverySchema>;
export type DeliveryAttempt = Static<typeof DeliveryAttemptSchema>;

export interface DeliveryStore {
  create(delivery: Delivery): Promise<void>;
  get(id: string): Promise<Delivery | undefined>;
  /** @param tell what a camera hears in the same step, where this attempt is the one that ends the delivery */
  record(
    id: string,
    attempt: DeliveryAttempt,
    state: Delivery['state'],
    nextAttemptAt: string | null,
    tell?: { camera: string; news: CameraEvent },
  ): Promise<void>;
  /** Those of the comparison itself; alerts belong to their change. */
  ofComparison(comparisonId: string): Promise<Delivery[]>;
  ofChange(changeId: string): Promise<Delivery[]>;
}
