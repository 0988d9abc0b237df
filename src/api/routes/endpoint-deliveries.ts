/** Routes of the deliveries to an endpoint: a test event, the log, and what it has missed. */
import { type Static, Type } from 'typebox';
import { recoverEndpoint } from '../../jobs/enqueue-delivery.js';
import { checker } from '../../schemas/validation-error.js';
import type { Api } from '../dependencies.js';
import { body, config, findEndpoint, params, tags } from '../endpoints/stored.js';
import { parseTime } from '../parse-time.js';
import { RecoverRequestSchema } from '../schemas/endpoints.js';
import { pageBody, pageQuery, pageResponses, parsePageQuery } from '../schemas/pages.js';
import { BODY_PROBLEMS, json, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const checkRecover = checker(RecoverRequestSchema);

export function endpointDeliveryRoutes(app: Api, deps: RouteContext): void {
  const { enqueueDelivery } = deps;

  const queued = { 202: json('The delivery, which is queued.', ref('Delivery')) };
  const testSchema = {
    operationId: 'testEndpoint',
    summary: 'Send a test event',
    description: 'An invented change of type `endpoint.test`, whatever the filters are.',
    tags,
    params,
    response: { ...queued, ...problems(['not-found']) },
  };
  app.post('/v1/endpoints/:id/test', { schema: testSchema, config }, async ({ params: { id } }, reply) => {
    const delivery = await enqueueDelivery.ofTest(await findEndpoint(deps, id), deps.clock());
    return reply.code(202).send(await deps.deliveries.get(delivery));
  });

  const deliveriesSchema = {
    operationId: 'listEndpointDeliveries',
    summary: 'List the deliveries to an endpoint, the latest first',
    description: 'Each with its log of attempts.',
    tags,
    params,
    querystring: Type.Object(pageQuery(), { additionalProperties: false }),
    response: { ...pageResponses('Delivery'), ...problems(['not-found', 'invalid-value']) },
  };
  app.get('/v1/endpoints/:id/deliveries', { schema: deliveriesSchema, config }, async (request, reply) => {
    const { id } = await findEndpoint(deps, request.params.id);
    return pageBody(request, reply, await deps.deliveries.ofEndpoint(id, parsePageQuery(request.query)));
  });

  const recoverSchema = {
    operationId: 'recoverEndpoint',
    summary: 'Send what an endpoint has missed',
    description:
      'Queues the alerts that pass its filters and have not been delivered: failed ones, and those that were made ' +
      'while it was stopped, disabled or not there yet.',
    tags,
    params,
    body: body('RecoverRequest'),
    response: {
      202: json('What is queued.', ref('Recovered')),
      ...problems(['not-found', ...BODY_PROBLEMS, 'invalid-value']),
    },
  };
  app.post('/v1/endpoints/:id/recover', { schema: recoverSchema, config }, async (request, reply) => {
    const { since } = checkRecover(request.body) as Static<typeof RecoverRequestSchema>;
    const record = await findEndpoint(deps, request.params.id);
    return reply.code(202).send(await recoverEndpoint(record, parseTime(since, 'since'), deps));
  });
}
