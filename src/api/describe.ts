/** The OpenAPI 3.1 description, generated from the schemas that validate: the contents of openapi.yaml. */
import { readFileSync } from 'node:fs';
import swagger from '@fastify/swagger';
import { DESCRIPTION, VERSION } from '../base/version.js';
import type { Api } from './dependencies.js';
import { SESSION_COOKIE } from './plugins/auth.js';
import { components } from './schemas/components.js';
import { WEBHOOKS } from './schemas/webhooks.js';
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

type Examples = Readonly<
  Record<string, Readonly<Record<string, { readonly summary: string; readonly value: object }>>>
>;
/** Examples of bodies. A test checks openapi/examples.json against the schemas. */
const examples = JSON.parse(readFileSync(new URL('../../openapi/examples.json', import.meta.url), 'utf8'));
export const REQUEST_EXAMPLES: Examples = examples.requests;
export const RESPONSE_EXAMPLES: Examples = examples.responses;

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

/** To be called before the routes are added; `app.swagger()` is the description once the app is ready. */
export async function describeRoutes(app: Api): Promise<void> {
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
      // The copy shares no object, so that the file needs no aliases, which some generators of clients refuse.
      'openapiObject' in described
        ? shareParts(shorten(JSON.parse(JSON.stringify(withExamples(described.openapiObject)))))
        : described.swaggerObject,
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
  });
}

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
