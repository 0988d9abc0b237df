/**
 * Connections over TCP and TLS, through a proxy where one is set. The certificate of a server must be one of a known
 * authority, or the one that a person has named for this server.
 */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { placeOf, proxyAuthorization } from './proxies.js';

interface ConnectionOptions {
  /** without brackets */
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** longest time until the connection is ready */
  readonly timeoutMs: number;
  readonly lookup?: LookupFunction | undefined;
  /** certificate that the server may have: see readCertificate; null or absent: one of a known authority */
  readonly certificate?: string | null | undefined;
  readonly proxy?: URL | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The server has a certificate that is not trusted, or another one than the named one. */
export class UntrustedCertificate extends Error {
  constructor(
    readonly code: string,
    /** SHA-256 in hexadecimal, with colons */
    readonly fingerprint: string,
  ) {
    super(`the certificate is not trusted: ${code}`);
  }
}

/** @throws Error with a code: that of the system, IDLE_TIMEOUT or PROXY_ANSWERED_<status>; UntrustedCertificate */
export async function openConnection(options: ConnectionOptions): Promise<Socket> {
  const { host, port, secure, proxy, lookup, timeoutMs, signal } = options;
  signal?.throwIfAborted();
  const held: { socket?: Socket } = {};
  const stop = new AbortController();
  const end = (reason: Error) => {
    stop.abort(reason);
    held.socket?.destroy(reason);
  };
  const late = setTimeout(() => end(coded(`no connection within ${timeoutMs} ms`, 'IDLE_TIMEOUT')), timeoutMs);
  const onAbort = () => end(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    let socket: Socket;
    if (proxy === undefined) {
      socket = connectTcp({ host, port, ...(lookup === undefined ? {} : { lookup }) });
      held.socket = socket;
      await once(socket, 'connect');
    } else {
      socket = await openTunnel(proxy, isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`, stop.signal);
      held.socket = socket;
    }
    stop.signal.throwIfAborted();
    return secure ? await secured(socket, host, options.certificate ?? null) : socket;
  } catch (thrown) {
    held.socket?.destroy();
    throw stop.signal.aborted ? stop.signal.reason : thrown;
  } finally {
    clearTimeout(late);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Nothing is sent before the certificate is checked: Node's own refusal would not state the fingerprint. */
async function secured(socket: Socket, host: string, certificate: string | null): Promise<TLSSocket> {
  const named = certificate === null ? undefined : readCertificate(certificate);
  const secure = connectTls({
    socket,
    host,
    rejectUnauthorized: false,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(named?.authority === undefined ? {} : { ca: named.authority }),
  });
  await once(secure, 'secureConnect');
  const fingerprint = secure.getPeerX509Certificate()?.fingerprint256 ?? '';
  const isNamed = named?.fingerprints.includes(fingerprint) === true;
  if (isNamed || (secure.authorized && (named === undefined || named.authority !== undefined))) return secure;
  secure.destroy();
  const code = secure.authorized ? 'OTHER_FINGERPRINT' : String(secure.authorizationError);
  throw new UntrustedCertificate(code, fingerprint);
}

interface NamedCertificate {
  /** of certificates that are accepted whatever their name, date and authority are */
  readonly fingerprints: readonly string[];
  /** certificates in PEM that others may be signed by */
  readonly authority?: string;
}

const FINGERPRINT = /^(?:sha-?256[\s/:=]*)?((?:[0-9a-f]{2}:?){31}[0-9a-f]{2})$/i;
const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/**
 * @param text SHA-256 fingerprint in hexadecimal, with or without colons, or certificates in PEM: that of the server,
 *   or of an authority
 * @returns undefined if it is neither
 */
export function readCertificate(text: string): NamedCertificate | undefined {
  const hex = FINGERPRINT.exec(text.trim())?.[1]?.replaceAll(':', '').toUpperCase();
  if (hex !== undefined) return { fingerprints: [hex.replace(/..(?!$)/g, '$&:')] };
  const found = text.match(PEM);
  if (found === null || text.replace(PEM, '').trim() !== '') return undefined;
  try {
    const fingerprints = found.map((pem) => new X509Certificate(pem).fingerprint256);
    return { fingerprints, authority: found.join('\n') };
  } catch {
    return undefined;
  }
}

/** @param authority host:port */
function openTunnel(proxy: URL, authority: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const sent = (proxy.protocol === 'https:' ? requestHttps : requestHttp)({
      ...placeOf(proxy),
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
      agent: false,
      signal,
    });
    sent.on('error', reject);
    sent.on('connect', ({ statusCode = 0 }, socket, head) => {
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        return resolve(socket);
      }
      socket.destroy();
      reject(coded(`the proxy answered ${statusCode}`, `PROXY_ANSWERED_${statusCode}`));
    });
    sent.end();
  });
}

const coded = (message: string, code: string): Error => Object.assign(new Error(message), { code });
