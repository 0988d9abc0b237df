/** Routes of batches: archived footage in, changes out. */
import { Type } from 'typebox';
import { invalidValue, ScenedeltaError } from '../../base/errors.js';
import { text } from '../../schemas/constructors.js';
import { eraseBatch } from '../../stores/batches/erase-batch.js';
import type { Visibility } from '../../stores/redis/visibility.js';
import { BatchIdParams, findBatch, presentBatch } from '../batches/present.js';
import type { Api } from '../dependencies.js';
import { assertCapacity } from '../intake/capacity.js';
import { fetchRules } from '../intake/url-policy.js';
import { CAMERA_STRUCTURE } from '../json-structure.js';
import { BODY_MS, UPLOAD_MS } from '../plugins/body-time.js';
import { pageBody, pageQuery, pageResponses, parsePageQuery, timeQuery } from '../schemas/pages.js';
import { BODY_PROBLEMS, IDEMPOTENCY_HEADER, json, problems, RESPONSE_HEADERS, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const tags = ['batches'];
const config = { scope: 'batch' } as const;

const createSchema = {
  operationId: 'createBatch',
  summary: 'Find the changes in archived footage',
  description:
    'Each camera of the footage is processed as a live one, as fast as the machine allows; live work goes before it. ' +
    'Any number of workers share a batch, one camera each. The answer comes at once; read the batch for its progress. ' +
    'With an `Idempotency-Key`, the same request, with the same uploads, may be sent again within 24 hours: the answer ' +
    'is the same batch in its current state.',
  tags,
  headers: Type.Object(IDEMPOTENCY_HEADER),
  body: {
    content: {
      'application/json': { schema: ref('BatchRequest') },
      'multipart/form-data': { schema: ref('BatchForm') },
    },
  },
  response: {
    202: json('The batch is queued.', ref('Batch'), {
      Location: text('Path of the batch.'),
      ...RESPONSE_HEADERS.replayed,
    }),
    ...problems([
      ...BODY_PROBLEMS,
      ...(['idempotency-in-flight', 'idempotency-mismatch', 'gone', 'invalid-value', 'url-refused'] as const),
      ...(['storage-unavailable', 'queue-share-used', 'overloaded'] as const),
    ]),
  },
};

export function batchRoutes(app: Api, deps: RouteContext): void {
  const { options } = deps;
  const rules = fetchRules(options);
  const find = (id: string, visibility: Visibility) => findBatch(deps, id, visibility);
  const stop = async (id: string) => {
    if (await deps.batches.cancel(id, deps.clock())) await deps.queue.cancelBatch(id);
  };

  app.post(
    '/v1/batches',
    {
      schema: createSchema,
      config: { ...config, jsonStructure: CAMERA_STRUCTURE, upload: true },
      handlerTimeout: UPLOAD_MS + BODY_MS,
    },
    async (request, reply) => {
      await assertCapacity(request, 'comparison', deps, options);
      const { footageLimit, s3FrameBucket } = options;
      // Loaded with the first batch: the reader of its form and its templates serves no other request.
      const { acceptBatch } = await import('../batches/accept.js');
      const batch = await acceptBatch(request, reply, deps, {
        rules,
        footageLimit,
        sharesFolder: s3FrameBucket === null,
      });
      reply.code(202).header('Location', `/v1/batches/${batch.id}`);
      return presentBatch(batch);
    },
  );

  const listSchema = {
    operationId: 'listBatches',
    summary: 'List batches, newest first',
    tags,
    querystring: Type.Object({ ...timeQuery('Created'), ...pageQuery() }, { additionalProperties: false }),
    response: pageResponses('Batch'),
  };
  app.get('/v1/batches', { schema: listSchema, config }, async (request, reply) => {
    const page = await deps.batches.list({ ...parsePageQuery(request.query), visibility: request.visibility });
    return pageBody(request, reply, { ...page, items: page.items.map(presentBatch) });
  });

  const answer = { 200: json('The batch with its progress.', ref('Batch')), ...problems(['not-found']) };
  const getSchema = {
    operationId: 'readBatch',
    summary: 'Read a batch',
    tags,
    params: BatchIdParams,
    response: answer,
  };
  app.get('/v1/batches/:id', { schema: getSchema, config }, async ({ params: { id }, visibility }) =>
    presentBatch(await find(id, visibility)),
  );

  const cancelSchema = {
    operationId: 'cancelBatch',
    summary: 'Cancel a batch',
    description: 'Its work ends within one chunk of frames. A batch that has ended stays unchanged.',
    tags,
    params: BatchIdParams,
    response: answer,
  };
  app.post('/v1/batches/:id/cancel', { schema: cancelSchema, config }, async ({ params: { id }, visibility }) => {
    await find(id, visibility);
    await stop(id);
    return presentBatch(await find(id, visibility));
  });

  const retrySchema = {
    operationId: 'retryBatch',
    summary: 'Let a failed or cancelled batch go on',
    description: 'It goes on after its last chunk of frames, with the inputs that it listed at its beginning.',
    tags,
    params: BatchIdParams,
    response: { ...answer, ...problems(['not-found', 'not-finished', 'invalid-value']) },
  };
  app.post('/v1/batches/:id/retry', { schema: retrySchema, config }, async ({ params: { id }, visibility }) => {
    const batch = await find(id, visibility);
    const { status, plan, run } = batch;
    if (status !== 'failed' && status !== 'cancelled') {
      throw invalidValue(`The batch ${id} is ${status}, expected failed or cancelled`);
    }
    if (!(await deps.queue.forgetBatch(id, { run: run.number, cameras: plan?.cameras.length ?? 0 }))) {
      throw new ScenedeltaError('not-finished', `A worker still ends its step of the batch ${id}; send it again later`);
    }
    if (await deps.batches.retry(id)) await deps.queue.addBatch(batch);
    return presentBatch(await find(id, visibility));
  });

  const eraseSchema = {
    operationId: 'eraseBatch',
    summary: 'Cancel and erase a batch',
    description: 'Erases its uploads, pictures and results.',
    tags,
    params: BatchIdParams,
    response: { 204: { description: 'Erased.', type: 'null' }, ...problems(['not-found', 'storage-unavailable']) },
  };
  app.delete('/v1/batches/:id', { schema: eraseSchema, config }, async ({ params: { id }, visibility }, reply) => {
    await find(id, visibility);
    await stop(id);
    await eraseBatch(id, deps);
    return reply.code(204).send();
  });
}
