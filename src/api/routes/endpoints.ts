/** Routes of endpoints: the registered receivers of alerts. */
import { type Static, Type } from 'typebox';
import { type EndpointSecrets, openSecrets, rotated, sealSecrets, shownUrl } from '../../endpoints/secrets.js';
import {
  type EndpointPatch,
  EndpointPatchSchema,
  EndpointRequestSchema,
  SIGNED_FORMATS,
  settingsWith,
} from '../../endpoints/settings.js';
import { ScenedeltaError } from '../../errors.js';
import { newId } from '../../ids.js';
import { parseAllowList } from '../../outbound/address.js';
import { checker } from '../../schemas/validation-error.js';
import type { EndpointRecord } from '../../stores/endpoints.js';
import type { Api, ApiDependencies, ApiOptions } from '../dependencies.js';
import {
  assertAuthorization,
  assertEndpointUrl,
  assertEvents,
  newSecret,
  presentEndpoint,
  secretsOf,
} from '../endpoints/build.js';
import { BODY_PROBLEMS, body, config, endpointOf, params, tags } from '../endpoints/one-endpoint.js';
import { EndpointCreatedSchema, EndpointSchema, RotatedSchema, RotateRequestSchema } from '../schemas/endpoints.js';
import { pageBody, pageQuery, pageResponses, parsePageQuery } from '../schemas/pages.js';
import { json, problems, ref } from '../schemas/shared.js';

const checkRequest = checker(EndpointRequestSchema);
const checkPatch = checker(EndpointPatchSchema);
const checkRotate = checker(RotateRequestSchema);

