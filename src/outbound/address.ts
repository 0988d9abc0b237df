/**
 * The address policy of outbound requests. Callers choose the URLs, and without these checks they could read the
 * operator's own network through the service (server-side request forgery, OWASP A10:2021). Pure: resolves no names.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ScenedeltaError } from '../errors.js';
import { withoutSecrets } from '../redact-url.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** Addresses that may be reached. */
export interface AllowList {
  /** setting that lists `ranges`, for messages */
  readonly setting: string;
  /** allowed although they are not public */
  readonly ranges: readonly [Address, number][];
  /** whether every public address is allowed as well */
  readonly publicToo: boolean;
}
const PUBLIC_ONLY: AllowList = { setting: 'OUTBOUND_ALLOW', ranges: [], publicToo: true };

const URL_LIMIT = 2048;
/** Below this port only the default ones are allowed, so that the service cannot be made to talk to a mail server. */
const FIRST_FREE_PORT = 1024;
const HTTP_PORTS = [80, 443];
/** Default ports, which are below the first free one. */
const RTSP_PORTS: Readonly<Record<string, number>> = { 'rtsp:': 554, 'rtsps:': 322 };

/**
 * @param cidrs CIDRs; an address without a prefix length stands for itself alone
 * @param options.setting that lists them. @param options.publicToo whether public addresses are allowed as well
 * @throws ScenedeltaError 'invalid-request' naming the entry that is neither
 */
export function parseAllowList(
  cidrs: readonly string[],
  { setting = PUBLIC_ONLY.setting, publicToo = true }: { setting?: string; publicToo?: boolean } = {},
): AllowList {
  const ranges = cidrs.map((cidr) => {
    try {
      return ipaddr.parseCIDR(isIP(cidr) === 0 ? cidr : `${cidr}/${isIP(cidr) === 4 ? 32 : 128}`);
    } catch {
      throw new ScenedeltaError(
        'invalid-request',
        `${setting} has ${JSON.stringify(cidr)}: expected an address or a CIDR such as 10.0.0.0/8 or fd00::/8`,
        { field: setting },
      );
    }
  });
  return { setting, ranges, publicToo };
}

/** @returns e.g. 'a public address or one in OUTBOUND_ALLOW' */
export const allowedAddresses = ({ setting, publicToo }: AllowList): string =>
  publicToo ? `a public address or one in ${setting}` : `an address in ${setting}`;

/**
 * @param address an IP address without brackets or zone
 * @returns null if it may be reached, else the reason, e.g. 'a loopback address'
 */
export function checkAddress(address: string, allow: AllowList = PUBLIC_ONLY): string | null {
  if (isIP(address) === 0) return 'not an IP address';
  // A zone (fe80::1%eth0) names an interface of this host; only link-local addresses have one.
  if (address.includes('%')) return 'a link-local address';
  const parsed = unwrapped(ipaddr.parse(address));
  if (allow.ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits))) return null;
  const range = parsed.range();
  // IPv6 outside 2000::/3 is not global, in whatever range it is.
  if (range === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6, 3))) {
    return allow.publicToo ? null : 'a public address';
  }
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
 * @param options.rtsp whether rtsp(s) is allowed as well
 * @throws ScenedeltaError 'url-refused' with the given URL (without user and query) and the expectation
 */
export function checkUrlSyntax(text: string, options: { allow?: AllowList; field: string; rtsp?: boolean }): URL {
  const reject = (why: string): never => {
    throw new ScenedeltaError('url-refused', `${JSON.stringify(withoutSecrets(text).slice(0, 200))}: ${why}`, {
      field: options.field,
    });
  };
  if (text.length > URL_LIMIT) reject(`has ${text.length} characters, expected at most ${URL_LIMIT}`);
  const schemes = ['http:', 'https:', ...(options.rtsp === true ? Object.keys(RTSP_PORTS) : [])];
  const expected = schemes.map((scheme) => `${scheme}//`).join(' or ');
  if (!URL.canParse(text)) reject(`expected an absolute ${expected} URL`);
  const url = new URL(text);
  if (!schemes.includes(url.protocol)) reject(`expected ${expected}, got ${url.protocol}//`);
  if (url.username !== '' || url.password !== '') reject('expected no user name or password in the URL');
  const isRtsp = url.protocol in RTSP_PORTS;
  const port = Number(url.port);
  const known = isRtsp ? Object.values(RTSP_PORTS) : HTTP_PORTS;
  if (url.port !== '' && !known.includes(port) && port < FIRST_FREE_PORT) {
    reject(`port ${port}: expected ${known.join(', ')} or a port from ${FIRST_FREE_PORT}`);
  }
  const hostname = isRtsp ? readHost(url.hostname) : url.hostname;
  const host = bareHost(hostname);
  // Older versions of Node parse some notations of an address to an empty host.
  if (host === '') reject('has no host that can be read, expected a name or an address');
  if (isIP(host) !== 0) {
    const { allow = PUBLIC_ONLY } = options;
    const refusal = checkAddress(host, allow);
    if (refusal !== null) reject(`${host} is ${refusal}, expected ${allowedAddresses(allow)}`);
  }
  if (isRtsp) url.hostname = hostname;
  return url;
}

/** @returns the port of an RTSP address */
export const portOf = ({ port, protocol }: URL): number => (port === '' ? (RTSP_PORTS[protocol] ?? 0) : Number(port));

/**
 * The URL parser reads the notations of an address only in URLs of the schemes that it knows.
 * @returns the host as an http URL has it, '' if it cannot be read
 */
const readHost = (host: string): string => {
  const asHttp = `http://${host}/`;
  return URL.canParse(asHttp) ? new URL(asHttp).hostname : '';
};

/** Removes the brackets that IPv6 addresses have in URLs. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');
