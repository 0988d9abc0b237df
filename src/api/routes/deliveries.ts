/** Routes of deliveries: those of a comparison, and sending one again. */
import { Type } from 'typebox';
import { notFound } from '../../base/errors.js';
import { resendDelivery } from '../../jobs/enqueue-delivery.js';
import { DELIVERY_ID_PATTERN } from '../../schemas/delivery.js';
import { findComparison } from '../comparisons/find-comparison.js';
import type { Api } from '../dependencies.js';
import { ComparisonIdParams, json, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const params = Type.Object({
  id: Type.String({
    pattern: DELIVERY_ID_PATTERN,
    description: 'Id of the delivery.',
    examples: ['dlv_01k9x3v5s8q2m7c4w6n1b0t9hz'],
  }),
});

export function deliveryRoutes(app: Api, deps: RouteContext): void {
  const schema = {
    operationId: 'listDeliveries',
    summary: 'List the webhook deliveries of a comparison',
    description: 'Each with its log of attempts; empty if no callback_url was given or the comparison has not ended.',
    tags: ['comparisons'],
    params: ComparisonIdParams,
    response: {
      200: json('The deliveries.', Type.Object({ items: Type.Array(ref('Delivery')) })),
      ...problems(['not-found']),
    },
  };
  app.get('/v1/comparisons/:id/deliveries', { schema, config: { scope: 'read' } }, async (request) => {
    await findComparison(deps, request.params.id, request.visibility);
    return { items: await deps.deliveries.ofSubject(request.params.id) };
  });

  const resendSchema = {
    operationId: 'resendDelivery',
    summary: 'Send a delivery again',
    description: 'At once, then by the whole schedule. Its id and its content stay; earlier attempts stay in the log.',
    tags: ['endpoints'],
    params,
    response: { 202: json('The delivery, which is queued.', ref('Delivery')), ...problems(['not-found']) },
  };
  app.post(
    '/v1/deliveries/:id/resend',
    { schema: resendSchema, config: { scope: 'admin' } },
    async (request, reply) => {
      const { id } = request.params;
      const delivery = (await resendDelivery(id, deps)) ? await deps.deliveries.get(id) : undefined;
      if (delivery !== undefined) return reply.code(202).send(delivery);
      throw notFound(`There is no delivery ${id}: it never was or has expired`);
    },
  );
}
