/**
 * Requests over HTTP/1.1 by the client of Node. undici 6, the last one for Node 20, ends the process if a server closes
 * a connection whose answer waits for its reader (nodejs/undici#5360), so no request of the service uses it.
 */
import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, type RequestOptions, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { addAbortSignal, type Duplex } from 'node:stream';
import { openConnection } from './connect.js';
import { type ProxyOf, placeOf, proxyAuthorization } from './proxies.js';

/** Long enough for the second frame of a pair, short enough to notice that a name has a new address. */
const KEEP_ALIVE_MS = 1_000;
/** Bytes of an answer that are read and dropped, so that its connection can be used again. */
const DROPPED_BYTES = 64 * 1024;

interface HttpRequest {
  /** default GET */
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal | undefined;
  /** certificate that the server may have (connect.ts) */
  readonly certificate?: string | null | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** To be read, dropped or destroyed; it ends with an error if `signal` aborts or the server stops in the middle. */
  readonly body: IncomingMessage;
}

export interface HttpClient {
  /** @throws Error with a code: that of the system, or IDLE_TIMEOUT; UntrustedCertificate */
  request(url: URL, request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

/** The options of a connection, with the additions of a request. */
interface AgentConnection extends RequestOptions {
  readonly certificate?: string | null;
  readonly proxy?: URL;
}
type Connected = (error: Error | null, socket: Duplex) => void;

/** Connections to servers whose certificate may have been named, and through proxies. */
class SecureAgent extends HttpsAgent {
  readonly #idleMs: number;
  readonly #closing = new AbortController();
  constructor(options: AgentOptions, idleMs: number) {
    super(options);
    this.#idleMs = idleMs;
  }
  /** Connections with different named certificates are not shared. */
  override getName(options?: AgentConnection): string {
    return `${super.getName(options)}:${options?.certificate ?? ''}`;
  }
  override createConnection(options: AgentConnection, done?: Connected): undefined {
    const { host, port, lookup, certificate, proxy } = options;
    const to = { host: host ?? '', port: Number(port), lookup, certificate, proxy };
    const failed = (error: Error) => (done as (error: Error) => void)(error);
    const limits = { timeoutMs: this.#idleMs, signal: this.#closing.signal };
    openConnection({ ...to, ...limits, secure: true }).then((socket) => done?.(null, socket), failed);
  }
  override destroy(): void {
    this.#closing.abort(failure('the client is closed', 'CLOSED'));
    super.destroy();
  }
}

/**
 * @param options.idleMs longest time without a byte; a reader that makes the server wait is not the server's fault
 * @param options.lookupFor gives the lookup of names for a URL, which each new connection without a proxy uses
 * @param options.proxyOf absent: no proxies
 */
export function createHttpClient(options: {
  idleMs: number;
  lookupFor?: (url: URL) => LookupFunction;
  proxyOf?: ProxyOf | undefined;
}): HttpClient {
  const { idleMs, lookupFor, proxyOf } = options;
  const kept = { keepAlive: true, timeout: KEEP_ALIVE_MS };
  const agents = { http: new HttpAgent(kept), https: new SecureAgent(kept, idleMs) };
  // Connections to proxies that have TLS themselves.
  const proxied = new HttpsAgent(kept);
  let isClosed = false;

  /** Plain requests go to the proxy, with the whole address; those over TLS go through it. */
  const transport = (url: URL, proxy: URL | undefined, certificate: string | null | undefined) => {
    const isSecure = url.protocol === 'https:';
    if (proxy !== undefined && !isSecure) {
      const toProxy = proxy.protocol === 'https:';
      const to = { ...placeOf(proxy), path: url.href, agent: toProxy ? proxied : agents.http };
      const headers = { host: url.host, ...proxyAuthorization(proxy) };
      return { send: toProxy ? requestHttps : requestHttp, to, headers };
    }
    const to = {
      ...placeOf(url),
      protocol: url.protocol,
      path: url.pathname + url.search,
      agent: isSecure ? agents.https : agents.http,
      ...(proxy === undefined ? {} : { proxy }),
      ...(certificate == null ? {} : { certificate }),
      ...(lookupFor === undefined || proxy !== undefined ? {} : { lookup: lookupFor(url) }),
    };
    return { send: isSecure ? requestHttps : requestHttp, to, headers: { host: url.host } };
  };

  const request: HttpClient['request'] = (url, { method = 'GET', headers, body, signal, certificate }) =>
    new Promise((resolve, reject) => {
      if (isClosed) throw failure('the client is closed', 'CLOSED');
      const { send, to, headers: added } = transport(url, proxyOf?.(url), certificate);
      const sent = send({
        ...to,
        method,
        headers: { ...added, ...headers },
        timeout: idleMs,
        ...(signal === undefined ? {} : { signal }),
      });
      let answer: IncomingMessage | undefined;
      const endIfIdle = (bytes: number | undefined) => {
        const waitsForReader = answer !== undefined && answer.readableLength >= answer.readableHighWaterMark;
        if (waitsForReader || sent.socket?.bytesRead !== bytes) return;
        const error = failure(`no byte within ${idleMs} ms`, 'IDLE_TIMEOUT');
        answer?.destroy(error);
        sent.destroy(error);
      };
      // Bytes that came while the process was suspended are read first: see deadline.ts.
      sent.on('timeout', () => setImmediate(endIfIdle, sent.socket?.bytesRead));
      sent.on('error', reject);
      // Without an answer and an error, as after an upgrade without a request for it.
      sent.on('close', () => reject(failure('the connection was closed', 'ECONNRESET')));
      sent.on('response', (response) => {
        answer = response;
        response.on('error', () => {});
        if (signal !== undefined) addAbortSignal(signal, response);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response });
      });
      sent.end(body);
    });

  return {
    request,
    close() {
      isClosed = true;
      for (const agent of [...Object.values(agents), proxied]) agent.destroy();
    },
  };
}

/** Reads an answer that is not needed. @throws as reading does */
export async function drop({ body }: Pick<HttpAnswer, 'body'>): Promise<void> {
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > DROPPED_BYTES) break;
  }
}

/** @returns the bytes of an answer; undefined if there are more than `maxBytes`, and then the connection is closed */
export async function readUpTo({ body }: Pick<HttpAnswer, 'body'>, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const failure = (message: string, code: string): Error => Object.assign(new Error(message), { code });
