/** Requests to the receivers of webhooks and alerts. They follow no redirects. */
import { brotliDecompressSync, unzipSync } from 'node:zlib';
import { startDeadline } from '../base/deadline.js';
import { drop, type HttpAnswer, readUpTo } from '../process/http-exchange.js';
import { type AllowList, checkUrlSyntax } from './address.js';
import type { GuardedAgent } from './guarded-agent.js';
import { asUrlError } from './url-error.js';

export interface PostOutcome {
  /** null if there was no answer */
  readonly status: number | null;
  /** null for 2xx; else the reason, in a sentence of the service */
  readonly error: string | null;
  /** delay that a Retry-After header asks for */
  readonly retryAfterMs: number | null;
  /** the address itself is refused, so no attempt can succeed */
  readonly permanent: boolean;
  /** text of a refusal, if the request asks for it and the answer is short, no page and UTF-8 */
  readonly said?: string | undefined;
}

export const USER_AGENT = 'scenedelta (+https://scenedelta.dev)';
const FIELD = 'callback_url';

interface Sent {
  readonly method: 'POST' | 'PUT' | 'OPTIONS';
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal | undefined;
  /** Whether a refusal is read. A caller whose address it is could read internal networks by it: not for callbacks. */
  readonly quoting?: boolean;
  /** certificate that the receiver may have (process/connect.ts); undefined: there is no setting for it */
  readonly certificate?: string | null | undefined;
}

/** Bytes per second at which a file is sent at least: an uplink of 2 Mbit/s passes. */
const UPLOAD_RATE = 256 * 1024;
const uploadMs = (body: Sent['body']): number => ((body?.length ?? 0) / UPLOAD_RATE) * 1000;

/** Longest refusal that is read. */
const REFUSAL_BYTES = 16 * 1024;

interface Answer {
  readonly outcome: PostOutcome;
  readonly header: (name: string) => string | undefined;
}

export type Poster = ReturnType<typeof createPoster>;

/** None of its methods throws because of the receiver's behaviour. @param deps.now epoch ms */
export function createPoster(deps: { agent: GuardedAgent; allow: AllowList; timeoutMs: number; now: () => number }) {
  const { agent, allow, timeoutMs } = deps;

  const send = async (
    text: string,
    { method, headers, body, signal, quoting = false, certificate }: Sent,
  ): Promise<Answer> => {
    const deadline = startDeadline(method === 'PUT' ? timeoutMs + uploadMs(body) : timeoutMs, signal);
    try {
      const url = checkUrlSyntax(text, { allow, field: FIELD });
      const answer = await agent.request(url, {
        method,
        signal: deadline.signal,
        certificate,
        headers: { ...headers, 'user-agent': USER_AGENT },
        ...(body === undefined ? {} : { body }),
      });
      const { status } = answer;
      const ok = status >= 200 && status < 300;
      let said: string | undefined;
      if (quoting && !ok) said = await textOf(answer).finally(deadline.end);
      else {
        // The status decides; the rest of the answer is read under the same deadline, and no delivery waits for it.
        drop(answer)
          .catch(() => {})
          .finally(deadline.end);
      }
      const header = (name: string) => [answer.headers[name]].flat()[0];
      return {
        header,
        outcome: {
          status,
          error: ok ? null : `the receiver answered ${status}, expected 2xx`,
          retryAfterMs: parseRetryAfter(header('retry-after'), deps.now()),
          permanent: false,
          said,
        },
      };
    } catch (thrown) {
      deadline.end();
      if (signal?.aborted === true) throw signal.reason;
      const failure = { field: FIELD, timeoutMs, timedOut: deadline.expired, certificate };
      const error = asUrlError(thrown, 'the receiver', failure);
      return {
        header: () => undefined,
        outcome: { status: null, error: error.message, retryAfterMs: null, permanent: error.code === 'url-refused' },
      };
    }
  };

  return {
    post: async (url: string, options: Omit<Sent, 'method'> & { body: string | Uint8Array }): Promise<PostOutcome> =>
      (await send(url, { ...options, method: 'POST' })).outcome,

    /** Sends a file, which has more time than a message. */
    put: async (url: string, options: Omit<Sent, 'method'> & { body: Uint8Array }): Promise<PostOutcome> =>
      (await send(url, { ...options, method: 'PUT' })).outcome,

    /**
     * Asks a receiver of CloudEvents whether it takes deliveries (HTTP 1.1 Web Hooks for Event Delivery, 4).
     * @param options.origin name of this service
     * @returns the allowed requests per minute, null for any number; else an outcome with the reason
     */
    askPermission: async (
      url: string,
      { origin, headers, signal, certificate }: Pick<Sent, 'headers' | 'signal' | 'certificate'> & { origin: string },
    ): Promise<PostOutcome | { readonly rate: number | null }> => {
      const asking = { ...headers, 'webhook-request-origin': origin };
      const { outcome, header } = await send(url, { method: 'OPTIONS', headers: asking, signal, certificate });
      if (outcome.error !== null)
        return { ...outcome, error: `${outcome.error} to the OPTIONS request of CloudEvents` };
      const allowed = header('webhook-allowed-origin');
      if (allowed !== '*' && allowed?.toLowerCase() !== origin.toLowerCase()) {
        const given = allowed === undefined ? 'no WebHook-Allowed-Origin' : 'another WebHook-Allowed-Origin';
        const error = `the receiver answered OPTIONS with ${given}, expected ${origin} or *`;
        return { ...outcome, error };
      }
      const rate = /^[1-9]\d{0,8}$/.exec(header('webhook-allowed-rate') ?? '')?.[0];
      return { rate: rate === undefined ? null : Number(rate) };
    },
  };
}

/** @returns the text of an answer, of a page without its markup; undefined for bytes that are no text, or a failure */
async function textOf(answer: HttpAnswer): Promise<string | undefined> {
  try {
    const { 'content-type': type = '', 'content-encoding': coding = '' } = answer.headers;
    const bytes = await readUpTo(answer, REFUSAL_BYTES);
    if (bytes === undefined) return undefined;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(uncoded(bytes, coding));
    return /html/i.test(type) ? textOfPage(text) : text;
  } catch {
    return undefined;
  } finally {
    answer.body.destroy();
  }
}

/** @throws for a coding that is not known, and for more than REFUSAL_BYTES */
function uncoded(bytes: Buffer, coding: string): Buffer {
  const options = { maxOutputLength: REFUSAL_BYTES };
  if (coding === '' || coding === 'identity') return bytes;
  if (coding === 'br') return brotliDecompressSync(bytes, options);
  return unzipSync(bytes, options);
}

const textOfPage = (page: string): string =>
  page
    .replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/**
 * @param header seconds, or a date (RFC 9110 section 10.2.3)
 * @returns null if there is none or it cannot be parsed
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  // Date.parse alone would take '-5' for a year.
  const date = /^[A-Z][a-z]+, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
