/** Answers 405 with `Allow`, rather than 404, to other methods on a known path. */
import { ScenedeltaError } from '../../base/errors.js';
import type { Api } from '../dependencies.js';
import { shownPath } from './shown-path.js';

/** Must be called before the routes are registered. @returns a function to call after they are */
export function collectMethods(app: Api): () => void {
  const taken = new Map<string, Set<string>>();
  let watching = true;
  app.addHook('onRoute', ({ url, method }) => {
    if (!watching || url.includes('*')) return;
    const methods = taken.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    taken.set(url, methods);
  });
  return () => {
    watching = false;
    for (const [url, methods] of taken) {
      const missing = app.supportedMethods.filter((method) => !methods.has(method) && method !== 'OPTIONS');
      const allow = [...methods].join(', ');
      if (missing.length === 0) continue;
      app.route({
        method: missing,
        url,
        schema: { hide: true },
        // onRequest runs before the body is parsed, because its content does not matter.
        onRequest: async (request, reply) => {
          reply.header('Allow', allow);
          throw new ScenedeltaError(
            'method-not-allowed',
            `${shownPath(request)} does not take ${request.method}, expected ${allow}`,
          );
        },
        handler: async () => {},
      });
    }
  };
}
