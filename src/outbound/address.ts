/**
 * The address policy of outbound requests. Callers choose the URLs, and without these checks they could read the
 * operator's own network through the service (server-side request forgery, OWASP A10:2021). Pure: resolves no names.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { invalidRequest, ScenedeltaError } from '../base/errors.js';
import { withoutSecrets } from '../base/redact-url.js';
import { bareHost } from '../process/proxies.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
interface AllowedRange {
  readonly range: Address;
  /** length of the prefix */
  readonly bits: number;
  /** the only allowed one; null: all but the blocked ones */
  readonly port: number | null;
}
/** The port of a connection. */
export interface Target {
  readonly port: number;
  /** whether it is a default of the scheme or not reserved */
  readonly usual: boolean;
}
/** The addresses of OUTBOUND_ALLOW, which may be reached although they are not public. */
export type AllowList = readonly AllowedRange[];

const URL_LIMIT = 2048;
/** Below this port public addresses have only the default ones: an HTTP request must not reach a mail server. */
const FIRST_FREE_PORT = 1024;
const RTSP = ['rtsp:', 'rtsps:'];
export const isRtsp = (address: string): boolean => /^rtsps?:/i.test(address);
const MAIL = ['smtp:', 'smtps:'];
/** Default port of each scheme. */
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'rtsp:': 554,
  'rtsps:': 322,
  'smtp:': 587,
  'smtps:': 465,
};
const USUAL_PORTS = { http: [80, 443], rtsp: [554, 322], mail: [25, 465, 587] } as const;
/**
 * Reserved ports of services that are no camera (mail, remote shells, name servers, ...): those of the Fetch standard
 * ("port blocking") but RTSP's. An allowed range includes none of them; an entry with a port may name one.
 */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  ...[110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530],
  ...[531, 532, 540, 548, 556, 563, 587, 601, 636, 989, 990, 993, 995],
]);

/**
 * @param entries CIDRs; an address without a prefix length stands for itself alone. With a port (10.0.0.7:25,
 *   [fd00::/8]:88) only that port is allowed
 * @throws ScenedeltaError 'invalid-request' naming the entry that is neither
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  return entries.map((entry) => {
    try {
      return parseEntry(entry);
    } catch {
      throw invalidRequest(
        `OUTBOUND_ALLOW has ${JSON.stringify(entry)}: expected an address or a CIDR such as 10.0.0.0/8 or fd00::/8, or ` +
          'one with a port such as 10.0.0.7:88 or [fd00::7]:88',
        'OUTBOUND_ALLOW',
      );
    }
  });
}

const WITH_PORT = /^(?:\[([^\]]+)\]|([\d./]+)):(\d{1,5})$/;

/** @throws Error if the entry cannot be read */
function parseEntry(entry: string): AllowedRange {
  const [, six, four, port] = WITH_PORT.exec(entry) ?? [];
  const cidr = six ?? four ?? entry;
  const family = isIP(cidr);
  const [range, bits] = ipaddr.parseCIDR(family === 0 ? cidr : `${cidr}/${family === 4 ? 32 : 128}`);
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) throw new RangeError(port);
  return { range, bits, port: port === undefined ? null : Number(port) };
}

export const ALLOWED_ADDRESSES = 'a public address or one in OUTBOUND_ALLOW';

/** The target of checks without a connection, and of HTTPS without a port. */
const ANY_USUAL: Target = { port: 443, usual: true };

/**
 * @param address an IP address without brackets or zone
 * @returns null if it may be reached, else the reason, e.g. 'a loopback address'
 */
export function checkAddress(
  address: string,
  allow: AllowList = [],
  { port, usual }: Target = ANY_USUAL,
): string | null {
  if (isIP(address) === 0) return 'not an IP address';
  // A zone (fe80::1%eth0) names an interface of this host; only link-local addresses have one.
  if (address.includes('%')) return 'a link-local address';
  const parsed = unwrapped(ipaddr.parse(address));
  const named = allow.filter(({ range, bits }) => range.kind() === parsed.kind() && parsed.match(range, bits));
  const allowsPort = (only: number | null) => (only === null ? usual || !BLOCKED_PORTS.has(port) : only === port);
  if (named.some((entry) => allowsPort(entry.port))) return null;
  if (named.length > 0) return `not allowed at port ${port}`;
  const range = parsed.range();
  // IPv6 outside 2000::/3 is not global, in whatever range it is.
  if (range === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6, 3))) {
    return usual ? null : `not allowed at port ${port}`;
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
 * @param options.mail whether smtp(s) is allowed, alone and with a user
 * @throws ScenedeltaError 'url-refused' with the given URL (without user and query) and the expectation
 */
export function checkUrlSyntax(
  text: string,
  options: { allow?: AllowList; field: string; rtsp?: boolean; mail?: boolean },
): URL {
  const reject = (why: string): never => {
    throw new ScenedeltaError('url-refused', `${JSON.stringify(withoutSecrets(text).slice(0, 200))}: ${why}`, {
      field: options.field,
    });
  };
  if (text.length > URL_LIMIT) reject(`has ${text.length} characters, expected at most ${URL_LIMIT}`);
  const isMail = options.mail === true;
  const schemes = isMail ? MAIL : ['http:', 'https:', ...(options.rtsp === true ? RTSP : [])];
  const expected = schemes.map((scheme) => `${scheme}//`).join(' or ');
  if (!URL.canParse(text)) reject(`expected an absolute ${expected} URL`);
  const url = new URL(text);
  if (!schemes.includes(url.protocol)) reject(`expected ${expected}, got ${url.protocol}//`);
  if (isMail && url.password !== '') reject('expected the password as authorization, not in the URL');
  if (!isMail && (url.username !== '' || url.password !== '')) reject('expected no user name or password in the URL');
  const isForeign = !url.protocol.startsWith('http');
  const hostname = isForeign ? readHost(url.hostname) : url.hostname;
  const host = bareHost(hostname);
  // Older versions of Node parse some notations of an address to an empty host.
  if (host === '') reject('has no host that can be read, expected a name or an address');
  const { allow = [] } = options;
  const target = targetOf(url);
  const isAddress = isIP(host) !== 0;
  // The addresses of a name are checked when it is resolved; without an allowed range none may have this port.
  if (!target.usual && (isAddress ? checkAddress(host, allow, target) !== null : allow.length === 0)) {
    const usual = usualPorts(url).join(', ');
    reject(
      `port ${target.port}: expected ${usual} or a port from ${FIRST_FREE_PORT}, or an address that ` +
        'OUTBOUND_ALLOW names with this port',
    );
  }
  const refusal = isAddress ? checkAddress(host, allow, target) : null;
  if (refusal !== null) reject(`${host} is ${refusal}, expected ${ALLOWED_ADDRESSES}`);
  if (isForeign) url.hostname = hostname;
  return url;
}

/** @returns the port that a connection to a URL has */
export function targetOf(url: URL): Target {
  const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
  return { port, usual: port >= FIRST_FREE_PORT || usualPorts(url).includes(port) };
}

const usualPorts = ({ protocol }: URL): readonly number[] =>
  USUAL_PORTS[RTSP.includes(protocol) ? 'rtsp' : MAIL.includes(protocol) ? 'mail' : 'http'];

/**
 * The URL parser reads the notations of an address only in URLs of the schemes that it knows.
 * @returns the host as an http URL has it, '' if it cannot be read
 */
const readHost = (host: string): string => {
  const asHttp = `http://${host}/`;
  return URL.canParse(asHttp) ? new URL(asHttp).hostname : '';
};
