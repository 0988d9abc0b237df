/** The OpenAPI 3.1 description, generated from the schemas that validate, and a page to read and try it. */
import { createHash } from 'node:crypto';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from 'yaml';
import { DESCRIPTION, VERSION } from '../../base/version.js';
import type { Api } from '../dependencies.js';
import { components } from '../schemas/components.js';
import { REQUEST_EXAMPLES, RESPONSE_EXAMPLES } from '../schemas/examples.js';
import { WEBHOOKS } from '../schemas/webhooks.js';
import { SESSION_COOKIE } from './auth.js';
import { shareParts } from './share-parts.js';

const TAGS = {
  comparisons: 'Two frames in, a sentence and heatmaps out.',
  cameras: 'Named sources of frames with settings: one frame in, compared with the "before" of the camera.',
  changes: 'Changes that comparisons of a camera found: opened, persisting, reverted, acknowledged.',
  visits: 'Things followed over time: one record per thing that came, moved about and went.',
  batches: 'Archived footage in, changes out.',
  events: 'Live events (server-sent events).',
  models: 'Bundles that the live workers serve.',
  sessions: 'Signing in of browsers: a cookie instead of the API key.',
  operations:
    'For probes, scrapers and scalers. Probes need no key, metrics one with METRICS_AUTH=on; else keep them off the public network.',
} as const;

/** Said once, instead of four headers on each of the 500 answers. */
const COMMON_HEADERS = [
  'Every answer has the headers Trace-Id, the id of this request in logs and webhooks, and Scenedelta-Version, the',
  'version of the service. Every answer under /v1 has RateLimit, the rest of the quota of the key (r) and the seconds',
  'until it is renewed (t): `"default";r=599;t=42`, and RateLimit-Policy, the quota (q) in a window (w, seconds):',
  '`"default";q=6000;w=60`. Sentences are in the first language of Accept-Language that Content-Language of the answer',
  'names, or in English.',
].join(' ');

type Content = Record<string, { schema?: { $ref?: string }; examples?: object }>;
interface Described {
  paths?: Record<
    string,
    Record<string, { requestBody?: { content: Content }; responses: Record<string, { content?: Content }> }>
  >;
}

/** Adds the examples of a component to the bodies that it describes, in place. */
function addExamples(content: Content, examplesOf: (component: string) => object | undefined): void {
  for (const media of Object.values(content)) {
    const examples = examplesOf(media.schema?.$ref?.split('/').at(-1) ?? '');
    if (examples !== undefined) media.examples = examples;
  }
}

function withExamples<T extends object>(document: T): T {
  for (const { requestBody, responses } of Object.values((document as Described).paths ?? {}).flatMap((operations) =>
    Object.values(operations),
  )) {
    addExamples(requestBody?.content ?? {}, (component) => REQUEST_EXAMPLES[component]);
    for (const [status, { content = {} }] of Object.entries(responses)) {
      addExamples(content, (component) => {
        const example = RESPONSE_EXAMPLES[component]?.[status];
        return example === undefined ? undefined : { example };
      });
    }
  }
  return document;
}

export async function useOpenApi(app: Api): Promise<void> {
  for (const schema of components()) app.addSchema(schema);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'scenedelta',
        version: VERSION,
        description: `${DESCRIPTION}\n\n${COMMON_HEADERS}\n\nErrors are RFC 9457 problems; docs/errors.md explains their types.`,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      webhooks: WEBHOOKS,
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      security: [{ bearer: [] }, { apiKey: [] }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'scenedelta keys create' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: SESSION_COOKIE,
            description:
              'POST /v1/session sets it; for pages of the service itself. Requests that alter something also need the ' +
              'header X-CSRF-Protection.',
          },
          eventToken: {
            type: 'apiKey',
            in: 'query',
            name: 'access_token',
            description: 'POST /v1/events/token; for event streams only.',
          },
        },
      },
    },
    transformObject: (described) =>
      // The copy shares no object, so that /docs/yaml needs no aliases, which some generators of clients refuse.
      'openapiObject' in described
        ? shareParts(shorten(JSON.parse(JSON.stringify(withExamples(described.openapiObject)))))
        : described.swaggerObject,
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
  });
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
    uiHooks: { preHandler: answerDescription(app) },
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

/** How /docs/json and /docs/yaml write the description. */
const WRITTEN = {
  '/docs/json': { type: 'application/json; charset=utf-8', write: (document: object) => JSON.stringify(document) },
  '/docs/yaml': { type: 'application/x-yaml', write: (document: object) => stringify(document) },
} as const;
const DESCRIPTIONS = Object.keys(WRITTEN) as (keyof typeof WRITTEN)[];

/**
 * Answers from memory: the plugin would write the description for each request, which takes as long as hundreds of
 * other answers. It is written once the service listens, beside the rest of the start.
 */
function answerDescription(app: Api) {
  const written = new Map<string, { body: Buffer; etag: string }>();
  const writtenAt = (url: keyof typeof WRITTEN) => {
    const one = written.get(url) ?? withEtag(WRITTEN[url].write({ ...app.swagger(), servers: [{ url: '..' }] }));
    written.set(url, one);
    return one;
  };
  app.addHook('onListen', async () => {
    for (const url of DESCRIPTIONS) setImmediate(writtenAt, url);
  });
  return async ({ headers, routeOptions }: FastifyRequest, reply: FastifyReply) => {
    const url = DESCRIPTIONS.find((one) => one === routeOptions.url);
    if (url === undefined) return;
    const { body, etag } = writtenAt(url);
    reply.header('ETag', etag).header('Cache-Control', 'no-cache');
    return headers['if-none-match'] === etag ? reply.code(304).send() : reply.type(WRITTEN[url].type).send(body);
  };
}

const withEtag = (text: string) => ({
  body: Buffer.from(text),
  etag: `"${createHash('sha256').update(text).digest('base64url')}"`,
});

/**
 * Leaves out `required: false` of parameters, which is the default and replaces `anyOf: [{type: string}, {type: null}]`
 * by `type: [string, null]`: of the keywords of a type only `const` and `enum` restrict null. In place.
 */
function shorten<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) shorten(part);
  const schema = value as Record<string, unknown>;
  if (schema.in !== undefined && schema.required === false) delete schema.required;
  const [given, none, ...others] = Array.isArray(schema.anyOf) ? (schema.anyOf as Record<string, unknown>[]) : [];
  if (others.length > 0 || none?.type !== 'null' || typeof given?.type !== 'string') return value;
  if ('const' in given) return value;
  const { anyOf: _anyOf, ...rest } = schema;
  for (const key of Object.keys(schema)) delete schema[key];
  const values = Array.isArray(given.enum) ? { enum: [...given.enum, null] } : {};
  Object.assign(schema, given, values, { type: [given.type, 'null'] }, rest);
  return value;
}
