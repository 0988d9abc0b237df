/**
 * Quota of the requests of one address that no key stands for: those of open routes, and those that are refused because
 * of their key. Each API process counts for itself, in memory, so that a flood reaches nothing behind it. Probes and
 * scrapes are never refused: other clients may share their address.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ScenedeltaError } from '../../base/errors.js';
import { clientOf, isSurplus, refusalDelay } from '../connections.js';
import type { ApiDependencies, ApiOptions } from '../dependencies.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** whether probes and scrapers ask the route, which then answers without a quota */
    probe?: boolean;
  }
}

/** of the quotas, of keys too */
export const WINDOW_SECONDS = 60;

export type LimitKeyless = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** @returns a function that counts one request, or throws ScenedeltaError 'too-many-requests' */
export function createKeylessLimit(
  { clock }: Pick<ApiDependencies, 'clock'>,
  { rateLimit, auth }: Pick<ApiOptions, 'rateLimit' | 'auth'>,
): LimitKeyless {
  let window = 0;
  const counts = new Map<string, number>();
  return async (request, reply) => {
    const { socket, ip, routeOptions } = request;
    if (rateLimit === 0 || auth === 'off' || routeOptions.config.probe === true) return;
    const current = Math.floor(clock() / 1000 / WINDOW_SECONDS);
    if (current !== window) counts.clear();
    window = current;
    const client = clientOf(ip);
    const count = (counts.get(client) ?? 0) + 1;
    counts.set(client, count);
    // A trusted proxy has one address for all its clients.
    const hasSurplus = ip === socket.remoteAddress && isSurplus(socket);
    if (count <= rateLimit && !hasSurplus) return;
    reply.header('Connection', 'close').header('Retry-After', WINDOW_SECONDS);
    if (hasSurplus) throw tooMany('has too many open connections, expected fewer, or a key');
    await refusalDelay();
    throw tooMany(
      `has sent ${count} requests without a valid key in this window of ${WINDOW_SECONDS} s, expected at most ` +
        `${rateLimit} (RATE_LIMIT); behind a proxy, TRUSTED_PROXIES distinguishes its clients`,
    );
  };
}

const tooMany = (what: string) => new ScenedeltaError('too-many-requests', `The address of the client ${what}`);
