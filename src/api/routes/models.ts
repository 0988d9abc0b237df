/** Routes of the models that the live workers serve. */
import { Type } from 'typebox';
import { notFound } from '../../base/errors.js';
import type { Api } from '../dependencies.js';
import { servedModels } from '../intake/models.js';
import { json, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

export function modelRoutes(app: Api, deps: RouteContext): void {
  const config = { scope: 'read' } as const;

  const listSchema = {
    operationId: 'listModels',
    summary: 'List the models',
    description: 'As the live workers report them; empty if none is live or all of them are still warming up.',
    tags: ['models'],
    response: { 200: json('The models.', Type.Object({ items: Type.Array(ref('ServedModel')) })), ...problems() },
  };
  app.get('/v1/models', { schema: listSchema, config }, async () => ({ items: await servedModels(deps.workers) }));

  const getSchema = {
    operationId: 'readModel',
    summary: 'Read one model',
    tags: ['models'],
    params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 128, description: 'Name of the bundle.' }) }),
    response: { 200: json('The model.', ref('ServedModel')), ...problems(['not-found']) },
  };
  app.get('/v1/models/:name', { schema: getSchema, config }, async (request) => {
    const served = await servedModels(deps.workers);
    const found = served.find((model) => model.name === request.params.name);
    if (found !== undefined) return found;
    throw notFound(
      `No live worker serves ${JSON.stringify(request.params.name)}, expected one of ` +
        `${served.map((m) => m.name).join(', ') || '(none)'}`,
    );
  });
}
