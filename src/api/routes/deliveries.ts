/** Route of the webhook deliveries of a comparison. */
import { Type } from 'typebox';
import { DeliverySchema } from '../../stores/deliveries.js';
import { findComparison } from '../comparisons/find-comparison.js';
import type { Api, ApiDependencies } from '../dependencies.js';
import { ComparisonIdParams, json, problems, ref } from '../schemas/shared.js';

export function deliveryRoutes(app: Api, deps: Pick<ApiDependencies, 'results' | 'deliveries'>): void {
  const schema = {
    operationId: 'listDeliveries',
    summary: 'List the webhook deliveries of a comparison',
    description: 'Each with its log of attempts; empty if no callback_url was given or the comparison has not ended.',
    tags: ['comparisons'],
    params: ComparisonIdParams,
    response: {
      200: json('The deliveries.', Type.Object({ items: Type.Array(ref(DeliverySchema)) })),
      ...problems(['not-found']),
    },
  };
  app.get('/v1/comparisons/:id/deliveries', { schema, config: { scope: 'compare' } }, async (request) => {
    await findComparison(deps, request.params.id, request.visibility);
    return { items: await deps.deliveries.ofComparison(request.params.id) };
  });
}