export function endpointRoutes(
  app: Api,
  deps: Pick<ApiDependencies, 'endpoints' | 'loginKey' | 'clock'>,
  options: ApiOptions,
): void {
  const { endpoints, clock, loginKey } = deps;
  const allow = parseAllowList(options.outboundAllow);

  const find = endpointOf(endpoints);
  const present = (record: EndpointRecord) => {
    let secrets: EndpointSecrets | undefined;
    try {
      secrets = openSecrets(record.id, record.sealed, loginKey);
    } catch {
      // Listed all the same, so that it can be deleted.
    }
    return presentEndpoint(record, secrets, clock());
  };

  const createSchema = {
    operationId: 'createEndpoint',
    summary: 'Register a receiver of alerts',
    description:
      'It gets every alert that passes its filters, whichever camera it is of. docs/alerts.md has an example of each ' +
      'format. The answer has the secret that signs the requests; it is not shown again.',
    tags,
    body: body(EndpointRequestSchema),
    response: {
      201: json('The endpoint with its secret.', ref(EndpointCreatedSchema), {
        Location: Type.String({ description: 'Path of the endpoint.' }),
      }),
      ...problems([...BODY_PROBLEMS, 'url-refused', 'invalid-value']),
    },
  };
  app.post('/v1/endpoints', { schema: createSchema, config }, async (request, reply) => {
    const given = checkRequest(request.body) as Static<typeof EndpointRequestSchema>;
    const settings = settingsWith(given as EndpointPatch);
    assertEndpointUrl(given.url, settings, allow);
    assertEvents(settings);
    const now = clock();
    const id = newId('end', now);
    const at = new Date(now).toISOString();
    const secret = newSecret();
    const signing = [{ secret, expiresAt: null }];
    const sealed = sealSecrets(id, { url: given.url, authorization: given.authorization ?? null, signing }, loginKey);
    const shown = shownUrl(given.url, settings.format);
    await endpoints.create({ id, settings, shownUrl: shown, sealed, created_at: at, updated_at: at });
    reply.code(201).header('Location', `/v1/endpoints/${id}`);
    const isSigned = SIGNED_FORMATS.includes(settings.format);
    return { ...present(await find(id)), secret: isSigned ? secret : null };
  });

  const listSchema = {
    operationId: 'listEndpoints',
    summary: 'List endpoints, the latest created first',
    tags,
    querystring: Type.Object(pageQuery(), { additionalProperties: false }),
    response: pageResponses(EndpointSchema),
  };
  app.get('/v1/endpoints', { schema: listSchema, config }, async (request, reply) => {
    const page = await endpoints.list(parsePageQuery(request.query));
    return pageBody(request, reply, { ...page, items: page.items.map(present) });
  });

  const answer = { 200: json('The endpoint.', ref(EndpointSchema)), ...problems(['not-found']) };
  const getSchema = { operationId: 'readEndpoint', summary: 'Read an endpoint', tags, params, response: answer };
  app.get('/v1/endpoints/:id', { schema: getSchema, config }, async ({ params: { id } }) => present(await find(id)));

  const patchSchema = {
    operationId: 'changeEndpoint',
    summary: 'Change an endpoint',
    description:
      'Another address or format, or `enabled: true`, also starts an endpoint again that was stopped. ' +
      'An address of another origin needs `authorization` once more, if the endpoint has one.',
    tags,
    params,
    body: body(EndpointPatchSchema),
    response: { ...answer, ...problems(['not-found', ...BODY_PROBLEMS, 'url-refused', 'invalid-value']) },
  };
  app.patch('/v1/endpoints/:id', { schema: patchSchema, config }, async (request) => {
    const given = checkPatch(request.body) as EndpointPatch;
    const { sealed: _sealed, ...earlier } = await find(request.params.id);
    const settings = settingsWith(given, earlier.settings);
    const { id, created_at } = earlier;
    assertEvents(settings);
    const isNewAddress = given.url !== undefined || settings.format !== earlier.settings.format;
    let { shownUrl: shown } = earlier;
    let sealed: string | undefined;
    if (isNewAddress || given.authorization !== undefined) {
      const secrets = secretsOf({ ...earlier, sealed: _sealed }, loginKey);
      const { url = secrets.url, authorization = secrets.authorization } = given;
      assertEndpointUrl(url, settings, allow);
      assertAuthorization(given, secrets);
      sealed = sealSecrets(id, { ...secrets, url, authorization }, loginKey);
      shown = shownUrl(url, settings.format);
    }
    const changed = { id, settings, shownUrl: shown, created_at, updated_at: new Date(clock()).toISOString() };
    const again = isNewAddress || given.enabled === true;
    await endpoints.update(changed, { ...(sealed === undefined ? {} : { sealed }), again });
    return present(await find(id));
  });

  const eraseSchema = {
    operationId: 'deleteEndpoint',
    summary: 'Delete an endpoint',
    description: 'Waiting deliveries to it are not sent any more.',
    tags,
    params,
    response: { 204: { description: 'Deleted.', type: 'null' }, ...problems(['not-found']) },
  };
  app.delete('/v1/endpoints/:id', { schema: eraseSchema, config }, async ({ params: { id } }, reply) => {
    await find(id);
    await endpoints.erase(id);
    return reply.code(204).send();
  });

  const rotateSchema = {
    operationId: 'rotateEndpointSecret',
    summary: 'Replace the secret of an endpoint',
    description:
      'Until the end of the earlier secret each request has two signatures, so that receivers can change over.',
    tags,
    params,
    body: body(RotateRequestSchema),
    response: {
      200: json('The new secret.', ref(RotatedSchema)),
      ...problems(['not-found', ...BODY_PROBLEMS, 'invalid-value']),
    },
  };
  app.post('/v1/endpoints/:id/rotate', { schema: rotateSchema, config }, async (request) => {
    const { previous_valid_s = 86_400 } = checkRotate(request.body) as Static<typeof RotateRequestSchema>;
    const record = await find(request.params.id);
    if (!SIGNED_FORMATS.includes(record.settings.format)) {
      throw new ScenedeltaError(
        'invalid-value',
        `the format of the endpoint is ${record.settings.format}, which is not signed: expected ${SIGNED_FORMATS.join(', ')}`,
      );
    }
    const now = clock();
    const secret = newSecret();
    const previousValidMs = previous_valid_s * 1000;
    const next = rotated(secretsOf(record, loginKey), { secret, previousValidMs, now });
    await endpoints.saveSecrets(record.id, sealSecrets(record.id, next, loginKey));
    const until = next.signing[1]?.expiresAt;
    return { secret, previous_secret_until: until == null ? null : new Date(until).toISOString() };
  });
}
