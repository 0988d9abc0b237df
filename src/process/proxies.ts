/**
 * The proxies of HTTP_PROXY, HTTPS_PROXY and NO_PROXY, read as Go and curl read them: http by the first, by a tunnel
 * (CONNECT) of the second all else, and neither for the hosts of the third and for this machine.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Config } from './config.js';

/** @returns a host without the brackets that IPv6 addresses have in URLs */
export const bareHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** @returns where requests to an http(s) address go */
export const placeOf = ({ hostname, port, protocol }: URL) => ({
  hostname: bareHost(hostname),
  port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
});

/** @returns the proxy of an address; undefined: it is reached directly */
export type ProxyOf = (url: URL) => URL | undefined;

const LOCAL = ['localhost', '127.0.0.0/8', '::1/128'];

export function createProxies(config: Pick<Config, 'httpProxy' | 'httpsProxy' | 'noProxy'>): ProxyOf {
  const [http, other] = [config.httpProxy, config.httpsProxy].map((text) =>
    text === null ? undefined : new URL(/^https?:/.test(text) ? text : `http://${text}`),
  );
  const direct = [...LOCAL, ...config.noProxy].map(matcherOf);
  return (url) => {
    const proxy = url.protocol === 'http:' ? http : other;
    return proxy === undefined || direct.some((matches) => matches(url)) ? undefined : proxy;
  };
}

/** @param entry a name, .name, *.name, address or CIDR, each also with a port; or * for all */
function matcherOf(entry: string): (url: URL) => boolean {
  if (entry === '*') return () => true;
  const range = rangeOf(entry);
  if (range !== undefined) {
    return ({ hostname }) => {
      const address = bareHost(hostname);
      if (isIP(address) === 0) return false;
      const parsed = ipaddr.process(address);
      return parsed.kind() === range[0].kind() && parsed.match(range);
    };
  }
  const [, host = '', port] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry.toLowerCase().replace(/^\*(?=\.)/, '')) ?? [];
  return (url) => {
    const { hostname, port: reached } = placeOf(url);
    const named = host.startsWith('.') ? hostname.endsWith(host) : `.${hostname}`.endsWith(`.${host}`);
    return named && (port === undefined || Number(port) === reached);
  };
}

function rangeOf(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  if (entry.includes('/')) return ipaddr.isValidCIDR(entry) ? ipaddr.parseCIDR(entry) : undefined;
  if (isIP(entry) === 0) return undefined;
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** @returns the header that a proxy with a login in its address expects */
export function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` };
}
