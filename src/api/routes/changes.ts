/** Routes of changes. */
import { Type } from 'typebox';
import { invalidValue } from '../../base/errors.js';
import { roundFigures } from '../../schemas/rounding.js';
import { labelled } from '../cameras/labelled.js';
import { CHANGE_RESPONSES, ChangeIdParams, changesOf, config, judging, tags } from '../changes/one-change.js';
import type { Api } from '../dependencies.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import { LIST_CHANGES_RESPONSES, ListChangesQuerySchema } from '../schemas/list-changes.js';
import { pageBody, parsePageQuery } from '../schemas/pages.js';
import { json, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const NOT_QUEUED = 'alert of an acknowledgement not queued; recovery will queue it';

export function changeRoutes(app: Api, deps: RouteContext): void {
  const { enqueueDelivery } = deps;
  const { find, altered } = changesOf(deps);

  const listSchema = {
    operationId: 'listChanges',
    summary: 'List changes, the latest confirmed first, or search for them',
    description:
      'With `q` or `like` the best answers come first, each with `match`, and `search` states how the query was ' +
      'understood; changes that state the opposite direction come last. `visits` has the visits of the same words. All ' +
      'times are capture times.',
    tags,
    querystring: ListChangesQuerySchema,
    response: LIST_CHANGES_RESPONSES,
  };
  app.get('/v1/changes', { schema: listSchema, config }, async (request, reply) => {
    const { label, ...asked } = parsePageQuery(request.query);
    const visibility = await labelled(label, request.visibility, deps.cameras);
    const { q, like, ...query } = asked;
    if (q !== undefined || like !== undefined) {
      // Loaded with the first search: no other request reads a query.
      const { searchPage } = await import('../search/search-page.js');
      const [found, visitsFound] = await Promise.all([
        searchPage(asked, visibility, { ...deps, find: (id) => find(id, request.visibility) }),
        q === undefined || !asksForVisits(query)
          ? null
          : deps.visitPages.list({ ...query, kind: 'visit', visibility }, q),
      ]);
      return {
        ...pageBody(request, reply, found),
        search: found.search,
        ...(visitsFound && { visits: { items: visitsFound.items, next_cursor: visitsFound.nextCursor } }),
      };
    }
    const page = await deps.changes.list({ ...query, visibility });
    return pageBody(request, reply, { ...page, items: page.items.map(roundFigures) });
  });

  const getSchema = {
    operationId: 'readChange',
    summary: 'Read a change',
    tags,
    params: ChangeIdParams,
    response: CHANGE_RESPONSES,
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
      200: json('The deliveries.', Type.Object({ items: Type.Array(ref('Delivery')) })),
      ...problems(['not-found']),
    },
  };
  app.get(
    '/v1/changes/:id/deliveries',
    { schema: deliveriesSchema, config },
    async ({ params: { id }, visibility }) => {
      await find(id, visibility);
      return { items: await deps.deliveries.ofSubject(id) };
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
    response: CHANGE_RESPONSES,
  };
  app.post('/v1/changes/:id/acknowledge', { schema: acknowledgeSchema, config: judging }, async (request) => {
    const by = { traceId: request.id, apiKeyId: request.apiKeyId ?? LOCAL_KEY_ID };
    return altered(request, async (id) => {
      const { change, alert = null } = (await deps.changes.acknowledge(id, by)) ?? {};
      // It is stored, so if this fails, recovery queues it.
      if (alert !== null) await enqueueDelivery.ofAlert(alert).catch((err) => request.log.warn({ err }, NOT_QUEUED));
      return change;
    });
  });

  const unacknowledgeSchema = {
    operationId: 'withdrawAcknowledgement',
    summary: 'Withdraw the acknowledgement of a change',
    description: 'Alerts about it may follow again, if its severity rises. Repeating the request changes nothing.',
    tags,
    params: ChangeIdParams,
    response: CHANGE_RESPONSES,
  };
  app.delete('/v1/changes/:id/acknowledge', { schema: unacknowledgeSchema, config: judging }, async (request) =>
    altered(request, (id) => deps.changes.withdrawAcknowledgement(id)),
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
      202: json('The change as it is before that frame.', ref('Change')),
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
        throw invalidValue(`The change ${id} ${came}, expected one that frames still show`);
      }
      await deps.changes.makeNormal(change);
      return reply.code(202).send(change);
    },
  );
}

/** Whether a query is the first page of a search that a visit can fit: it has no zone, kind, severity or status. */
const asksForVisits = (query: Readonly<Record<string, unknown>>): boolean =>
  ['cursor', 'zone', 'kind', 'severity', 'status'].every((name) => query[name] === undefined);
