/** The OpenAPI 3.1 description, made from the schemas that validate, and a page to read and try it. */
import { readFileSync } from 'node:fs';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { Api } from '../dependencies.js';
import { components } from '../schemas/shared.js';

const packageJson = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
  description: string;
};
export const { version: VERSION } = packageJson;

export const TAGS = {
  comparisons: 'Two frames in, a sentence and heatmaps out.',
  events: 'What happens, as it happens (server-sent events).',
  models: 'Which bundles the live workers serve.',
  operations: 'For probes, scrapers and scalers; no key is asked for, so keep them off the public network.',
} as const;

export async function useOpenApi(app: Api): Promise<void> {
  for (const schema of components()) app.addSchema(schema);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'scenedelta',
        version: VERSION,
        description: `${packageJson.description}\n\nErrors are RFC 9457 problems; their types are explained in docs/errors.md.`,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      security: [{ bearer: [] }, { apiKey: [] }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'scenedelta keys create' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        },
      },
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
  });
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
}
