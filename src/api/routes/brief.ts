/** Route of the daily brief. */
import { Type } from 'typebox';
import type { Api } from '../dependencies.js';
import { BriefQuery } from '../schemas/brief.js';
import { media, problems, RESPONSE_HEADERS, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const schema = {
  operationId: 'readBrief',
  summary: 'The daily brief: visits, things that came, left and are still there, and times without sight',
  description:
    'Per camera the visits and the confirmed changes of one day, without those that were called a false alarm, and the times in which ' +
    'the camera showed nothing. Changes of one sentence are grouped. `limit` and `cursor` page through the cameras.',
  tags: ['changes'],
  querystring: BriefQuery,
  response: {
    200: media(
      'The brief.',
      { 'application/json': ref('Brief'), 'text/markdown': Type.String(), 'text/html': Type.String() },
      RESPONSE_HEADERS.link,
    ),
    ...problems(['not-found', 'invalid-value']),
  },
};

export function briefRoutes(app: Api, deps: RouteContext): void {
  app.get('/v1/brief', { schema, config: { scope: 'read' } }, async (request, reply) => {
    // Loaded with the first brief: no other request needs its lists and sentences.
    const { answerBrief } = await import('../brief/answer.js');
    return answerBrief(request, reply, deps);
  });
}
