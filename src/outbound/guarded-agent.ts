/**
 * Connections that only reach allowed addresses. The check is in the connector, so that it holds for every connection: a name is
 * resolved once, all of its addresses are checked, and the socket gets just those (a second look-up could answer differently, DNS
 * rebinding). undici does not look up literal addresses (nodejs/undici#2019), so those are checked here as well.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
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

export function createGuardedAgent(options: {
  allow: AllowList;
  timeoutMs: number;
  resolve?: Resolve;
}): Agent {
  const { allow, timeoutMs, resolve = systemResolve } = options;

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

  return new Agent({
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
}

/** The address itself stays out of the message: what a name resolves to inside is nobody's business outside. */
const refused = (host: string, why: string): ScenedeltaError =>
  new ScenedeltaError(
    'url-refused',
    `${host} ${isIP(host) === 0 ? 'resolves to' : 'is'} ${why}, which the service does not connect to`,
  );
