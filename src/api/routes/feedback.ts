/** Routes of the feedback on changes. */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { literals } from '../../schemas/constructors.js';
import { checker } from '../../schemas/validation-error.js';
import {
  CHANGE_RESPONSES,
  ChangeIdParams,
  changesOf,
  config,
  feedbackOf,
  judging,
  tags,
} from '../changes/one-change.js';
import type { Api } from '../dependencies.js';
import { type BulkFeedbackRequest, BulkFeedbackRequestSchema } from '../schemas/changes.js';
import { BODY_PROBLEMS, json, media, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const checkBulk = checker(BulkFeedbackRequestSchema);

export function feedbackRoutes(app: Api, deps: RouteContext): void {
  const { find, altered } = changesOf(deps);

  const feedbackSchema = {
    operationId: 'giveFeedback',
    summary: 'Judge whether a change was real',
    description:
      'Stored with the change; a later judgement replaces an earlier one. The two frames are then kept ' +
      'as long as the comparison. `GET /v1/feedback` returns all feedback.',
    tags,
    params: ChangeIdParams,
    body: { content: { 'application/json': { schema: ref('FeedbackRequest') } } },
    response: { ...CHANGE_RESPONSES, ...problems(['not-found', ...BODY_PROBLEMS]) },
  };
  app.post('/v1/changes/:id/feedback', { schema: feedbackSchema, config: judging }, async (request) => {
    const feedback = feedbackOf(request);
    return altered(request, (id) => deps.changes.giveFeedback(id, feedback));
  });

  const bulkSchema = {
    operationId: 'giveBulkFeedback',
    summary: 'Judge whether several changes were real',
    description: 'As the judgement of one change, without a sentence. If one of them does not exist, none is judged.',
    tags,
    body: { content: { 'application/json': { schema: ref('BulkFeedbackRequest') } } },
    response: {
      200: json('The changes, in the order of the request.', Type.Object({ items: Type.Array(ref('Change')) })),
      ...problems(['not-found', ...BODY_PROBLEMS]),
    },
  };
  app.post('/v1/feedback', { schema: bulkSchema, config: judging }, async (request) => {
    const { changes, judgement } = checkBulk(request.body) as BulkFeedbackRequest;
    await Promise.all(changes.map((id) => find(id, request.visibility)));
    const by = request.apiKeyId === undefined ? {} : { by: request.apiKeyId };
    const { visibility } = request;
    const judge = (id: string) => deps.changes.giveFeedback(id, { judgement, ...by });
    return { items: await Promise.all(changes.map((id) => altered({ params: { id }, visibility }, judge))) };
  });

  const noFeedbackSchema = {
    operationId: 'withdrawFeedback',
    summary: 'Withdraw the judgement of a change',
    description: 'Repeating the request changes nothing.',
    tags,
    params: ChangeIdParams,
    response: CHANGE_RESPONSES,
  };
  app.delete('/v1/changes/:id/feedback', { schema: noFeedbackSchema, config: judging }, async (request) =>
    altered(request, (id) => deps.changes.withdrawFeedback(id)),
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
      { format: Type.Optional(literals(['ndjson'], { default: 'ndjson' })) },
      { additionalProperties: false },
    ),
    response: { 200: media('The lines.', { 'application/x-ndjson': Type.String() }), ...problems() },
  };
  app.get('/v1/feedback', { schema: exportSchema, config }, async (request, reply) => {
    // Loaded with the first export.
    const { feedbackLines } = await import('../changes/feedback-lines.js');
    return reply.type('application/x-ndjson').send(Readable.from(feedbackLines(deps, request.visibility)));
  });
}
