/** Route of event tokens, with which browsers open event streams. */
import { Type } from 'typebox';
import { dateTime } from '../../schemas/constructors.js';
import type { Api, ApiDependencies } from '../dependencies.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import { json, problems } from '../schemas/shared.js';
import { signToken } from '../tokens.js';

export function eventTokenRoutes(app: Api, deps: Pick<ApiDependencies, 'linkKey' | 'clock'>): void {
  const schema = {
    operationId: 'createEventToken',
    summary: 'Make a token that opens event streams in a browser',
    description:
      'EventSource sends no headers. With the token in its query, `/v1/events?access_token=...` and ' +
      '`/v1/comparisons/{id}/events?access_token=...` open as they do with the key of this request, for five minutes; ' +
      'an open stream stays open. Call this on a server that has the key, and hand the token to the page.',
    tags: ['events'],
    response: {
      201: json(
        'The token.',
        Type.Object({
          token: Type.String(),
          expires_at: dateTime('Time after which no stream can be opened with it.'),
        }),
      ),
      ...problems(),
    },
  };
  app.post('/v1/events/token', { schema, config: { scope: 'compare' } }, async (request, reply) => {
    const { token, expiresAt } = signToken('events', request.apiKeyId ?? LOCAL_KEY_ID, {
      key: deps.linkKey,
      now: deps.clock(),
    });
    reply.code(201).header('Cache-Control', 'no-store');
    return { token, expires_at: new Date(expiresAt).toISOString() };
  });
}
