/** Routes of visits: things followed over time, from the store and, while they last, from the camera's state. */
import { Type } from 'typebox';
import { notFound } from '../../base/errors.js';
import { literals } from '../../schemas/constructors.js';
import { VISIT_KINDS } from '../../schemas/kinds.js';
import { NOT_BLANK_PATTERN, VISIT_ID_PATTERN } from '../../schemas/patterns.js';
import type { Visit } from '../../schemas/visit.js';
import { seesCamera, type Visibility } from '../../stores/redis/visibility.js';
import { labelled, labelQuery } from '../cameras/labelled.js';
import { feedbackOf, judging } from '../changes/one-change.js';
import type { Api } from '../dependencies.js';
import { pageBody, pageQuery, pageResponses, parsePageQuery, timeQuery } from '../schemas/pages.js';
import { BODY_PROBLEMS, json, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const config = { scope: 'read' } as const;
const tags = ['visits'];

const listSchema = {
  operationId: 'listVisits',
  summary: 'List visits, the latest begun first',
  description:
    'A visit is a thing that came, moved about and went. One that lasts has the status `open`. Passages are things that ' +
    'one or two frames show. All times are capture times.',
  tags,
  querystring: Type.Object(
    {
      camera: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      ...labelQuery,
      kind: Type.Optional(literals(VISIT_KINDS, { default: 'visit' })),
      q: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 500,
          pattern: NOT_BLANK_PATTERN,
          examples: ['a person in red'],
          description:
            'Words that must all be in the sentence, in any order; words of one meaning are equal. Verbs of coming and ' +
            'going are ignored, because each visit comes and goes.',
        }),
      ),
      ...timeQuery('Begun'),
      ...pageQuery(),
    },
    { additionalProperties: false },
  ),
  response: pageResponses('Visit'),
};

const params = Type.Object({ id: Type.String({ pattern: VISIT_ID_PATTERN, description: 'Id of the visit.' }) });
const response = { 200: json('The current state of the visit.', ref('Visit')), ...problems(['not-found']) };
const getSchema = { operationId: 'readVisit', summary: 'Read a visit', tags, params, response };
const acknowledgeSchema = {
  operationId: 'acknowledgeVisit',
  summary: 'Acknowledge a visit',
  description:
    'A person has seen it. Its changes are acknowledged each by itself. Repeating the request changes nothing.',
  ...{ tags, params, response },
};
const unacknowledgeSchema = {
  operationId: 'withdrawVisitAcknowledgement',
  summary: 'Withdraw the acknowledgement of a visit',
  description: 'Repeating the request changes nothing.',
  ...{ tags, params, response },
};
const feedbackSchema = {
  operationId: 'giveVisitFeedback',
  summary: 'Judge whether a visit was real',
  description:
    'Stored with the visit; a later judgement replaces an earlier one. `GET /v1/feedback` and the alarm budget are ' +
    'about changes alone.',
  tags,
  params,
  body: { content: { 'application/json': { schema: ref('FeedbackRequest') } } },
  response: { ...response, ...problems(['not-found', ...BODY_PROBLEMS]) },
};
const noFeedbackSchema = {
  operationId: 'withdrawVisitFeedback',
  summary: 'Withdraw the judgement of a visit',
  description: 'Repeating the request changes nothing.',
  ...{ tags, params, response },
};

export function visitRoutes(app: Api, deps: RouteContext): void {
  const find = async (id: string, visibility: Visibility): Promise<Visit> => {
    const visit = await deps.visits.get(id);
    const [found] =
      visit !== undefined && seesCamera(visibility, visit.camera) ? await deps.visitPages.present([visit]) : [];
    if (found === undefined) throw notFound(`There is no visit ${id}: it never was or has expired`);
    return found;
  };
  type Asked = { params: { id: string }; visibility: Visibility };
  const altered = async ({ params: { id }, visibility }: Asked, alter: (visit: Visit) => Promise<boolean>) => {
    await alter(await find(id, visibility));
    return find(id, visibility);
  };

  app.get('/v1/visits', { schema: listSchema, config }, async (request, reply) => {
    const { q, label, kind = 'visit', ...query } = parsePageQuery(request.query);
    const visibility = await labelled(label, request.visibility, deps.cameras);
    return pageBody(request, reply, await deps.visitPages.list({ ...query, kind, visibility }, q));
  });

  app.get('/v1/visits/:id', { schema: getSchema, config }, async ({ params: { id }, visibility }) =>
    find(id, visibility),
  );

  app.post('/v1/visits/:id/acknowledge', { schema: acknowledgeSchema, config: judging }, async (request) =>
    altered(request, (visit) => deps.visits.acknowledge(visit, true)),
  );

  app.delete('/v1/visits/:id/acknowledge', { schema: unacknowledgeSchema, config: judging }, async (request) =>
    altered(request, (visit) => deps.visits.acknowledge(visit, false)),
  );

  app.post('/v1/visits/:id/feedback', { schema: feedbackSchema, config: judging }, async (request) => {
    const feedback = feedbackOf(request);
    return altered(request, ({ id }) => deps.visits.giveFeedback(id, feedback));
  });

  app.delete('/v1/visits/:id/feedback', { schema: noFeedbackSchema, config: judging }, async (request) =>
    altered(request, ({ id }) => deps.visits.giveFeedback(id, null)),
  );
}
