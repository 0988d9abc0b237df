/** Routes of links to one change, for people without a key: making one, and the page that it opens. */
import { Type } from 'typebox';
import { HOUR_MS } from '../../base/clock.js';
import { DEFAULT_LOCALE } from '../../language/translate.js';
import { dateTime } from '../../schemas/constructors.js';
import type { EvidenceData } from '../../schemas/documents.js';
import { checker } from '../../schemas/validation-error.js';
import { changePicturePath, framePath, signLink, verifyLink } from '../../secrets/links.js';
import { withIncluded } from '../../stores/redis/scopes.js';
import { seesCamera } from '../../stores/redis/visibility.js';
import { ChangeIdParams, changesOf, judging, tags } from '../changes/one-change.js';
import type { Api } from '../dependencies.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import { BODY_PROBLEMS, json, problems } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

/** The pictures of a page are loaded when it opens. */
const PICTURES_MS = HOUR_MS;

const ShareRequestSchema = Type.Object(
  {
    hours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 168, default: 24, description: 'Hours after which the link ends.' }),
    ),
  },
  { additionalProperties: false },
);
const checkShare = checker(ShareRequestSchema);

const pagePath = (keyId: string, changeId: string): string => `/shared/${keyId}/${changeId}`;

export function shareRoutes(app: Api, deps: RouteContext): void {
  const { find } = changesOf(deps);
  const { linkKey: key } = deps;

  const shareSchema = {
    operationId: 'shareChange',
    summary: 'Make a link to a change for a person without a key',
    description:
      'The link opens a page with the sentence, the times and the pictures of this change, and nothing else, until it ' +
      'ends. Then, or once the key that made it is revoked, the page states that it has ended (410).',
    tags,
    params: ChangeIdParams,
    body: { content: { 'application/json': { schema: ShareRequestSchema } } },
    response: {
      201: json('The link.', Type.Object({ url: Type.String({ format: 'uri' }), expires_at: dateTime() })),
      ...problems(['not-found', ...BODY_PROBLEMS]),
    },
  };
  app.post('/v1/changes/:id/share', { schema: shareSchema, config: judging }, async (request, reply) => {
    const { hours = 24 } = checkShare(request.body) as { hours?: number };
    const { id } = await find(request.params.id, request.visibility);
    const expiresAt = Math.ceil((deps.clock() + hours * HOUR_MS) / 1000) * 1000;
    request.log.info({ change: id, key: request.apiKeyId, until: new Date(expiresAt) }, 'link to a change made');
    const path = signLink(pagePath(request.apiKeyId ?? LOCAL_KEY_ID, id), { key, expiresAt });
    reply.code(201).header('Cache-Control', 'no-store');
    return { url: deps.baseUrl() + path, expires_at: new Date(expiresAt).toISOString() };
  });

  /** @returns undefined if the link is not genuine or has ended, or its key may not make such a link at present */
  const shown = async (keyId: string, changeId: string, { sig = '', exp = '' }: { sig?: string; exp?: string }) => {
    const now = deps.clock();
    if (!verifyLink(pagePath(keyId, changeId), { sig, exp }, { key, now })) return undefined;
    const maker = keyId === LOCAL_KEY_ID ? undefined : await deps.apiKeys.get(keyId);
    if (keyId !== LOCAL_KEY_ID && (maker === undefined || !withIncluded(maker.scopes).includes('judge'))) {
      return undefined;
    }
    const change = await deps.changes.get(changeId);
    const isAll = maker === undefined || withIncluded(maker.scopes).includes('admin');
    if (change === undefined || !seesCamera(isAll ? 'everything' : maker, change.camera)) return undefined;
    const until = Number(exp) * 1000;
    // The page may be below a path that the service does not know.
    const picture = (path: string) => `../..${signLink(path, { key, expiresAt: Math.min(until, now + PICTURES_MS) })}`;
    const { best } = change.comparisons;
    return {
      change,
      until,
      camera: await deps.cameras.get(change.camera),
      pictures: {
        outlined: picture(changePicturePath(change.id)),
        before: picture(framePath(best, 'before')),
        after: picture(framePath(best, 'after')),
      },
    };
  };

  const SharedParams = Type.Object({ key: Type.String(), change: Type.String() });
  const SharedQuery = Type.Object({ sig: Type.Optional(Type.String()), exp: Type.Optional(Type.String()) });
  app.get(
    '/shared/:key/:change',
    { schema: { hide: true, params: SharedParams, querystring: SharedQuery } },
    async ({ params, query, locale: asked }, reply) => {
      const found = await shown(params.key, params.change, query);
      const locale = asked ?? found?.camera?.settings.locale ?? DEFAULT_LOCALE;
      // Loaded with the first page.
      const { endedData, sharedData } = await import('../changes/shared-page.js');
      const { fillTemplate, readTemplate } = await import('../../base/document-template.js');
      const data: EvidenceData = found === undefined ? endedData(locale) : sharedData(found, locale);
      const template = await readTemplate(deps.documentsFolder, 'evidence');
      return reply
        .code(found === undefined ? 410 : 200)
        .header('Content-Security-Policy', `${template.policy}; frame-ancestors 'none'`)
        .header('Cache-Control', 'no-store')
        .header('Content-Language', locale)
        .header('Referrer-Policy', 'no-referrer')
        .header('Vary', 'Accept-Language')
        .header('X-Content-Type-Options', 'nosniff')
        .header('X-Robots-Tag', 'noindex')
        .type('text/html; charset=utf-8')
        .send(fillTemplate(template, data));
    },
  );
}
