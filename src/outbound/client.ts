/**
 * Requests to addresses that callers chose: frames to fetch, webhooks to deliver. No redirects (each hop would need the same
 * checks, and a webhook has one address), one timeout for the whole exchange, and an upstream's body is never echoed.
 */
import { request } from 'undici';
import type { Config } from '../config.js';
import { startDeadline } from '../deadline.js';
import { ScenedeltaError } from '../errors.js';
import { originAndPath } from '../redact-url.js';
import { checkUrlSyntax, parseAllowList } from './address.js';
import { createGuardedAgent, type Resolve } from './guarded-agent.js';

export interface PostOutcome {
  /** null where there was no answer */
  readonly status: number | null;
  /** null for 2xx; else why it failed, in our own words */
  readonly error: string | null;
  /** what a Retry-After header asks for */
  readonly retryAfterMs: number | null;
  /** the address itself is refused: no try can succeed */
  readonly permanent: boolean;
}
export interface OutboundClient {
  /**
   * An image's bytes.
   * @param options.field which frame it is, for the problem that may come of it
   * @throws ScenedeltaError url-refused, url-failed (permanent: 3xx, 4xx, not an image), url-unavailable (transient: no answer, 429, 5xx),
   * payload-too-large.
   */
  fetchImage(
    url: string,
    options: { maxBytes: number; field: string; signal?: AbortSignal },
  ): Promise<Uint8Array>;
  /** Never throws for what the receiver does. */
  post(
    url: string,
    options: { body: string; headers: Record<string, string>; signal?: AbortSignal },
  ): Promise<PostOutcome>;
  close(): Promise<void>;
}

const USER_AGENT = 'scenedelta (+https://scenedelta.dev)';
/** A 4xx that may pass by itself. */
const PASSING = new Set([408, 425, 429]);
/** A receiver's answer is read this far, so that its connection can be used again, and dropped. */
const ANSWER_LIMIT = 64 * 1024;

export function createOutboundClient(
  config: Pick<Config, 'outboundAllow' | 'outboundTimeoutMs'>,
  options: { resolve?: Resolve; now?: () => number } = {},
): OutboundClient {
  const allow = parseAllowList(config.outboundAllow);
  const timeoutMs = config.outboundTimeoutMs;
  const now = options.now ?? Date.now;
  const agent = createGuardedAgent({
    allow,
    timeoutMs,
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
  });
  const fetchImage: OutboundClient['fetchImage'] = async (text, { maxBytes, field, signal }) => {
    const url = checkUrlSyntax(text, { allow, field });
    const shown = originAndPath(url);
    const failed = (why: string) => new ScenedeltaError('url-failed', `${shown} ${why}`, { field });
    const deadline = startDeadline(timeoutMs, signal);
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: agent.dispatcherOf(url.origin),
        signal: deadline.signal,
        headers: { 'user-agent': USER_AGENT, accept: 'image/*', 'accept-encoding': 'identity' },
      });
      try {
        if (statusCode >= 300 && statusCode < 400) {
          throw failed(`answered ${statusCode}: expected the image itself, redirects are not followed`);
        }
        if (statusCode >= 500 || PASSING.has(statusCode)) {
          throw new ScenedeltaError('url-unavailable', `${shown} answered ${statusCode}`, { field });
        }
        if (statusCode !== 200) throw failed(`answered ${statusCode}, expected 200`);
        const type = firstOf(headers['content-type'])?.split(';')[0]?.trim().toLowerCase();
        if (!mayBeImage(type))
          throw failed(`answered with content type ${JSON.stringify(type)}, expected image/*`);
        const tooLarge = () =>
          new ScenedeltaError('payload-too-large', `${shown} has more than ${maxBytes} bytes`, { field });
        if (Number(firstOf(headers['content-length'])) > maxBytes) throw tooLarge();
        const chunks: Buffer[] = [];
        let length = 0;
        for await (const chunk of body as AsyncIterable<Buffer>) {
          length += chunk.byteLength;
          if (length > maxBytes) throw tooLarge();
          chunks.push(chunk);
        }
        if (length === 0) throw failed('answered with zero bytes, expected an image');
        return Buffer.concat(chunks);
      } finally {
        body.on('error', () => {}).destroy();
      }
    } catch (thrown) {
      if (signal?.aborted === true) throw signal.reason;
      throw asUrlError(thrown, shown, field, timeoutMs, deadline.expired);
    } finally {
      deadline.end();
    }
  };

  const post: OutboundClient['post'] = async (text, { body, headers, signal }) => {
    const deadline = startDeadline(timeoutMs, signal);
    try {
      const url = checkUrlSyntax(text, { allow, field: 'callback_url' });
      const answer = await request(url, {
        dispatcher: agent.dispatcherOf(url.origin),
        method: 'POST',
        signal: deadline.signal,
        headers: { ...headers, 'user-agent': USER_AGENT },
        body,
      });
      // The status decides; the rest of the answer is read under the same deadline, and no delivery waits for it.
      answer.body
        .dump({ limit: ANSWER_LIMIT })
        .catch(() => {})
        .finally(deadline.end);
      const status = answer.statusCode;
      const ok = status >= 200 && status < 300;
      return {
        status,
        error: ok ? null : `the receiver answered ${status}, expected 2xx`,
        retryAfterMs: parseRetryAfter(firstOf(answer.headers['retry-after']), now()),
        permanent: false,
      };
    } catch (thrown) {
      deadline.end();
      if (signal?.aborted === true) throw signal.reason;
      const error = asUrlError(thrown, 'the receiver', 'callback_url', timeoutMs, deadline.expired);
      return {
        status: null,
        error: error.message,
        retryAfterMs: null,
        permanent: error.code === 'url-refused',
      };
    }
  };

  return { fetchImage, post, close: () => agent.destroy() };
}

/** Many stores serve images as plain bytes, or say nothing; decoding tells the truth later. */
const mayBeImage = (type: string | undefined): boolean =>
  type === undefined || type.startsWith('image/') || /^(application|binary)\/octet-stream$/.test(type);

const firstOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

/** RFC 9110 section 10.2.3: seconds, or a date. @returns null where there is none that can be read. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  // Date.parse alone would read '-5' as a year
  const date = /^[A-Z][a-z]+, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Certificates do not get better by trying again. */
const CERTIFICATE = /^(CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** The upstream's failure in our words; the system's text stays in `cause`, for the log. */
function asUrlError(
  thrown: unknown,
  shown: string,
  field: string,
  timeoutMs: number,
  timedOut: boolean,
): ScenedeltaError {
  if (thrown instanceof ScenedeltaError) {
    return thrown.field === undefined
      ? new ScenedeltaError(thrown.code, thrown.message, { field, cause: thrown })
      : thrown;
  }
  const code = codeOf(thrown);
  if (CERTIFICATE.test(code)) {
    return new ScenedeltaError('url-failed', `${shown} has a certificate that is not trusted (${code})`, {
      field,
      cause: thrown,
    });
  }
  const why =
    timedOut || code.endsWith('_TIMEOUT')
      ? `did not finish within ${timeoutMs} ms`
      : `could not be reached (${code})`;
  return new ScenedeltaError('url-unavailable', `${shown} ${why}`, { field, cause: thrown });
}

/** With several addresses tried, Node wraps their errors into one AggregateError; its code is the first's. */
const codeOf = (thrown: unknown): string =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : 'no connection';
