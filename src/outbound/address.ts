/**
 * The address policy of outbound requests. Callers choose the URLs, and without these checks they could read the
 * operator's own network through the service (server-side request forgery, OWASP A10:2021). Pure: resolves no names.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ScenedeltaError } from '../errors.js';
import { withoutSecrets } from '../redact-url.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** Address ranges that are allowed although they are not public. */
export type AllowList = readonly [Address, number][];

const URL_LIMIT = 2048;
/** Below this port only 80 and 443 are allowed, so that the service cannot be made to talk to a mail server. */
const FIRST_FREE_PORT = 1024;

/**
 * @param cidrs CIDRs; an address without a prefix length stands for itself alone
 * @throws ScenedeltaError 'invalid-request' naming the entry that is neither
 */
export function parseAllowList(cidrs: readonly string[]): AllowList {
  return cidrs.map((cidr) => {
    try {
      return ipaddr.parseCIDR(isIP(cidr) === 0 ? cidr : `${cidr}/${isIP(cidr) === 4 ? 32 : 128}`);
    } catch {
      throw new ScenedeltaError(
        'invalid-request',
        `OUTBOUND_ALLOW has ${JSON.stringify(cidr)}: expected an address or a CIDR such as 10.0.0.0/8 or fd00::/8`,
        { field: 'OUTBOUND_ALLOW' },
      );
    }
  });
}

/**
 * @param address an IP address without brackets or zone
 * @returns null if it may be reached, else the reason, e.g. 'a loopback address'
 */
export function checkAddress(address: string, allow: AllowList = []): string | null {
  if (isIP(address) === 0) return 'not an IP address';
  // A zone (fe80::1%eth0) names an interface of this host; only link-local addresses have one.
  if (address.includes('%')) return 'a link-local address';
  const parsed = unwrapped(ipaddr.parse(address));
  if (allow.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits))) return null;
  const range = parsed.range();
  // IPv6 outside 2000::/3 is not global, in whatever range it is.
  if (range === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6, 3))) return null;
  return NAMES[range] ?? 'not a public address';
}

const GLOBAL_IPV6 = ipaddr.parse('2000::');

/** ::ffff:10.0.0.1 -> 10.0.0.1. Other forms that embed an IPv4 address (NAT64, 6to4, Teredo) are refused. */
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
 * Checks a URL without resolving its name. Addresses in other notations (0x7f.1, 2130706433, 0177.0.0.1) are literal
 * addresses to the URL parser, and so they are here.
 * @throws ScenedeltaError 'url-refused' with the given URL (without user and query) and the expectation
 */
export function checkUrlSyntax(text: string, options: { allow?: AllowList; field: string }): URL {
  const reject = (why: string): never => {
    throw new ScenedeltaError('url-refused', `${JSON.stringify(withoutSecrets(text).slice(0, 200))}: ${why}`, {
      field: options.field,
    });
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
  // Older versions of Node parse some notations of an address to an empty host.
  if (host === '') reject('has no host that can be read, expected a name or an address');
  if (isIP(host) !== 0) {
    const refusal = checkAddress(host, options.allow);
    if (refusal !== null) reject(`${host} is ${refusal}, expected a public address or one in OUTBOUND_ALLOW`);
  }
  return url;
}

/** Removes the brackets that IPv6 addresses have in URLs. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');
