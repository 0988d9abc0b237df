/**
 * HTTP client for addresses that callers chose: frames to fetch, webhooks to deliver. It follows no redirects (each hop
 * would need the same checks), has one timeout for the whole exchange, and never echoes the body of an answer.
 */

import { Readable } from 'node:stream';
import { systemClock } from '../clock.js';
import type { Config } from '../config.js';
import { startDeadline } from '../deadline.js';
import { ScenedeltaError } from '../errors.js';
import { drop, readUpTo } from '../http-exchange.js';
import type { Login } from '../login.js';
import { originAndPath } from '../redact-url.js';
import { checkUrlSyntax, parseAllowList } from './address.js';
import { createGuardedAgent, type Resolve } from './guarded-agent.js';
import { createHttpLogins, parseChallenges, type RefusedLogins } from './http-login.js';
import { createPoster, type PostOutcome, USER_AGENT } from './post.js';
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
   * For files that do not fit in memory. The bytes must come at LEAST_RATE or faster, and within LONGEST_DOWNLOAD_MS.
   * @throws ScenedeltaError as fetchImage does, except for the type of the content; reading throws url-failed if the
   *   server is too slow
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
/** Bytes per second below which a server holds a place that others need: an uplink of 128 kbit/s passes. */
const LEAST_RATE = 16 * 1024;
const LONGEST_DOWNLOAD_MS = 6 * 3_600_000;
/** Of one exchange: with a nonce kept from before, with a new one, and with another if that was stale. */
const MOST_REQUESTS = 3;

type Fail = (why: string) => ScenedeltaError;

/**
 * @param options.rtsp without it, rtsp addresses are refused
 * @param options.refusedLogins absent: refused logins are kept as long as the process lives
 */
export function createOutboundClient(
  config: Pick<Config, 'outboundAllow' | 'outboundTimeoutMs'>,
  options: { resolve?: Resolve; now?: () => number; rtsp?: RtspSettings; refusedLogins?: RefusedLogins } = {},
): OutboundClient {
  const allow = parseAllowList(config.outboundAllow);
  const timeoutMs = config.outboundTimeoutMs;
  const now = options.now ?? systemClock;
  const agent = createGuardedAgent({
    allow,
    timeoutMs,
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
  });
  const logins = createHttpLogins(now, options.refusedLogins);

  /** @returns the first answer that is no challenge. @throws Error with the reason if the login cannot help */
  const get = async (url: URL, login: Login | undefined, signal: AbortSignal, failed: Fail) => {
    const target = { origin: url.origin, method: 'GET', uri: url.pathname + url.search };
    if (login !== undefined) await logins.recall(target, login);
    let step = login && logins.begin(target, login);
    for (let requests = 1; ; requests++) {
      if (step !== undefined && 'refused' in step) throw failed(step.refused);
      const answer = await agent.request(url, {
        signal,
        headers: {
          'user-agent': USER_AGENT,
          accept: 'image/*',
          'accept-encoding': 'identity',
          ...(step === undefined ? {} : { authorization: step.authorization }),
        },
      });
      if (answer.status !== 401) return answer;
      await drop(answer);
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
      const { status, headers, body } = await get(url, login, deadline.signal, failed);
      try {
        assertOk(status, address, { field, failed, expected: 'the image' });
        const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
        if (!mayBeImage(type)) throw failed(`answered with content type ${JSON.stringify(type)}, expected image/*`);
        if (Number(headers['content-length']) > maxBytes) throw tooLarge(address, maxBytes, field);
        const bytes = await readUpTo({ body }, maxBytes);
        if (bytes === undefined) throw tooLarge(address, maxBytes, field);
        if (bytes.length === 0) throw failed('answered with zero bytes, expected an image');
        return bytes;
      } finally {
        body.destroy();
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
      const { status, headers, body } = await agent.request(url, {
        headers: { 'user-agent': USER_AGENT, 'accept-encoding': 'identity' },
        ...{ headersTimeout: timeoutMs, bodyTimeout: timeoutMs },
        ...(signal === undefined ? {} : { signal }),
      });
      try {
        assertOk(status, address, { field, failed, expected: 'the file' });
        if (Number(headers['content-length']) > maxBytes) throw tooLarge(address, maxBytes, field);
        return Readable.from(paced(body, { timeoutMs, now, failed }), { objectMode: false });
      } catch (thrown) {
        body.destroy();
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
    agent.close();
  };
  return { fetchImage, download, post, askPermission, close };
}

/**
 * The time that the reader takes does not count.
 * @param options.timeoutMs time over which the rate is measured
 * @throws ScenedeltaError url-failed if the bytes come too slowly
 */
async function* paced(
  body: AsyncIterable<Buffer>,
  { timeoutMs, now, failed }: { timeoutMs: number; now: () => number; failed: Fail },
): AsyncGenerator<Buffer> {
  let [total, waited, bytes] = [0, 0, 0];
  let since = now();
  for await (const chunk of body) {
    const waitedMs = now() - since;
    total += waitedMs;
    waited += waitedMs;
    bytes += chunk.length;
    if (total > LONGEST_DOWNLOAD_MS) throw failed(`was not read within ${LONGEST_DOWNLOAD_MS / 3_600_000} h`);
    if (waited >= timeoutMs) {
      const rate = Math.round(bytes / (waited / 1000));
      if (rate < LEAST_RATE) throw failed(`sent ${rate} bytes per second, expected at least ${LEAST_RATE}`);
      [waited, bytes] = [0, 0];
    }
    yield chunk;
    since = now();
  }
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
