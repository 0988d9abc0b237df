/** Routes of changes, and of the feedback on them. */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { ScenedeltaError } from '../../errors.js';
import type { EnqueueDelivery } from '../../jobs/enqueue-delivery.js';
import { type Change, ChangeSchema } from '../../schemas/change.js';
import { literals } from '../../schemas/constructors.js';
import { DeliverySchema } from '../../schemas/delivery.js';
import { extensionOf, feedbackLine, type PairTruth, pairTruths } from '../../schemas/feedback-manifest.js';
import { roundFigures } from '../../schemas/rounding.js';
import { checker } from '../../schemas/validation-error.js';
import { seesCamera, type Visibility } from '../../stores/visibility.js';
import type { Api, ApiDependencies } from '../dependencies.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import { type FeedbackRequest, FeedbackRequestSchema } from '../schemas/changes.js';
import { CHANGE_ID_PATTERN, LIST_CHANGES_RESPONSES, ListChangesQuerySchema } from '../schemas/list-changes.js';
import { pageBody, parsePageQuery } from '../schemas/pages.js';
import { json, media, problems, ref } from '../schemas/shared.js';
import { searchPage } from '../search/search-page.js';

const ChangeIdParams = Type.Object({
  id: Type.String({
    pattern: CHANGE_ID_PATTERN,
    description: 'Id of the change.',
    examples: ['chg_01k9x3v5s8q2m7c4w6n1b0t9hz'],
  }),
});
const checkFeedback = checker(FeedbackRequestSchema);
const FEEDBACK_PAGE_SIZE = 100;
const NOT_QUEUED = 'alert of an acknowledgement not queued; recovery will queue it';

const noChange = (id: string) =>
  new ScenedeltaError('not-found', `There is no change ${id}: it never was or has expired`);

