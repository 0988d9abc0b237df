/**
 * The service below a path of its host, e.g. PUBLIC_URL=https://host/cams/scenedelta. Proxies either remove that path
 * from requests or leave it there; both work. Pages of the service have relative links, so other proxies may add a path
 * that the service does not know.
 */
import type { Api, ApiOptions } from '../dependencies.js';

type Options = Pick<ApiOptions, 'publicUrl'>;
/** @returns e.g. '/cams/scenedelta'; '' at the root of a host */
export const basePathOf = ({ publicUrl }: Options): string =>
  publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');

/** @returns rewriteUrl of Fastify: the address as the routes have it */
export function withoutBasePath(options: Options): (request: { url?: string | undefined }) => string {
  const base = basePathOf(options);
  return ({ url = '/' }) => (base !== '' && url.startsWith(`${base}/`) ? url.slice(base.length) : url);
}

/** Redirects the path without its slash, and puts it before the paths in headers of answers. */
export function useBasePath(app: Api, options: Options): void {
  const base = basePathOf(options);
  if (base === '') return;
  app.addHook('onRequest', async (request, reply) => {
    if (request.url.split('?')[0] === base) return reply.redirect('/', 308);
  });
  app.addHook('onSend', async (_request, reply) => {
    for (const name of ['location', 'link']) {
      const value = reply.getHeader(name);
      if (typeof value === 'string') reply.header(name, value.replace(/^<?(?=\/)/, `$&${base}`));
    }
  });
}
