/** POST, GET, list and DELETE of /v1/comparisons. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { ComparisonSchema, VERDICTS } from '../../comparison.js';
import { ScenedeltaError } from '../../errors.js';
import { newId } from '../../ids.js';
import { parseAllowList } from '../../outbound/address.js';
import { heatmapKey } from '../../stores/blobs.js';
import type { StoredComparison } from '../../stores/results.js';
import { accept, assertCapacity, fingerprintOf } from '../comparisons/accept.js';
import { assertFetchable } from '../comparisons/fetchable.js';
import { assertKnownModel } from '../comparisons/models.js';
import type { Present } from '../comparisons/present.js';
import { type IncomingComparison, readComparison } from '../comparisons/request.js';
import { type Preference, parsePrefer, type Waiting } from '../comparisons/wait.js';
import type { Api, ApiDependencies, ApiOptions } from '../dependencies.js';
import { LOCAL } from '../plugins/auth.js';
import type { ApiMetrics } from '../plugins/metrics.js';
import { sendProblem } from '../plugins/problems.js';
import { ComparisonFormSchema, ComparisonRequestSchema } from '../schemas/comparison-request.js';
import {
  ComparisonIdParams,
  ComparisonProblemSchema,
  json,
  problems,
  RESPONSE_HEADERS,
  ref,
} from '../schemas/shared.js';

export interface ComparisonRoutesContext {
  readonly deps: ApiDependencies;
  readonly options: ApiOptions;
  readonly metrics: ApiMetrics;
  readonly present: Present;
  readonly waiting: Waiting;
}

const RETRY_AFTER_SECONDS = 2;

const ListQuerySchema = Type.Object(
  {
    camera: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    verdict: Type.Optional(Type.Unsafe<(typeof VERDICTS)[number]>(Type.String({ enum: [...VERDICTS] }))),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'Created at this time or later.' })),
    until: Type.Optional(Type.String({ format: 'date-time', description: 'Created before this time.' })),
    cursor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'next_cursor of the page before.' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  },
  { additionalProperties: false },
);

const postSchema = {
  operationId: 'createComparison',
  summary: 'Compare two frames',
  description:
    'Waits for the outcome as long as `Prefer: wait=N` says (10 s where it is not sent) and answers 200; what takes longer, or was asked for with `Prefer: respond-async`, is answered with 202 and is read at `Location`. A comparison that fails while the request waits is answered with its problem. With an `Idempotency-Key`, the same request may be sent again within 24 hours without being compared twice.',
  tags: ['comparisons'],
  headers: Type.Object({
    Prefer: Type.Optional(
      Type.String({ description: '`wait=N` (seconds) or `respond-async`.', examples: ['wait=20'] }),
    ),
    'Idempotency-Key': Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'A key of yours for this request; kept for 24 hours.',
      }),
    ),
    traceparent: Type.Optional(Type.String({ description: 'W3C trace context, carried to the webhook.' })),
  }),
  body: {
    content: {
      'multipart/form-data': { schema: ref(ComparisonFormSchema) },
      'application/json': { schema: ref(ComparisonRequestSchema) },
    },
  },
  response: {
    200: json('The finished comparison.', ref(ComparisonSchema), {
      ...RESPONSE_HEADERS.preference,
      ...RESPONSE_HEADERS.replayed,
    }),
    202: json('Accepted: read it at `Location`.', ref(ComparisonSchema), {
      ...RESPONSE_HEADERS.location,
      ...RESPONSE_HEADERS.retryAfter,
      ...RESPONSE_HEADERS.preference,
      ...RESPONSE_HEADERS.replayed,
    }),
    ...problems(
      [
        'malformed-body',
        'idempotency-in-flight',
        'cancelled',
        'gone',
        'payload-too-large',
        'unsupported-media-type',
        'image-unreadable',
        'image-too-large',
        'image-too-small',
        'frames-differ-in-shape',
        'unknown-model',
        'url-refused',
        'url-failed',
        'url-unavailable',
        'idempotency-mismatch',
        'deadline-exceeded',
        'inference-failed',
        'storage-unavailable',
        'overloaded',
      ],
      { schema: ComparisonProblemSchema },
    ),
  },
};

export function comparisonRoutes(app: Api, context: ComparisonRoutesContext): void {
  const { deps, options, metrics, present, waiting } = context;
  const rules = { allow: parseAllowList(options.outboundAllow), s3Enabled: options.s3Endpoint !== null };

  app.post(
    '/v1/comparisons',
    { schema: postSchema, config: { scope: 'compare' } },
    async (request, reply) => {
      await assertCapacity(deps, options);
      const incoming = await readComparison(request, options);
      assertFetchable(incoming, rules);
      await assertKnownModel(incoming.options.model, deps.workers);
      const preference = parsePrefer(request.headers.prefer as string | undefined, options.waitLimit);
      if (preference.applied !== undefined) reply.header('Preference-Applied', preference.applied);
      const comparisonId = await acceptOnce(request, reply, incoming, preference);
      const outcome = await waiting.until(comparisonId, preference.waitSeconds, whenGone(reply));
      return answer(reply, outcome, comparisonId);
    },
  );

  /** @returns the id of the comparison that this request stands for: a new one, or an earlier one of the same key. */
  async function acceptOnce(
    request: FastifyRequest,
    reply: FastifyReply,
    incoming: IncomingComparison,
    preference: Preference,
  ): Promise<string> {
    const apiKeyId = request.apiKeyId ?? LOCAL;
    const acceptance = {
      comparisonId: newId('cmp', deps.clock()),
      traceId: request.id,
      apiKeyId,
      incoming,
      nobodyWaits: preference.waitSeconds === 0 && incoming.options.callback_url !== undefined,
    };
    const key = request.headers['idempotency-key'] as string | undefined;
    const reservation =
      key === undefined
        ? undefined
        : { apiKeyId, key, fingerprint: fingerprintOf(incoming), comparisonId: acceptance.comparisonId };
    const earlier = reservation && (await deps.idempotency.reserve(reservation));
    if (earlier !== undefined) {
      reply.header('Idempotent-Replayed', 'true');
      return earlier.comparisonId;
    }
    try {
      await accept(acceptance, deps, options);
    } catch (err) {
      if (reservation) await deps.idempotency.release(reservation).catch(() => {});
      throw err;
    }
    if (reservation) await deps.idempotency.confirm(reservation);
    metrics.accepted.inc({
      form: request.isMultipart() ? 'multipart' : 'json',
      queue: incoming.options.priority ?? 'live',
    });
    for (const { from, ...frame } of [incoming.before, incoming.after]) {
      if (from === 'bytes' && 'bytes' in frame) metrics.frameBytes.inc(frame.bytes.length);
    }
    return acceptance.comparisonId;
  }

  function answer(reply: FastifyReply, stored: StoredComparison | undefined, id: string): FastifyReply {
    if (stored === undefined || stored.comparison.status === 'cancelled') {
      throw new ScenedeltaError('cancelled', `The comparison ${id} was cancelled or erased`);
    }
    const comparison = present(stored.comparison);
    const { status, error } = comparison;
    if (status === 'finished') return reply.code(200).send(comparison);
    if (status === 'failed' && error !== undefined) return sendProblem(reply, error, { comparison });
    return reply
      .code(202)
      .header('Location', `/v1/comparisons/${id}`)
      .header('Retry-After', RETRY_AFTER_SECONDS)
      .send(comparison);
  }

  const getSchema = {
    operationId: 'readComparison',
    summary: 'Read a comparison',
    description:
      'While it is queued or running, `Retry-After` says when to look again. A failed one has `error`.',
    tags: ['comparisons'],
    params: ComparisonIdParams,
    response: {
      200: json('The comparison as it stands.', ref(ComparisonSchema), RESPONSE_HEADERS.retryAfter),
      ...problems(['not-found']),
    },
  };
  app.get(
    '/v1/comparisons/:id',
    { schema: getSchema, config: { scope: 'compare' } },
    async (request, reply) => {
      const { comparison } = await existing(deps, request.params.id);
      if (comparison.status === 'queued' || comparison.status === 'running') {
        reply.header('Retry-After', RETRY_AFTER_SECONDS);
      }
      return present(comparison);
    },
  );

  const listSchema = {
    operationId: 'listComparisons',
    summary: 'List comparisons, newest first',
    tags: ['comparisons'],
    querystring: ListQuerySchema,
    response: {
      200: json(
        'One page.',
        Type.Object({
          items: Type.Array(ref(ComparisonSchema)),
          next_cursor: Type.Union([Type.String(), Type.Null()], {
            description: 'For the next page; null on the last.',
          }),
        }),
        RESPONSE_HEADERS.link,
      ),
      ...problems(),
    },
  };
  app.get('/v1/comparisons', { schema: listSchema, config: { scope: 'compare' } }, async (request, reply) => {
    const { since, until, limit = 20, ...filters } = request.query;
    const { items, nextCursor } = await deps.results.list({
      ...filters,
      limit,
      ...(since === undefined ? {} : { since: Date.parse(since) }),
      ...(until === undefined ? {} : { until: Date.parse(until) }),
    });
    if (nextCursor !== null) {
      const next = new URLSearchParams({ ...(request.query as Record<string, string>), cursor: nextCursor });
      reply.header('Link', `</v1/comparisons?${next}>; rel="next"`);
    }
    return { items: items.map(present), next_cursor: nextCursor };
  });

  const deleteSchema = {
    operationId: 'eraseComparison',
    summary: 'Cancel and erase a comparison',
    description:
      'Work that has not ended is cancelled; the result, its heatmaps and every way to its frames are gone at once. The bytes of a frame are kept by content and may belong to other comparisons too: they go with the retention of frames (FRAME_RETENTION_HOURS).',
    tags: ['comparisons'],
    params: ComparisonIdParams,
    response: {
      204: { description: 'Erased.', type: 'null' },
      ...problems(['not-found', 'storage-unavailable']),
    },
  };
  app.delete(
    '/v1/comparisons/:id',
    { schema: deleteSchema, config: { scope: 'compare' } },
    async (request, reply) => {
      const { id } = request.params;
      const { comparison } = await existing(deps, id);
      const finished_at = new Date(deps.clock()).toISOString();
      // The order matters: who waits hears of the end first, then the worker stops, then there is nothing left to find.
      const stopped = await deps.results.update(id, {
        comparison: { ...comparison, status: 'cancelled', finished_at },
      });
      if (stopped) await deps.queue.cancel(id);
      await deps.blobs.delete(heatmapKey(id));
      await deps.results.erase(id);
      return reply.code(204).send();
    },
  );
}

/** Aborts when the caller has gone. (request.signal does so as soon as the request's body has been read: Node's 'close'.) */
function whenGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

/** @throws ScenedeltaError 'not-found' */
export async function existing(
  deps: Pick<ApiDependencies, 'results'>,
  id: string,
): Promise<StoredComparison> {
  const stored = await deps.results.get(id);
  if (stored !== undefined) return stored;
  throw new ScenedeltaError(
    'not-found',
    `There is no comparison ${id}: it never was, was erased or has expired`,
  );
}
