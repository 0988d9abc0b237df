/** Routes of comparisons: create, read, list, erase. */
import { Type } from 'typebox';
import { traced } from '../../process/tracing.js';
import { literals } from '../../schemas/constructors.js';
import { VERDICTS } from '../../schemas/kinds.js';
import { accept, assertCameraOfKey } from '../comparisons/accept.js';
import { eraseComparison } from '../comparisons/erase.js';
import { findComparison } from '../comparisons/find-comparison.js';
import type { Api } from '../dependencies.js';
import { acceptOnce } from '../intake/accept-once.js';
import { assertCapacity } from '../intake/capacity.js';
import { fingerprintOf } from '../intake/idempotency.js';
import { assertKnownModel } from '../intake/models.js';
import { readComparison } from '../intake/request.js';
import { contextOf, countAccepted } from '../intake/respond.js';
import { assertFetchable, assertUrl, fetchRules } from '../intake/url-policy.js';
import { inSpan } from '../plugins/tracing.js';
import { comparisonResponses, PREFERENCE_HEADERS } from '../schemas/comparison-responses.js';
import { pageBody, pageQuery, pageResponses, parsePageQuery, timeQuery } from '../schemas/pages.js';
import { ComparisonIdParams, json, problems, RESPONSE_HEADERS, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const RETRY_AFTER_SECONDS = 2;

const ListQuerySchema = Type.Object(
  {
    camera: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    verdict: Type.Optional(literals(VERDICTS)),
    ...timeQuery('Created'),
    ...pageQuery(),
  },
  { additionalProperties: false },
);

const postSchema = {
  operationId: 'createComparison',
  summary: 'Compare two frames',
  description:
    'Waits for the outcome up to `Prefer: wait=N` seconds (default: 10 s) and answers 200. If it takes ' +
    'longer, or with `Prefer: respond-async`, the answer is 202 and the comparison is read at ' +
    '`Location`. A comparison that fails while the request waits is answered with its problem. With an ' +
    '`Idempotency-Key`, a request that is sent again within 24 hours is compared once.',
  tags: ['comparisons'],
  headers: PREFERENCE_HEADERS,
  body: {
    content: {
      'multipart/form-data': { schema: ref('ComparisonForm') },
      'application/json': { schema: ref('ComparisonRequest') },
    },
  },
  response: comparisonResponses(),
};

const LinksQuery = Type.Object({
  links: Type.Optional(
    literals(['hour', 'lasting'], {
      default: 'hour',
      description: 'How long links to pictures open: for an hour, or as long as the pictures are kept.',
    }),
  ),
});

export function comparisonRoutes(app: Api, deps: RouteContext): void {
  const { options, present } = deps;
  const rules = fetchRules(options);

  app.post('/v1/comparisons', { schema: postSchema, config: { scope: 'compare' } }, (request, reply) =>
    inSpan(request, reply, deps.clock, async (traceparent) => {
      await assertCapacity(request, 'comparison', deps, options);
      const incoming = await readComparison(request, options);
      const { before, after, options: given } = incoming;
      assertCameraOfKey(given.camera, request.visibility);
      assertFetchable({ before, after }, rules);
      if (given.callback_url !== undefined) assertUrl(given.callback_url, 'callback_url', rules.allow);
      await assertKnownModel(given.model, deps.workers);
      const context = contextOf(request, reply, deps, traceparent);
      const comparison = await acceptOnce(request, reply, deps.idempotency, {
        fingerprint: fingerprintOf('POST /v1/comparisons', [before, after], given),
        id: context.comparisonId,
        accept: () => traced('accept', () => accept(context, incoming, deps)),
      });
      if (comparison.accepted) countAccepted(deps.metrics, request, given.priority ?? 'live', [before, after]);
      return deps.answerOutcome(reply, { ...comparison, waitSeconds: context.waitSeconds });
    }),
  );

  const getSchema = {
    operationId: 'readComparison',
    summary: 'Read a comparison',
    description:
      'While it is queued or running, `Retry-After` gives the delay until the next read. A failed one has `error`.',
    tags: ['comparisons'],
    params: ComparisonIdParams,
    querystring: LinksQuery,
    response: {
      200: json('The current state of the comparison.', ref('Comparison'), RESPONSE_HEADERS.retryAfter),
      ...problems(['not-found']),
    },
  };
  app.get('/v1/comparisons/:id', { schema: getSchema, config: { scope: 'read' } }, async (request, reply) => {
    const { comparison } = await findComparison(deps, request.params.id, request.visibility);
    if (comparison.status === 'queued' || comparison.status === 'running') {
      reply.header('Retry-After', RETRY_AFTER_SECONDS);
    }
    return present(comparison, request.query.links === 'lasting');
  });

  const listSchema = {
    operationId: 'listComparisons',
    summary: 'List comparisons, newest first',
    tags: ['comparisons'],
    querystring: ListQuerySchema,
    response: pageResponses('Comparison'),
  };
  app.get('/v1/comparisons', { schema: listSchema, config: { scope: 'read' } }, async (request, reply) => {
    const { items, nextCursor } = await deps.results.list({
      ...parsePageQuery(request.query),
      visibility: request.visibility,
    });
    return pageBody(request, reply, { items: items.map((item) => present(item)), nextCursor });
  });

  const deleteSchema = {
    operationId: 'eraseComparison',
    summary: 'Cancel and erase a comparison',
    description:
      'Cancels unfinished work and erases the result, its heatmaps and all references to its frames at ' +
      'once. The bytes of its frames are deleted within ten minutes, unless other comparisons or cameras have the ' +
      'same frames.',
    tags: ['comparisons'],
    params: ComparisonIdParams,
    response: { 204: { description: 'Erased.', type: 'null' }, ...problems(['not-found', 'storage-unavailable']) },
  };
  app.delete('/v1/comparisons/:id', { schema: deleteSchema, config: { scope: 'compare' } }, async (request, reply) => {
    const { comparison } = await findComparison(deps, request.params.id, request.visibility);
    await eraseComparison(comparison, deps);
    await deps.results.eraseEvents(comparison.id);
    return reply.code(204).send();
  });
}
