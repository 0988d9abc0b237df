/**
 * HTTP client for addresses that callers chose: frames to fetch, webhooks to deliver. It follows no redirects (each hop
 * would need the same checks), has one timeout for the whole exchange, and never echoes the body of an answer.
 */
import type { Readable } from 'node:stream';
import { request } from 'undici';
import type { Config } from '../config.js';
import { startDeadline } from '../deadline.js';
import { ScenedeltaError } from '../errors.js';
import type { Login } from '../login.js';
import { originAndPath } from '../redact-url.js';
import { checkUrlSyntax, parseAllowList } from './address.js';
import { createGuardedAgent, type Resolve } from './guarded-agent.js';
import { createHttpLogins, parseChallenges } from './http-login.js';
import { ANSWER_LIMIT, createPoster, firstOf, type PostOutcome, USER_AGENT } from './post.js';
import { createRtspFetcher, isRtsp, type RtspSettings } from './rtsp.js';
import { asUrlError, tooLarge } from './url-error.js';

export type { PostOutcome } from './post.js';

export interface OutboundClient {
  /**
   * @param url http(s), or rtsp(s) for one frame of a stream
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
  /**
   * For files that do not fit in memory: no time limit on the whole, but one on each pause.
   * @throws ScenedeltaError as fetchImage does, but for the type of the content
   */
  download(url: string, options: { maxBytes: number; field: string; signal?: AbortSignal }): Promise<Readable>;
  /** Never throws because of the receiver's behaviour. */
  post(
    url: string,
    options: { body: string; headers: Record<string, string>; signal?: AbortSignal },
  ): Promise<PostOutcome>;
  /**
   * Asks a receiver of CloudEvents whether it takes deliveries (HTTP 1.1 Web Hooks for Event Delivery, 4).
   * @param options.origin name of this service
   * @returns the allowed requests per minute, null for any number; else an outcome with the reason
   */
  askPermission(
    url: string,
    options: { origin: string; headers: Record<string, string>; signal?: AbortSignal },
  ): Promise<PostOutcome | { readonly rate: number | null }>;
  close(): Promise<void>;
}

/** 4xx statuses that are transient. */
const TRANSIENT_STATUSES = new Set([408, 425, 429]);
/** Of one exchange: with a nonce kept from before, with a new one, and with another if that was stale. */
const MOST_REQUESTS = 3;

type Fail = (why: string) => ScenedeltaError;

/** @param options.rtsp without it, rtsp addresses are refused */
export function createOutboundClient(
  config: Pick<Config, 'outboundAllow' | 'outboundTimeoutMs'>,
  options: { resolve?: Resolve; now?: () => number; rtsp?: RtspSettings } = {},
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
    const target = { origin: url.origin, method: 'GET', uri: url.pathname + url.search };
    let step = login && logins.begin(target, login);
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
      step = logins.answer(target, login, challenges, requests > 1);
    }
  };

  const rtsp = options.rtsp && createRtspFetcher({ settings: options.rtsp, timeoutMs, allow, agent, logins });

  const fetchImage: OutboundClient['fetchImage'] = async (text, options) => {
    if (rtsp !== undefined && isRtsp(text)) return rtsp.fetchFrame(text, options);
    const { maxBytes, field, signal, login } = options;
    const url = checkUrlSyntax(text, { allow, field });
    const address = originAndPath(url);
    const failed = (why: string) => new ScenedeltaError('url-failed', `${address} ${why}`, { field });
    const deadline = startDeadline(timeoutMs, signal);
    try {
      const { statusCode, headers, body } = await get(url, login, deadline.signal, failed);
      try {
        assertOk(statusCode, address, { field, failed, expected: 'the image' });
        const type = firstOf(headers['content-type'])?.split(';')[0]?.trim().toLowerCase();
        if (!mayBeImage(type)) throw failed(`answered with content type ${JSON.stringify(type)}, expected image/*`);
        if (Number(firstOf(headers['content-length'])) > maxBytes) throw tooLarge(address, maxBytes, field);
        const chunks: Buffer[] = [];
        let length = 0;
        for await (const chunk of body as AsyncIterable<Buffer>) {
          length += chunk.byteLength;
          if (length > maxBytes) throw tooLarge(address, maxBytes, field);
          chunks.push(chunk);
        }
        if (length === 0) throw failed('answered with zero bytes, expected an image');
        return Buffer.concat(chunks);
      } finally {
        body.on('error', () => {}).destroy();
      }
    } catch (thrown) {
      if (signal?.aborted === true) throw signal.reason;
      throw asUrlError(thrown, address, { field, timeoutMs, timedOut: deadline.expired });
    } finally {
      deadline.end();
    }
  };

  const download: OutboundClient['download'] = async (text, { maxBytes, field, signal }) => {
    const url = checkUrlSyntax(text, { allow, field });
    const address = originAndPath(url);
    const failed = (why: string) => new ScenedeltaError('url-failed', `${address} ${why}`, { field });
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: agent.dispatcherOf(url.origin),
        headers: { 'user-agent': USER_AGENT, 'accept-encoding': 'identity' },
        ...{ headersTimeout: timeoutMs, bodyTimeout: timeoutMs },
        ...(signal === undefined ? {} : { signal }),
      });
      try {
        assertOk(statusCode, address, { field, failed, expected: 'the file' });
        if (Number(firstOf(headers['content-length'])) > maxBytes) throw tooLarge(address, maxBytes, field);
        return body;
      } catch (thrown) {
        body.on('error', () => {}).destroy();
        throw thrown;
      }
    } catch (thrown) {
      if (signal?.aborted === true) throw signal.reason;
      throw asUrlError(thrown, address, { field, timeoutMs, timedOut: false });
    }
  };

  const { post, askPermission } = createPoster({ agent, allow, timeoutMs, now });

  const close = async () => {
    await rtsp?.close();
    await agent.destroy();
  };
  return { fetchImage, download, post, askPermission, close };
}

/** @throws ScenedeltaError url-failed, url-unavailable unless the status is 200 */
function assertOk(
  status: number,
  address: string,
  { field, failed, expected }: { field: string; failed: Fail; expected: string },
): void {
  if (status >= 300 && status < 400) {
    throw failed(`answered ${status}: expected ${expected} itself, redirects are not followed`);
  }
  if (status >= 500 || TRANSIENT_STATUSES.has(status)) {
    throw new ScenedeltaError('url-unavailable', `${address} answered ${status}`, { field });
  }
  if (status !== 200) throw failed(`answered ${status}, expected 200`);
}

/** Many stores serve images as plain bytes, or without a type; decoding shows later whether it is an image. */
const mayBeImage = (type: string | undefined): boolean =>
  type === undefined || type.startsWith('image/') || /^(application|binary)\/octet-stream$/.test(type);