export function changeRoutes(
  app: Api,
  deps: Pick<ApiDependencies, 'changes' | 'results' | 'deliveries' | 'search' | 'queryVectors'>,
  enqueueDelivery: Pick<EnqueueDelivery, 'ofAlert'>,
): void {
  const config = { scope: 'compare' } as const;
  const tags = ['changes'];
  /** @throws ScenedeltaError 'not-found', also for a change of a camera that the request may not see */
  const find = async (id: string, visibility: Visibility): Promise<Change> => {
    const change = await deps.changes.get(id);
    if (change !== undefined && seesCamera(visibility, change.camera)) return roundFigures(change);
    throw noChange(id);
  };
  const orNotFound = async (id: string, altered: Promise<Change | undefined>): Promise<Change> => {
    const change = await altered;
    if (change !== undefined) return roundFigures(change);
    throw noChange(id);
  };

  const listSchema = {
    operationId: 'listChanges',
    summary: 'List changes, the latest confirmed first, or search for them',
    description:
      'With `q` or `like` the best answers come first, each with `match`, and `search` states how the query was ' +
      'understood; changes that state the opposite direction come last. All times are capture times.',
    tags,
    querystring: ListChangesQuerySchema,
    response: LIST_CHANGES_RESPONSES,
  };
  app.get('/v1/changes', { schema: listSchema, config }, async (request, reply) => {
    const { visibility } = request;
    const { q, like, ...query } = parsePageQuery(request.query);
    if (q !== undefined || like !== undefined) {
      const asked = parsePageQuery(request.query);
      const found = await searchPage(asked, visibility, { ...deps, find: (id) => find(id, visibility) });
      return { ...pageBody(request, reply, found), search: found.search };
    }
    const page = await deps.changes.list({ ...query, visibility });
    return pageBody(request, reply, { ...page, items: page.items.map(roundFigures) });
  });

  const answer = {
    200: json('The current state of the change.', ref(ChangeSchema)),
    ...problems(['not-found']),
  };
  const getSchema = {
    operationId: 'readChange',
    summary: 'Read a change',
    tags,
    params: ChangeIdParams,
    response: answer,
  };
  app.get('/v1/changes/:id', { schema: getSchema, config }, async ({ params: { id }, visibility }) =>
    find(id, visibility),
  );

  const deliveriesSchema = {
    operationId: 'listChangeDeliveries',
    summary: 'List the webhook deliveries of the alerts about a change',
    description: 'Each with its log of attempts; empty if there was no alert or the camera has no callback_url.',
    tags,
    params: ChangeIdParams,
    response: {
      200: json('The deliveries.', Type.Object({ items: Type.Array(ref(DeliverySchema)) })),
      ...problems(['not-found']),
    },
  };
  app.get(
    '/v1/changes/:id/deliveries',
    { schema: deliveriesSchema, config },
    async ({ params: { id }, visibility }) => {
      await find(id, visibility);
      return { items: await deps.deliveries.ofChange(id) };
    },
  );

  const acknowledgeSchema = {
    operationId: 'acknowledgeChange',
    summary: 'Acknowledge a change',
    description:
      'Ends the alerts about it; it is still followed to its end (status `reverted`, `reverted_at`). ' +
      'Repeating the request changes nothing.',
    tags,
    params: ChangeIdParams,
    response: answer,
  };
  app.post('/v1/changes/:id/acknowledge', { schema: acknowledgeSchema, config }, async (request) => {
    const { id } = request.params;
    await find(id, request.visibility);
    const by = { traceId: request.id, apiKeyId: request.apiKeyId ?? LOCAL_KEY_ID };
    const acknowledged = await deps.changes.acknowledge(id, by);
    const alert = acknowledged?.alert ?? null;
    // It is stored, so if this fails, recovery queues it.
    if (alert !== null) await enqueueDelivery.ofAlert(alert).catch((err) => request.log.warn({ err }, NOT_QUEUED));
    return orNotFound(id, Promise.resolve(acknowledged?.change));
  });

  const unacknowledgeSchema = {
    operationId: 'withdrawAcknowledgement',
    summary: 'Withdraw the acknowledgement of a change',
    description: 'Alerts about it may follow again, if its severity rises. Repeating the request changes nothing.',
    tags,
    params: ChangeIdParams,
    response: answer,
  };
  app.delete(
    '/v1/changes/:id/acknowledge',
    { schema: unacknowledgeSchema, config },
    async ({ params: { id }, visibility }) => {
      await find(id, visibility);
      return orNotFound(id, deps.changes.withdrawAcknowledgement(id));
    },
  );

  const normalSchema = {
    operationId: 'makeChangeNormal',
    summary: 'Let a change become part of what is normal',
    description:
      'With the next frame that shows it, it settles without an alert, as it would by itself after `memory.absorb_s`: ' +
      'a background model takes over its place alone, and other changes stay open. Repeating the request changes nothing.',
    tags,
    params: ChangeIdParams,
    response: {
      202: json('The change as it is before that frame.', ref(ChangeSchema)),
      ...problems(['not-found', 'invalid-value']),
    },
  };
  app.post(
    '/v1/changes/:id/normal',
    { schema: normalSchema, config: { scope: 'admin' } },
    async ({ params: { id }, visibility }, reply) => {
      const change = await find(id, visibility);
      if (change.reverted_at !== null || change.settled_at !== null) {
        const came = change.reverted_at === null ? 'has settled' : 'is over';
        throw new ScenedeltaError('invalid-value', `The change ${id} ${came}, expected one that frames still show`);
      }
      await deps.changes.makeNormal(change);
      return reply.code(202).send(change);
    },
  );

  const feedbackSchema = {
    operationId: 'giveFeedback',
    summary: 'Judge whether a change was real',
    description:
      'Stored with the change; a later judgement replaces an earlier one. The two frames are then kept ' +
      'as long as the comparison. `GET /v1/feedback` returns all feedback.',
    tags,
    params: ChangeIdParams,
    body: { content: { 'application/json': { schema: ref(FeedbackRequestSchema) } } },
    response: {
      ...answer,
      ...problems(['not-found', 'malformed-body', 'payload-too-large', 'unsupported-media-type']),
    },
  };
  app.post('/v1/changes/:id/feedback', { schema: feedbackSchema, config }, async (request) => {
    const { id } = request.params;
    const { judgement, caption } = checkFeedback(request.body) as FeedbackRequest;
    await find(id, request.visibility);
    const by = request.apiKeyId === undefined ? {} : { by: request.apiKeyId };
    const feedback = { judgement, ...(caption === undefined ? {} : { caption }), ...by };
    return orNotFound(id, deps.changes.giveFeedback(id, feedback));
  });

  const noFeedbackSchema = {
    operationId: 'withdrawFeedback',
    summary: 'Withdraw the judgement of a change',
    description: 'Repeating the request changes nothing.',
    tags,
    params: ChangeIdParams,
    response: answer,
  };
  app.delete(
    '/v1/changes/:id/feedback',
    { schema: noFeedbackSchema, config },
    async ({ params: { id }, visibility }) => {
      await find(id, visibility);
      return orNotFound(id, deps.changes.withdrawFeedback(id));
    },
  );

  const exportSchema = {
    operationId: 'exportFeedback',
    summary: 'All feedback, as a manifest for `scenedelta evaluate`',
    description:
      'One JSON object per line, the earliest feedback first. `before` and `after` are the paths to ' +
      'which `scenedelta feedback FOLDER` writes the frames, `frames` the paths that serve them. ' +
      'Changes whose frames are gone are left out. `verdict`, `kind` and `references` are about the pair of frames, in ' +
      'which several changes may have been judged; `judgement`, `sentence` and `regions` are about the change.',
    tags,
    querystring: Type.Object(
      {
        format: Type.Optional(literals(['ndjson'], { default: 'ndjson' })),
      },
      { additionalProperties: false },
    ),
    response: {
      200: media('The lines.', { 'application/x-ndjson': Type.String() }),
      ...problems(),
    },
  };
  app.get('/v1/feedback', { schema: exportSchema, config }, async (request, reply) =>
    reply.type('application/x-ndjson').send(Readable.from(feedbackLines(deps, request.visibility))),
  );
}

/** Yields the manifest line by line. */
async function* feedbackLines(
  { changes, results }: Pick<ApiDependencies, 'changes' | 'results'>,
  visibility: Visibility,
): AsyncGenerator<string> {
  let truths: ReadonlyMap<string, PairTruth> = new Map();
  for await (const page of feedbackPages(changes)) truths = pairTruths(page, truths);
  for await (const page of feedbackPages(changes)) {
    for (const change of page) {
      if (!seesCamera(visibility, change.camera)) continue;
      const { before, after: then } = (await results.get(change.comparisons.best))?.frames ?? {};
      if (before == null || then == null) continue;
      const extensions = { before: extensionOf(before.contentType), after: extensionOf(then.contentType) };
      yield `${JSON.stringify(feedbackLine(change, truths.get(change.comparisons.best), extensions))}\n`;
    }
  }
}

async function* feedbackPages(changes: ApiDependencies['changes']): AsyncGenerator<Change[]> {
  for (let after = 0; ; after += FEEDBACK_PAGE_SIZE) {
    const { items, last } = await changes.withFeedback(after, FEEDBACK_PAGE_SIZE);
    yield items;
    if (last) return;
  }
}
