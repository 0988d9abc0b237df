/** The language of a request: sentences of its answer are written in the first language it accepts that has a table. */
import type { Locale } from '../../language/locales.js';
import { acceptedLocale, DEFAULT_LOCALE, translated } from '../../language/translate.js';
import type { Api } from '../dependencies.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** undefined: the request accepts no language that has a table */
    locale: Locale | undefined;
  }
}

const WITH_SENTENCES =
  /^\/v1\/(?:comparisons|changes|visits|batches|cameras(?:\/:id)?$|cameras\/:id\/(?:frames|comparisons))/;

export function useLanguage(app: Api): void {
  app.decorateRequest('locale', undefined);
  app.addHook('onRequest', async (request) => {
    request.locale = acceptedLocale(request.headers['accept-language'] ?? '');
  });
  app.addHook('preSerialization', async (request, reply, payload) => {
    if (reply.statusCode >= 400 || !WITH_SENTENCES.test(request.routeOptions.url ?? '')) return payload;
    const { locale = DEFAULT_LOCALE } = request;
    const vary = reply.getHeader('Vary');
    reply.header('Content-Language', locale).header('Vary', vary ? `${vary}, Accept-Language` : 'Accept-Language');
    return translated(payload, locale);
  });
}
