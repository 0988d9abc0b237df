/** Routes of visits: things followed over time, from the store and, while they last, from the camera's state. */
import { Type } from 'typebox';
import { notFound } from '../../base/errors.js';
import { literals } from '../../schemas/constructors.js';
import { NOT_BLANK_PATTERN } from '../../schemas/patterns.js';
import { VISIT_ID_PATTERN, VISIT_KINDS, VisitSchema } from '../../schemas/visit.js';
import { seesCamera } from '../../stores/redis/visibility.js';
import { labelled, labelQuery } from '../cameras/labelled.js';
import type { Api } from '../dependencies.js';
import { pageBody, pageQuery, pageResponses, parsePageQuery, timeQuery } from '../schemas/pages.js';
import { json, problems, ref } from '../schemas/shared.js';
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
  response: pageResponses(VisitSchema),
};

const getSchema = {
  operationId: 'readVisit',
  summary: 'Read a visit',
  tags,
  params: Type.Object({ id: Type.String({ pattern: VISIT_ID_PATTERN, description: 'Id of the visit.' }) }),
  response: { 200: json('The current state of the visit.', ref(VisitSchema)), ...problems(['not-found']) },
};

export function visitRoutes(app: Api, deps: RouteContext): void {
  app.get('/v1/visits', { schema: listSchema, config }, async (request, reply) => {
    const { q, label, kind = 'visit', ...query } = parsePageQuery(request.query);
    const visibility = await labelled(label, request.visibility, deps.cameras);
    return pageBody(request, reply, await deps.visitPages.list({ ...query, kind, visibility }, q));
  });

  app.get('/v1/visits/:id', { schema: getSchema, config }, async ({ params: { id }, visibility }) => {
    const visit = await deps.visits.get(id);
    const [found] =
      visit !== undefined && seesCamera(visibility, visit.camera) ? await deps.visitPages.present([visit]) : [];
    if (found === undefined) {
      throw notFound(`There is no visit ${id}: it never was or has expired`);
    }
    return found;
  });
}
