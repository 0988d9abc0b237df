/** Routes of endpoints: the registered receivers of alerts. */
import { type Static, Type } from 'typebox';
import { type EndpointPatch, EndpointPatchSchema, EndpointRequestSchema } from '../../endpoints/settings.js';
import { parseAllowList } from '../../outbound/address.js';
import { text } from '../../schemas/constructors.js';
import { checker } from '../../schemas/validation-error.js';
import type { Api } from '../dependencies.js';
import {
  body,
  config,
  type EndpointResources,
  findEndpoint,
  params,
  presentStored,
  tags,
} from '../endpoints/stored.js';
import { assertOwn, assertSubscription, isOwn, subscriberOf } from '../endpoints/subscription.js';
import { RotateRequestSchema } from '../schemas/endpoints.js';
import { pageBody, pageQuery, pageResponses, parsePageQuery } from '../schemas/pages.js';
import { BODY_PROBLEMS, json, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const checkRequest = checker(EndpointRequestSchema);
const checkPatch = checker(EndpointPatchSchema);
const checkRotate = checker(RotateRequestSchema);

const createSchema = {
  operationId: 'createEndpoint',
  summary: 'Register a receiver of alerts',
  description:
    'It gets every alert that passes its filters, whichever camera it is of. docs/alerts.md has an example of each ' +
    'format. The answer has the secret that signs the requests; it is not shown again. A key without the scope admin ' +
    'subscribes its own browser (format web-push) to its own cameras; that endpoint is its own, and ends with the key.',
  tags,
  body: body('EndpointRequest'),
  response: {
    201: json('The endpoint with its secret.', ref('EndpointCreated'), {
      Location: text('Path of the endpoint.'),
    }),
    ...problems([...BODY_PROBLEMS, 'url-refused', 'invalid-value']),
  },
};
const listSchema = {
  operationId: 'listEndpoints',
  summary: 'List endpoints, the latest created first; without the scope admin the own subscriptions',
  tags,
  querystring: Type.Object(pageQuery(), { additionalProperties: false }),
  response: pageResponses('Endpoint'),
};
const answer = { 200: json('The endpoint.', ref('Endpoint')), ...problems(['not-found']) };
const getSchema = { operationId: 'readEndpoint', summary: 'Read an endpoint', tags, params, response: answer };
const patchSchema = {
  operationId: 'changeEndpoint',
  summary: 'Change an endpoint',
  description:
    'Another address or format, or `enabled: true`, also starts an endpoint again that was stopped. ' +
    'An address of another origin needs `authorization` once more, if the endpoint has one.',
  tags,
  params,
  body: body('EndpointPatch'),
  response: { ...answer, ...problems(['not-found', ...BODY_PROBLEMS, 'url-refused', 'invalid-value']) },
};
const eraseSchema = {
  operationId: 'deleteEndpoint',
  summary: 'Delete an endpoint',
  description: 'Waiting deliveries to it are not sent any more.',
  tags,
  params,
  response: { 204: { description: 'Deleted.', type: 'null' }, ...problems(['not-found']) },
};
const rotateSchema = {
  operationId: 'rotateEndpointSecret',
  summary: 'Replace the secret of an endpoint',
  description:
    'Until the end of the earlier secret each request has two signatures, so that receivers can change over.',
  tags,
  params,
  body: body('RotateRequest'),
  response: {
    200: json('The new secret.', ref('RotatedSecret')),
    ...problems(['not-found', ...BODY_PROBLEMS, 'invalid-value']),
  },
};

/** With another scope than admin a key sees its own subscriptions alone. */
const ownRecords = { scope: 'judge' } as const;

/** Loaded with the first change: no other request needs the checks of each format. */
const changes = () => import('../endpoints/change.js');

export function endpointRoutes(app: Api, deps: RouteContext): void {
  const { endpoints, clock, loginKey, options } = deps;
  const resources: EndpointResources = { endpoints, clock, loginKey, allow: parseAllowList(options.outboundAllow) };

  app.post('/v1/endpoints', { schema: createSchema, config: ownRecords }, async (request, reply) => {
    const given = checkRequest(request.body) as Static<typeof EndpointRequestSchema>;
    const allowed = assertSubscription(given as EndpointPatch & { url: string }, request);
    const { createEndpoint } = await changes();
    const created = await createEndpoint(resources, allowed, subscriberOf(request));
    reply.code(201).header('Location', `/v1/endpoints/${created.id}`);
    return created;
  });

  app.get('/v1/endpoints', { schema: listSchema, config: ownRecords }, async (request, reply) => {
    const page = await endpoints.list(parsePageQuery(request.query));
    const items = page.items.filter((record) => isOwn(record, request));
    return pageBody(request, reply, { ...page, items: items.map((record) => presentStored(resources, record)) });
  });

  app.get('/v1/endpoints/:id', { schema: getSchema, config: ownRecords }, async (request) =>
    presentStored(resources, assertOwn(await findEndpoint(resources, request.params.id), request)),
  );

  app.patch('/v1/endpoints/:id', { schema: patchSchema, config }, async (request) => {
    const { changeEndpoint } = await changes();
    return changeEndpoint(resources, request.params.id, checkPatch(request.body) as EndpointPatch);
  });

  app.delete('/v1/endpoints/:id', { schema: eraseSchema, config: ownRecords }, async (request, reply) => {
    const { id } = assertOwn(await findEndpoint(resources, request.params.id), request);
    await endpoints.erase(id);
    return reply.code(204).send();
  });

  app.post('/v1/endpoints/:id/rotate', { schema: rotateSchema, config }, async (request) => {
    const { previous_valid_s = 86_400 } = checkRotate(request.body) as Static<typeof RotateRequestSchema>;
    const { rotateSecret } = await changes();
    return rotateSecret(resources, request.params.id, previous_valid_s * 1000);
  });
}
