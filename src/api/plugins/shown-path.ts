/** The path of a request as logs and messages show it. */
import type { FastifyRequest } from 'fastify';

const MOST_CHARACTERS = 200;

/** Without its query, because the signature of a link is a secret, and not as long as a caller likes. */
export function shownPath({ url }: Pick<FastifyRequest, 'url'>): string {
  const path = url.split('?')[0] as string;
  return path.length > MOST_CHARACTERS ? `${path.slice(0, MOST_CHARACTERS)}... (${path.length} characters)` : path;
}
