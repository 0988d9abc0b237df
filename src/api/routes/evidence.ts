/** Routes of evidence packages, and of the key that verifies them. */
import { Type } from 'typebox';
import { DEFAULT_LOCALE } from '../../language/translate.js';
import { publicPem } from '../../secrets/evidence-key.js';
import type { Api } from '../dependencies.js';
import { collectEvidence } from '../evidence/collect.js';
import { packageOf } from '../evidence/package.js';
import { EvidenceQuery } from '../schemas/evidence.js';
import { binary, media, problems } from '../schemas/shared.js';
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
const keySchema = {
  operationId: 'readEvidenceKey',
  summary: 'Read the public key of evidence packages',
  tags,
  response: { 200: media('The key as PEM.', { 'text/plain': Type.String() }), ...problems(['storage-unavailable']) },
};

export function evidenceRoutes(app: Api, deps: RouteContext): void {
  app.get('/v1/evidence', { schema, config }, async (request, reply) => {
    const evidence = await collectEvidence(request.query, request.visibility, deps);
    const { change, visit, camera } = request.query;
    const name = change ?? visit ?? camera;
    reply.type('application/zip').header('Content-Disposition', `attachment; filename="evidence-${name}.zip"`);
    const locale = request.locale ?? evidence.camera.locale ?? DEFAULT_LOCALE;
    reply.header('Cache-Control', 'no-store').header('Vary', 'Accept-Language');
    return reply.send(packageOf(evidence, await deps.evidenceKey(), deps, locale));
  });

  app.get('/v1/evidence/key', { schema: keySchema, config }, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(publicPem(await deps.evidenceKey())),
  );
}
