/** Cross-origin requests of browsers, for the origins of CORS_ORIGINS; without it there are none. */
import cors from '@fastify/cors';
import type { Api, ApiOptions } from '../dependencies.js';

/** Headers that a script may read, beside the ones that every script may. */
const EXPOSED = [
  'ETag',
  'Heatmap-Height',
  'Heatmap-Width',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Scenedelta-Version',
  'Trace-Id',
];
const PREFLIGHT_SECONDS = 600;

/** Must be registered before authentication, because a preflight carries no key. */
export async function useCors(app: Api, { corsOrigins }: Pick<ApiOptions, 'corsOrigins'>): Promise<void> {
  if (corsOrigins.length === 0) return;
  await app.register(cors, {
    origin: corsOrigins.includes('*') ? '*' : [...corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    exposedHeaders: EXPOSED,
    maxAge: PREFLIGHT_SECONDS,
    strictPreflight: false,
  });
}
