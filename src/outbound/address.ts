/**
 * Which addresses a caller may make the service talk to. A URL in a request is the caller's choice, so without these checks it
 * could read the operator's own network through us (server-side request forgery, OWASP A10:2021). Pure: no look-ups here.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ScenedeltaError } from '../errors.js';
import { withoutSecrets } from '../redact-url.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** Ranges that are allowed although they are not public. */
export type AllowList = readonly [Address, number][];

const URL_LIMIT = 2048;
/** Below this only the two web ports: nobody gets the service to speak to a mail server. */
const FIRST_FREE_PORT = 1024;

/** @throws ScenedeltaError 'invalid-request' naming the entry that is no CIDR. */
export function parseAllowList(cidrs: readonly string[]): AllowList {
  return cidrs.map((cidr) => {
    try {
      return ipaddr.parseCIDR(cidr);
    } catch {
      throw new ScenedeltaError(
        'invalid-request',
        `OUTBOUND_ALLOW has ${JSON.stringify(cidr)}: expected a CIDR such as 10.0.0.0/8 or fd00::/8`,
        { field: 'OUTBOUND_ALLOW' },
      );
    }
  });
}

/**
 * @param address an IP address without brackets or zone
 * @returns null where it may be reached, else why not, e.g. 'a loopback address'.
 */
export function checkAddress(address: string, allow: AllowList = []): string | null {
  if (isIP(address) === 0) return 'not an IP address';
  // a zone (fe80::1%eth0) names an interface of ours; only link-local addresses have one
  if (address.includes('%')) return 'a link-local address';
  const parsed = unwrapped(ipaddr.parse(address));
  if (allow.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits))) return null;
  const range = parsed.range();
  // IPv6 outside 2000::/3 is not global, whatever name it has or will get
  if (range === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6, 3))) return null;
  return NAMES[range] ?? 'not a public address';
}

const GLOBAL_IPV6 = ipaddr.parse('2000::');

/** ::ffff:10.0.0.1 is 10.0.0.1. The other ways to wrap an IPv4 address (NAT64, 6to4, Teredo) are refused as they are. */
const unwrapped = (address: Address): Address =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;

const NAMES: Record<string, string> = {
  unspecified: 'the unspecified address',
  loopback: 'a loopback address',
  private: 'a private address',
  uniqueLocal: 'a private address',
  linkLocal: 'a link-local address',
  carrierGradeNat: 'a carrier-grade NAT address',
  multicast: 'a multicast address',
  broadcast: 'the broadcast address',
};

/**
 * What can be said of a URL without a look-up. Numbers in other notations (0x7f.1, 2130706433, 0177.0.0.1) are literal addresses
 * to the URL parser, and so they are here.
 * @throws ScenedeltaError 'url-refused' that says what came (without user and query) and what was expected.
 */
export function checkUrlSyntax(text: string, options: { allow?: AllowList; field: string }): URL {
  const reject = (why: string): never => {
    throw new ScenedeltaError(
      'url-refused',
      `${JSON.stringify(withoutSecrets(text).slice(0, 200))}: ${why}`,
      {
        field: options.field,
      },
    );
  };
  if (text.length > URL_LIMIT) reject(`has ${text.length} characters, expected at most ${URL_LIMIT}`);
  if (!URL.canParse(text)) reject('expected an absolute http:// or https:// URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    reject(`expected http:// or https://, got ${url.protocol}//`);
  }
  if (url.username !== '' || url.password !== '') reject('expected no user name or password in the URL');
  const port = Number(url.port);
  if (url.port !== '' && port !== 80 && port !== 443 && port < FIRST_FREE_PORT) {
    reject(`port ${port}: expected 80, 443 or a port from ${FIRST_FREE_PORT}`);
  }
  const host = bareHost(url.hostname);
  // Older Nodes parse some spellings of an address to nothing at all.
  if (host === '') reject('has no host that can be read, expected a name or an address');
  if (isIP(host) !== 0) {
    const refusal = checkAddress(host, options.allow);
    if (refusal !== null) reject(`${host} is ${refusal}, expected a public address`);
  }
  return url;
}

/** IPv6 addresses stand in brackets in URLs. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');
