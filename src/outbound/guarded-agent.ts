/**
 * Connections to allowed addresses only. The check is in the lookup of names, so that it holds for every connection. A
 * name is resolved once, all of its addresses are checked, and the socket gets exactly these, because a second query
 * could return others (DNS rebinding). Literal addresses are not looked up, so they are checked before.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { ScenedeltaError } from '../base/errors.js';
import { createHttpClient, type HttpClient } from '../process/http-exchange.js';
import { ALLOWED_ADDRESSES, type AllowList, bareHost, checkAddress, type Target, targetOf } from './address.js';

interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

const systemResolve: Resolve = (hostname) => systemLookup(hostname, { all: true, verbatim: true });

/**
 * Least time from the lookup of a name to its refusal, longer than a DNS server takes to answer: a caller must not
 * learn from the time whether the name exists.
 */
const REFUSAL_MS = 1_000;

export interface GuardedAgent {
  /** @throws ScenedeltaError url-refused, url-unavailable; else as HttpClient does */
  request: HttpClient['request'];
  /** @returns a connection to an allowed address, with TLS for https and rtsps. @throws as a request does */
  connect(url: URL, signal: AbortSignal): Promise<Socket>;
  /** Aborts running requests and connections. */
  close(): void;
}

export function createGuardedAgent(options: { allow: AllowList; timeoutMs: number; resolve?: Resolve }): GuardedAgent {
  const { allow, timeoutMs, resolve = systemResolve } = options;

  /** @returns the addresses of a name; undefined if it has none, or not only such as may be reached */
  const resolveAllowed = async (hostname: string, target: Target) => {
    const ended = new AbortController();
    const late = sleep((2 / 3) * timeoutMs, [], { signal: ended.signal });
    const none = () => [] as const;
    // A DNS server that does not answer is no different from one that does not know the name.
    const found = await Promise.race([resolve(hostname).catch(none), late.catch(none)]);
    ended.abort();
    const allowed = found.every(({ address }) => checkAddress(address, allow, target) === null);
    return found.length > 0 && allowed ? found : undefined;
  };

  const lookupFor =
    (target: Target): LookupFunction =>
    async (hostname, { all }, done) => {
      const refusable = sleep(Math.min(REFUSAL_MS, timeoutMs / 2), undefined, { ref: false });
      const found = await resolveAllowed(hostname, target);
      const first = found?.[0];
      if (first === undefined) {
        await refusable;
        done(noAddress(hostname), '', 0);
      } else if (all === true) done(null, [...(found ?? [])]);
      else done(null, first.address, first.family);
    };
  const client = createHttpClient({ idleMs: timeoutMs, lookupFor: (url) => lookupFor(targetOf(url)) });
  const connections = new Set<Socket>();

  const assertAllowed = (url: URL): string => {
    const host = bareHost(url.hostname);
    const refusal = isIP(host) === 0 ? null : checkAddress(host, allow, targetOf(url));
    if (refusal !== null)
      throw new ScenedeltaError('url-refused', `${host} is ${refusal}, expected ${ALLOWED_ADDRESSES}`);
    return host;
  };

  return {
    async request(url, request) {
      assertAllowed(url);
      return client.request(url, request);
    },
    async connect(url, signal) {
      const host = assertAllowed(url);
      signal.throwIfAborted();
      const target = targetOf(url);
      const to = { host, port: target.port, lookup: lookupFor(target) };
      const servername = isIP(host) === 0 ? { servername: host } : {};
      const secure = /^(?:https|rtsps):$/.test(url.protocol);
      const socket = secure ? connectTls({ ...to, ...servername }) : connectTcp(to);
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
      const onAbort = () => void socket.destroy(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        await once(socket, secure ? 'secureConnect' : 'connect');
        return socket;
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
    close() {
      client.close();
      for (const socket of connections) socket.destroy();
    },
  };
}

/**
 * The same error for a name that does not exist and for one with a private address: a caller must not learn the names
 * and addresses of an internal network. It is transient, because a DNS server may fail for a moment.
 */
const noAddress = (hostname: string): ScenedeltaError =>
  new ScenedeltaError(
    'url-unavailable',
    `${hostname} has no address that the service connects to: expected a name with a public address, or with one in ` +
      'OUTBOUND_ALLOW',
  );
