/**
 * Quota of requests per key and minute, with the headers of draft-ietf-httpapi-ratelimit-headers (structured fields).
 */
import { ScenedeltaError } from '../../base/errors.js';
import { isUnavailable } from '../../stores/redis/redis.js';
import type { Api, ApiDependencies, ApiOptions } from '../dependencies.js';
import { LOCAL_KEY_ID } from './auth.js';
import { WINDOW_SECONDS } from './keyless-limit.js';

/** Must be registered after auth. Requests without a key (AUTH=off, signed links) have no quota. */
export function useRateLimit(
  app: Api,
  deps: Pick<ApiDependencies, 'rates' | 'clock'>,
  options: Pick<ApiOptions, 'rateLimit'>,
): void {
  const { rateLimit } = options;
  if (rateLimit === 0) return;
  app.addHook('onRequest', async (request, reply) => {
    const { apiKeyId } = request;
    if (apiKeyId === undefined || apiKeyId === LOCAL_KEY_ID) return;
    const seconds = deps.clock() / 1000;
    const window = Math.floor(seconds / WINDOW_SECONDS);
    const count = await deps.rates.count(apiKeyId, window, WINDOW_SECONDS).catch(ignoreOutage);
    if (count === undefined) return;
    const resetSeconds = Math.ceil((window + 1) * WINDOW_SECONDS - seconds);
    reply.header('RateLimit-Policy', `"default";q=${rateLimit};w=${WINDOW_SECONDS}`);
    reply.header('RateLimit', `"default";r=${Math.max(rateLimit - count, 0)};t=${resetSeconds}`);
    if (count <= rateLimit) return;
    reply.header('Retry-After', resetSeconds);
    throw new ScenedeltaError(
      'too-many-requests',
      `The key has sent ${count} requests in this window of ${WINDOW_SECONDS} s, expected at most ` +
        `${rateLimit} (RATE_LIMIT); the next one starts in ${resetSeconds} s`,
    );
  });
}

/** A Redis with full memory or disk can still be read, so requests pass uncounted and reads work. */
function ignoreOutage(thrown: unknown): undefined {
  if (isUnavailable(thrown)) return undefined;
  throw thrown;
}
