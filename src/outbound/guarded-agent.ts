/**
 * Connections to allowed addresses only. The check is in the lookup of names, so that it holds for every connection. A
 * name is resolved once, all of its addresses are checked, and the socket gets exactly these, because a second query
 * could return others (DNS rebinding). Literal addresses are not looked up, so they are checked before.
 *
 * A proxy resolves names itself. Then the check is of the addresses that this machine finds, and a name that it does
 * not know is left to the proxy, which must refuse the addresses of its own network.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ScenedeltaError } from '../base/errors.js';
import { openConnection } from '../process/connect.js';
import { createHttpClient, type HttpClient } from '../process/http-exchange.js';
import { bareHost, type ProxyOf, placeOf, proxyAuthorization } from '../process/proxies.js';
import { ALLOWED_ADDRESSES, type AllowList, checkAddress, type Target, targetOf } from './address.js';

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

interface ConnectOptions {
  readonly signal: AbortSignal;
  /** certificate that the server may have (process/connect.ts) */
  readonly certificate?: string | null | undefined;
}

export interface GuardedAgent {
  /** @throws ScenedeltaError url-refused, url-unavailable; else as HttpClient does */
  request: HttpClient['request'];
  /** @returns a connection to an allowed address, with TLS for https, rtsps and smtps. @throws as a request does */
  connect(url: URL, options: ConnectOptions): Promise<Socket>;
  /**
   * @returns a connection for one HTTP request, and what a proxy wants to read in it
   * @throws as a request does
   */
  connectHttp(url: URL, options: ConnectOptions): Promise<HttpConnection>;
  /** Aborts running requests and connections. */
  close(): void;
}

export interface HttpConnection {
  readonly socket: Socket;
  /** the target of the request: a path, or the whole address for a proxy */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function createGuardedAgent(options: {
  allow: AllowList;
  timeoutMs: number;
  resolve?: Resolve;
  proxyOf?: ProxyOf | undefined;
}): GuardedAgent {
  const { allow, timeoutMs, resolve = systemResolve, proxyOf = () => undefined } = options;

  /** @returns the addresses of a name */
  const resolved = async (hostname: string) => {
    const ended = new AbortController();
    const late = sleep((2 / 3) * timeoutMs, [], { signal: ended.signal });
    const none = () => [] as const;
    // A DNS server that does not answer is no different from one that does not know the name.
    const found = await Promise.race([resolve(hostname).catch(none), late.catch(none)]);
    ended.abort();
    return found;
  };
  const areAllowed = (found: readonly ResolvedAddress[], target: Target): boolean =>
    found.every(({ address }) => checkAddress(address, allow, target) === null);

  const lookupFor =
    (target: Target): LookupFunction =>
    async (hostname, { all }, done) => {
      const refusable = sleep(Math.min(REFUSAL_MS, timeoutMs / 2), undefined, { ref: false });
      const found = await resolved(hostname);
      const first = found[0];
      if (first === undefined || !areAllowed(found, target)) {
        await refusable;
        done(noAddress(hostname), '', 0);
      } else if (all === true) done(null, [...found]);
      else done(null, first.address, first.family);
    };
  const client = createHttpClient({ idleMs: timeoutMs, lookupFor: (url) => lookupFor(targetOf(url)), proxyOf });
  const connections = new Set<Socket>();

  const assertAllowed = async (url: URL): Promise<string> => {
    const host = bareHost(url.hostname);
    const target = targetOf(url);
    if (isIP(host) !== 0) {
      const refusal = checkAddress(host, allow, target);
      if (refusal === null) return host;
      throw new ScenedeltaError('url-refused', `${host} is ${refusal}, expected ${ALLOWED_ADDRESSES}`);
    }
    if (proxyOf(url) === undefined) return host;
    const refusable = sleep(Math.min(REFUSAL_MS, timeoutMs / 2), undefined, { ref: false });
    const found = await resolved(host);
    if (areAllowed(found, target) && (found.length > 0 || target.usual)) return host;
    await refusable;
    throw noAddress(host);
  };

  const open = async (to: Omit<Parameters<typeof openConnection>[0], 'timeoutMs'>): Promise<Socket> => {
    const socket = await openConnection({ ...to, timeoutMs });
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    return socket;
  };
  const connect: GuardedAgent['connect'] = async (url, given) => {
    const host = await assertAllowed(url);
    const target = targetOf(url);
    const secure = /^(?:https|rtsps|smtps):$/.test(url.protocol);
    return open({ ...given, host, port: target.port, secure, lookup: lookupFor(target), proxy: proxyOf(url) });
  };

  return {
    async request(url, request) {
      await assertAllowed(url);
      return client.request(url, request);
    },
    connect,
    async connectHttp(url, given) {
      const proxy = url.protocol === 'http:' ? proxyOf(url) : undefined;
      const target = url.pathname + url.search;
      if (proxy === undefined) return { socket: await connect(url, given), target, headers: {} };
      await assertAllowed(url);
      const { hostname: host, port } = placeOf(proxy);
      const socket = await open({ host, port, secure: proxy.protocol === 'https:', signal: given.signal });
      return { socket, target: url.href, headers: proxyAuthorization(proxy) };
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
