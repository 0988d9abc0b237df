/**
 * The page of the queues at /v1/queues: Bull Board, for keys with the scope admin, read only. Below /v1, because a
 * browser sends the cookie of its session there alone. Its packages are loaded only if QUEUE_PAGE is on.
 */
import { ScenedeltaError } from '../../base/errors.js';
import type { Api, ApiDependencies, ApiOptions } from '../dependencies.js';
import { basePathOf } from './base-path.js';

const PATH = '/v1/queues';

/** Scripts of the service alone. The page writes its own style elements. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** The page has fonts of the system: a foreign host would learn who looks. */
const FOREIGN_FONTS = /<link\b[^>]*\bhref="https:\/\/fonts\.[^>]*>/g;

export async function useQueuePage(
  app: Api,
  { queue }: Pick<ApiDependencies, 'queue'>,
  options: Pick<ApiOptions, 'queuePage' | 'publicUrl'>,
): Promise<void> {
  if (!options.queuePage) return;
  const [{ createBullBoard }, { BullMQAdapter }, { FastifyAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/fastify'),
  ]);
  const board = new FastifyAdapter().setBasePath(basePathOf(options) + PATH);
  createBullBoard({
    queues: queue.queues.map((one) => new BullMQAdapter(one, { readOnlyMode: true })),
    serverAdapter: board,
    options: { uiConfig: { boardTitle: 'scenedelta', hideRedisDetails: true } },
  });
  // An error that this handler throws goes to the handler of the service, which answers with a problem.
  board.setErrorHandler((error) => {
    throw error;
  });
  await app.register(
    async (page) => {
      page.addHook('onRoute', (route) => {
        route.config = { ...route.config, scope: 'admin' };
      });
      page.addHook('onRequest', async ({ method }, reply) => {
        if (method === 'GET' || method === 'HEAD') return;
        reply.header('Allow', 'GET, HEAD');
        throw new ScenedeltaError('method-not-allowed', `${PATH} is read only: it does not take ${method}`);
      });
      page.addHook('onSend', async (_request, reply, payload) => {
        reply.header('X-Content-Type-Options', 'nosniff').header('Referrer-Policy', 'no-referrer');
        if (!String(reply.getHeader('content-type')).startsWith('text/html')) return payload;
        reply.header('Content-Security-Policy', POLICY).header('Cache-Control', 'no-store');
        return String(payload).replace(FOREIGN_FONTS, '');
      });
      await page.register(board.registerPlugin());
    },
    { prefix: PATH },
  );
}
