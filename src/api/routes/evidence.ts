/** Routes of evidence packages, and of the key that verifies them. */
import { Type } from 'typebox';
import { once } from '../../base/once.js';
import { checker } from '../../schemas/validation-error.js';
import { publicPem } from '../../secrets/evidence-key.js';
import type { Api } from '../dependencies.js';
import { body, findEndpoint } from '../endpoints/stored.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import { EvidenceQuery, type EvidenceUploadRequest, EvidenceUploadRequestSchema } from '../schemas/evidence.js';
import { BODY_PROBLEMS, binary, json, media, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const tags = ['evidence'];
const config = { scope: 'read' } as const;
const schema = {
  operationId: 'readEvidence',
  summary: 'Download an evidence package',
  description:
    'One zip of a change, a visit, or the changes and visits of a camera in a time range: frames as the key may see ' +
    'them, records, settings, a page in the language of `Accept-Language`, and a manifest with the SHA-256 of each ' +
    'file and an Ed25519 signature. `scenedelta verify` checks it.',
  tags,
  querystring: EvidenceQuery,
  response: {
    200: media('The package.', { 'application/zip': binary }),
    ...problems(['not-found', 'invalid-value', 'storage-unavailable']),
  },
};
const uploadSchema = {
  operationId: 'uploadEvidence',
  summary: 'Put an evidence package into a bucket',
  description:
    'Makes the package of `GET /v1/evidence`, and puts it into the bucket of an endpoint. The answer says where, before ' +
    'it is there: the upload is a delivery of the endpoint, which is retried as others, and sent again by ' +
    '`POST /v1/deliveries/{id}/resend`.',
  tags,
  body: body('EvidenceUploadRequest'),
  response: {
    202: json('The upload is queued.', ref('EvidenceUpload')),
    ...problems(['not-found', ...BODY_PROBLEMS, 'invalid-value', 'storage-unavailable', 'overloaded']),
  },
};
const checkUpload = checker(EvidenceUploadRequestSchema);
const keySchema = {
  operationId: 'readEvidenceKey',
  summary: 'Read the public key of evidence packages',
  tags,
  response: { 200: media('The key as PEM.', { 'text/plain': Type.String() }), ...problems(['storage-unavailable']) },
};

export function evidenceRoutes(app: Api, deps: RouteContext): void {
  /** Loaded with the first package: no other request needs its parts. */
  const evidence = once(async () => (await import('../evidence/evidence.js')).createEvidence(deps));

  app.get('/v1/evidence', { schema, config }, async (request, reply) => {
    const { zipOf } = await evidence();
    const zip = await zipOf(request.query, request);
    const { change, visit, camera } = request.query;
    reply.type('application/zip');
    reply.header('Content-Disposition', `attachment; filename="evidence-${change ?? visit ?? camera}.zip"`);
    return reply.header('Cache-Control', 'no-store').header('Vary', 'Accept-Language').send(zip);
  });

  app.post('/v1/evidence', { schema: uploadSchema, config: { scope: 'admin' } }, async (request, reply) => {
    const { endpoint, ...query } = checkUpload(request.body) as EvidenceUploadRequest;
    const receiver = await findEndpoint(deps, endpoint);
    const { upload } = await evidence();
    return reply.code(202).send(await upload(query, receiver, request, request.apiKeyId ?? LOCAL_KEY_ID));
  });

  app.get('/v1/evidence/key', { schema: keySchema, config }, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(publicPem(await deps.evidenceKey())),
  );
}
