/** The console: static files that `npm run build` makes of the folder console/, with a strict security policy. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply } from 'fastify';
import type { Api, ApiDependencies } from '../dependencies.js';

/** Sends the page of the console; null if there is none to serve. */
export type StartPage = ((reply: FastifyReply) => FastifyReply) | null;

/** Paths of its views beside '/': a page that is loaded there is the same one. */
const VIEWS = [
  ...['/try', '/review', '/review/:change', '/cameras', '/cameras/:camera', '/wall', '/footage', '/footage/:batch'],
  ...['/endpoints', '/endpoints/:endpoint', '/system'],
];
const YEAR_MS = 365 * 86_400_000;
/** Files of an installed page, whose names have no hash. */
const INSTALLED = {
  'manifest.webmanifest': 'application/manifest+json',
  'service-worker.js': 'text/javascript; charset=utf-8',
  'icons/mark.svg': 'image/svg+xml',
  ...Object.fromEntries(['180', '192', '512', 'maskable'].map((name) => [`icons/${name}.png`, 'image/png'])),
};

/**
 * Scripts, styles and connections of its own origin only; pictures and videos also from memory, for files that the user
 * has chosen.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  // Home Assistant shows pages below a path of its own address in a frame.
  "frame-ancestors 'self'",
].join('; ');

/**
 * Serves the views and the files below /assets. The names of the files contain a hash of their content, so browsers
 * keep them; the page itself is checked on every visit.
 */
export async function useConsole(
  app: Api,
  { consoleFolder }: Pick<ApiDependencies, 'consoleFolder'>,
): Promise<StartPage> {
  const page = consoleFolder === null ? undefined : await readPage(join(consoleFolder, 'index.html'));
  if (page === undefined || consoleFolder === null) return null;
  await app.register(fastifyStatic, {
    root: join(consoleFolder, 'assets'),
    prefix: '/assets/',
    index: false,
    decorateReply: false,
    // The build writes each file also as .br and .gz.
    preCompressed: true,
    immutable: true,
    maxAge: YEAR_MS,
    setHeaders: (response) => {
      response.setHeader('Vary', 'Accept-Encoding');
      response.setHeader('X-Content-Type-Options', 'nosniff');
    },
  });
  for (const [name, type] of Object.entries(INSTALLED)) {
    const file = await readFile(join(consoleFolder, name));
    app.get(`/${name}`, { schema: { hide: true } }, async (_request, reply) =>
      reply.header('Cache-Control', 'no-cache').header('X-Content-Type-Options', 'nosniff').type(type).send(file),
    );
  }
  // The page names its files relative to the root of the service, e.g. ./assets/index.js.
  const send = (reply: FastifyReply) =>
    reply
      .header('Content-Security-Policy', POLICY)
      .header('Cache-Control', 'no-cache')
      .header('Cross-Origin-Opener-Policy', 'same-origin')
      .header('Referrer-Policy', 'no-referrer')
      .header('X-Content-Type-Options', 'nosniff')
      .type('text/html; charset=utf-8')
      .send(page.replaceAll('"./', `"${upFrom(reply.request.url)}`));
  for (const view of VIEWS) app.get(view, { schema: { hide: true } }, async (_request, reply) => send(reply));
  return send;
}

/** @returns the way from a path to the root of the service, e.g. '../' from '/review/chg_1' */
const upFrom = (url: string): string => `./${'../'.repeat((url.split('?')[0] as string).split('/').length - 2)}`;

/** @returns undefined if the console has not been built */
async function readPage(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
