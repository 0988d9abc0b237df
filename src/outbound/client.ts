/**
 * HTTP client for addresses that callers chose: frames to fetch, webhooks to deliver. It follows no redirects (each hop
 * would need the same checks), has one timeout for the whole exchange, and never echoes the body of an answer.
 */
import { request } from 'undici';
import type { Config } from '../config.js';
import { startDeadline } from '../deadline.js';
import { ScenedeltaError } from '../errors.js';
import type { Login } from '../login.js';
import { originAndPath } from '../redact-url.js';
import { checkUrlSyntax, parseAllowList } from './address.js';
import { createGuardedAgent, type Resolve } from './guarded-agent.js';
import { createHttpLogins, parseChallenges } from './http-login.js';

export interface PostOutcome {
  /** null if there was no answer */
  readonly status: number | null;
  /** null for 2xx; else the reason, in a sentence of the service */
  readonly error: string | null;
  /** delay that a Retry-After header asks for */
  readonly retryAfterMs: number | null;
  /** the address itself is refused, so no attempt can succeed */
  readonly permanent: boolean;
}
export interface OutboundClient {
  /**
   * @param options.field name of the frame in the request, for error messages
   * @param options.login sent only if the host asks for it, by Basic or Digest
   * @returns the bytes of an image
   * @throws ScenedeltaError url-refused, url-failed (permanent: 3xx, 4xx, not an image), url-unavailable (transient: no
   * answer, 429, 5xx), payload-too-large
   */
  fetchImage(
    url: string,
    options: { maxBytes: number; field: string; signal?: AbortSignal; login?: Login | undefined },
  ): Promise<Uint8Array>;
  /** Never throws because of the receiver's behaviour. */
  post(
    url: string,
    options: { body: string; headers: Record<string, string>; signal?: AbortSignal },
  ): Promise<PostOutcome>;
  close(): Promise<void>;
}

const USER_AGENT = 'scenedelta (+https://scenedelta.dev)';
/** 4xx statuses that are transient. */
const TRANSIENT_STATUSES = new Set([408, 425, 429]);
/** Bytes of a receiver's answer that are read and dropped, so that its connection can be used again. */
const ANSWER_LIMIT = 64 * 1024;
/** Of one exchange: with a nonce kept from before, with a new one, and with another if that was stale. */
const MOST_REQUESTS = 3;

type Fail = (why: string) => ScenedeltaError;

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
  const logins = createHttpLogins(now);

  /** @returns the first answer that is no challenge. @throws Error with the reason if the login cannot help */
  const get = async (url: URL, login: Login | undefined, signal: AbortSignal, failed: Fail) => {
    let step = login && logins.begin(url, login);
    for (let requests = 1; ; requests++) {
      if (step !== undefined && 'refused' in step) throw failed(step.refused);
      const answer = await request(url, {
        dispatcher: agent.dispatcherOf(url.origin),
        signal,
        headers: {
          'user-agent': USER_AGENT,
          accept: 'image/*',
          'accept-encoding': 'identity',
          ...(step === undefined ? {} : { authorization: step.authorization }),
        },
      });
      if (answer.statusCode !== 401) return answer;
      await answer.body.dump({ limit: ANSWER_LIMIT });
      if (login === undefined) throw failed('answered 401: it asks for a user name and a password');
      if (requests === MOST_REQUESTS) throw failed('answered 401 to each of several logins');
      const challenges = parseChallenges([answer.headers['www-authenticate'] ?? []].flat());
      step = logins.answer(url, login, challenges, requests > 1);
    }
  };

  const fetchImage: OutboundClient['fetchImage'] = async (text, { maxBytes, field, signal, login }) => {
    const url = checkUrlSyntax(text, { allow, field });
    const address = originAndPath(url);
    const failed = (why: string) => new ScenedeltaError('url-failed', `${address} ${why}`, { field });
    const deadline = startDeadline(timeoutMs, signal);
    try {
      const { statusCode, headers, body } = await get(url, login, deadline.signal, failed);
      try {
        if (statusCode >= 300 && statusCode < 400) {
          throw failed(`answered ${statusCode}: expected the image itself, redirects are not followed`);
        }
        if (statusCode >= 500 || TRANSIENT_STATUSES.has(statusCode)) {
          throw new ScenedeltaError('url-unavailable', `${address} answered ${statusCode}`, { field });
        }
        if (statusCode !== 200) throw failed(`answered ${statusCode}, expected 200`);
        const type = firstOf(headers['content-type'])?.split(';')[0]?.trim().toLowerCase();
        if (!mayBeImage(type)) throw failed(`answered with content type ${JSON.stringify(type)}, expected image/*`);
        const tooLarge = () =>
          new ScenedeltaError('payload-too-large', `${address} has more than ${maxBytes} bytes (FRAME_LIMIT)`, {
            field,
          });
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
      throw asUrlError(thrown, address, field, timeoutMs, deadline.expired);
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

/** Many stores serve images as plain bytes, or without a type; decoding shows later whether it is an image. */
const mayBeImage = (type: string | undefined): boolean =>
  type === undefined || type.startsWith('image/') || /^(application|binary)\/octet-stream$/.test(type);

const firstOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

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

/** Error codes of certificates, which another attempt does not change. */
const CERTIFICATE = /^(CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Describes a failed exchange in words of the service; the system's own text stays in `cause`, for the log. */
function asUrlError(
  thrown: unknown,
  address: string,
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
    return new ScenedeltaError('url-failed', `${address} has a certificate that is not trusted (${code})`, {
      field,
      cause: thrown,
    });
  }
  const why =
    timedOut || code.endsWith('_TIMEOUT')
      ? `did not finish within ${timeoutMs} ms (OUTBOUND_TIMEOUT_MS)`
      : `could not be reached (${code})`;
  return new ScenedeltaError('url-unavailable', `${address} ${why}`, { field, cause: thrown });
}

/** If several addresses were tried, Node wraps their errors in an AggregateError with the code of the first one. */
const codeOf = (thrown: unknown): string =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : 'no connection';
