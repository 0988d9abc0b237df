/**
 * Connection pools that reach allowed addresses only. The check is in the connector, so that it holds for every
 * connection. A name is resolved once, all of its addresses are checked, and the socket gets exactly these, because a
 * second query could return others (DNS rebinding). undici does not resolve literal addresses (nodejs/undici#2019), so
 * the connector checks them itself.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { ScenedeltaError } from '../errors.js';
import { type AllowList, allowedAddresses, bareHost, checkAddress } from './address.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

const systemResolve: Resolve = (hostname) => systemLookup(hostname, { all: true, verbatim: true });

/** Long enough for the second frame of a pair, short enough to notice that a name has a new address. */
const KEEP_ALIVE_MS = 1_000;
/**
 * Most pools; far more origins than are used within KEEP_ALIVE_MS. The Agent of undici 6 keeps a pool of about 20 kB
 * per origin for ever, and a caller with a wildcard name has any number of origins.
 */
const MAX_ORIGINS = 256;

/**
 * Least time from the lookup of a name to its refusal, longer than a DNS server takes to answer: a caller must not
 * learn from the time whether the name exists.
 */
const REFUSAL_MS = 1_000;

export interface GuardedAgent {
  /**
   * @returns a dispatcher for one request that starts at once; requests to other origins may retire the dispatcher
   * later.
   */
  dispatcherOf(origin: string): Dispatcher;
  /** @returns a connection to an allowed address, with TLS if `secure`. @throws as a request does */
  connect(to: { hostname: string; port: number; secure: boolean }, signal: AbortSignal): Promise<Socket>;
  /** Aborts running requests. */
  destroy(): Promise<void>;
}

export function createGuardedAgent(options: {
  allow: AllowList;
  timeoutMs: number;
  resolve?: Resolve;
  maxOrigins?: number;
}): GuardedAgent {
  const { allow, timeoutMs, resolve = systemResolve, maxOrigins = MAX_ORIGINS } = options;

  /** @returns the addresses of a name; undefined if it has none, or not only such as may be reached */
  const resolveAllowed = async (hostname: string) => {
    const ended = new AbortController();
    const late = sleep((2 / 3) * timeoutMs, [], { signal: ended.signal });
    const none = () => [] as const;
    // A DNS server that does not answer is no different from one that does not know the name.
    const found = await Promise.race([resolve(hostname).catch(none), late.catch(none)]);
    ended.abort();
    const allowed = found.every(({ address }) => checkAddress(address, allow) === null);
    return found.length > 0 && allowed ? found : undefined;
  };

  const guardedLookup: LookupFunction = async (hostname, { all }, done) => {
    const refusable = sleep(Math.min(REFUSAL_MS, timeoutMs / 2), undefined, { ref: false });
    const found = await resolveAllowed(hostname);
    const first = found?.[0];
    if (first === undefined) {
      await refusable;
      done(noAddress(hostname, allow), '', 0);
    } else if (all === true) done(null, [...(found ?? [])]);
    else done(null, first.address, first.family);
  };
  const connect = buildConnector({ timeout: timeoutMs, lookup: guardedLookup });

  const guardedConnect: typeof connect = (connection, done) => {
    const host = bareHost(connection.hostname);
    const refusal = isIP(host) === 0 ? null : checkAddress(host, allow);
    if (refusal !== null) return done(refused(host, refusal, allow), null);
    connect(connection, done);
  };

  const openPool = (origin: string): Pool =>
    new Pool(origin, {
      connect: guardedConnect,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    });
  /** by origin, the least recently used one first */
  const pools = new Map<string, Pool>();
  const retiring = new Set<Pool>();
  const retire = (origin: string, pool: Pool) => {
    pools.delete(origin);
    retiring.add(pool);
    const gone = () => retiring.delete(pool);
    pool.close().then(gone, gone);
  };

  return {
    dispatcherOf(origin) {
      const pool = pools.get(origin) ?? openPool(origin);
      pools.delete(origin);
      pools.set(origin, pool);
      const [oldest] = pools;
      if (oldest !== undefined && pools.size > maxOrigins) retire(...oldest);
      return pool;
    },
    connect: ({ hostname, port, secure }, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        const host = bareHost(hostname);
        const protocol = secure ? 'https:' : 'http:';
        guardedConnect({ hostname: host, host, protocol, port: String(port) }, (error, socket) => {
          if (error !== null) reject(error);
          else if (signal.aborted) socket.destroy();
          else resolve(socket);
        });
      }),
    async destroy() {
      await Promise.all([...pools.values(), ...retiring].map((pool) => pool.destroy()));
    },
  };
}

const refused = (host: string, why: string, allow: AllowList): ScenedeltaError =>
  new ScenedeltaError('url-refused', `${host} is ${why}, expected ${allowedAddresses(allow)}`);

/**
 * The same error for a name that does not exist and for one with a private address: a caller must not learn the names
 * and addresses of an internal network. It is transient, because a DNS server may fail for a moment.
 */
const noAddress = (hostname: string, { setting, publicToo }: AllowList): ScenedeltaError =>
  new ScenedeltaError(
    'url-unavailable',
    `${hostname} has no address that the service connects to: expected a name with ` +
      (publicToo ? `a public address, or with one in ${setting}` : `an address in ${setting}`),
  );
