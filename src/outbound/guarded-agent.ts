/**
 * Connections that only reach allowed addresses. The check is in the connector, so that it holds for every connection: a name is
 * resolved once, all of its addresses are checked, and the socket gets just those (a second look-up could answer differently, DNS
 * rebinding). undici does not look up literal addresses (nodejs/undici#2019), so those are checked here as well.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { ScenedeltaError } from '../errors.js';
import { type AllowList, bareHost, checkAddress } from './address.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

const systemResolve: Resolve = (hostname) => systemLookup(hostname, { all: true, verbatim: true });

/** For the second frame of a pair; not so long that a name's change of address goes unnoticed. */
const KEEP_ALIVE_MS = 1_000;
/**
 * Far more than are spoken to within that time. undici's own Agent keeps a pool of some 20 kB for every origin for ever (6.x), and whoever
 * has a wildcard name has any number of origins.
 */
const MAX_ORIGINS = 256;

export interface GuardedAgent {
  /** For one request, to be begun at once: who is asked for other origins next may close it when its requests are done. */
  dispatcherOf(origin: string): Dispatcher;
  /** Ends what is under way. */
  destroy(): Promise<void>;
}

export function createGuardedAgent(options: {
  allow: AllowList;
  timeoutMs: number;
  resolve?: Resolve;
  maxOrigins?: number;
}): GuardedAgent {
  const { allow, timeoutMs, resolve = systemResolve, maxOrigins = MAX_ORIGINS } = options;

  const guardedLookup: LookupFunction = (hostname, { all }, done) => {
    resolve(hostname).then(
      (found) => {
        const [first] = found;
        if (first === undefined) return done(new Error(`${hostname} has no address`), '', 0);
        for (const { address } of found) {
          const refusal = checkAddress(address, allow);
          if (refusal !== null) return done(refused(hostname, refusal), '', 0);
        }
        if (all === true) done(null, [...found]);
        else done(null, first.address, first.family);
      },
      (err) => done(err, '', 0),
    );
  };
  const connect = buildConnector({ timeout: timeoutMs, lookup: guardedLookup });

  const openPool = (origin: string): Pool =>
    new Pool(origin, {
      connect: (connection, done) => {
        const host = bareHost(connection.hostname);
        const refusal = isIP(host) === 0 ? null : checkAddress(host, allow);
        if (refusal !== null) return done(refused(host, refusal), null);
        connect(connection, done);
      },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    });
  /** by origin, the one asked for longest ago first */
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
    async destroy() {
      await Promise.all([...pools.values(), ...retiring].map((pool) => pool.destroy()));
    },
  };
}

/** The address itself stays out of the message: what a name resolves to inside is nobody's business outside. */
const refused = (host: string, why: string): ScenedeltaError =>
  new ScenedeltaError(
    'url-refused',
    `${host} ${isIP(host) === 0 ? 'resolves to' : 'is'} ${why}, which the service does not connect to`,
  );
