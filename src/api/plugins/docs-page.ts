/** A page to read and try the description of the API, and the description itself: openapi.yaml, not the routes. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '../dependencies.js';

const FOLDER = new URL('../../../openapi/', import.meta.url);
/** The page and its readers are below /docs, the routes are not. */
const SERVERS = { file: 'servers: [{url: /}]', served: 'servers: [{url: ..}]' } as const;

export async function useDocsPage(app: Api): Promise<void> {
  const [yaml, json] = await Promise.all(
    ['openapi.yaml', 'generated/openapi.json'].map((file) => readFile(new URL(file, FOLDER), 'utf8')),
  );
  const document = { ...JSON.parse(json as string), servers: [{ url: '..' }] };
  await app.register(swagger, { mode: 'static', specification: { document } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Addresses relative to the page, which may be below a path of its host.
    indexPrefix: '.',
    theme: {
      title: 'scenedelta',
      // The bar at the top has the logo of another project, and nothing that one description needs.
      css: [{ filename: 'scenedelta.css', content: '.swagger-ui .topbar { display: none; }' }],
      favicon: [{ filename: 'mark.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: MARK }],
    },
    uiHooks: {
      preHandler: answerDescription({
        '/docs/json': described('application/json; charset=utf-8', JSON.stringify(document)),
        '/docs/yaml': described('application/x-yaml', (yaml as string).replace(SERVERS.file, SERVERS.served)),
      }),
    },
    staticCSP: true,
    // With the removed directive a browser requests the scripts of the page over TLS, which the service does not speak.
    transformStaticCSP: (policy) =>
      policy
        .replace(/\s*upgrade-insecure-requests;?/, '')
        .replace("style-src 'self'", `style-src 'self' ${STYLE_OF_THE_PAGE}`),
  });
}

/** Hash of the style element that the scripts of Swagger UI insert; a test in the browser finds another one. */
const STYLE_OF_THE_PAGE = "'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='";
/** As console/public/icons/mark.svg. */
const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#00707d"/>' +
  '<path d="M5.5 23.5 12 10l6.5 13.5z" fill="none" stroke="#9fe8ef" stroke-width="2" stroke-linejoin="round"/>' +
  '<path d="M13.5 23.5 20 10l6.5 13.5z" fill="#fff"/></svg>';

interface Described {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

const described = (type: string, text: string): Described => ({
  type,
  body: Buffer.from(text),
  etag: `"${createHash('sha256').update(text).digest('base64url')}"`,
});

/** The plugin would write the description for each request, which takes as long as hundreds of other answers. */
function answerDescription(written: Readonly<Record<string, Described>>) {
  return async ({ headers, routeOptions }: FastifyRequest, reply: FastifyReply) => {
    const one = written[routeOptions.url ?? ''];
    if (one === undefined) return;
    const { type, body, etag } = one;
    reply.header('ETag', etag).header('Cache-Control', 'no-cache');
    return headers['if-none-match'] === etag ? reply.code(304).send() : reply.type(type).send(body);
  };
}
