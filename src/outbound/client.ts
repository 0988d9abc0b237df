/**
 * HTTP client for addresses that callers chose: frames to fetch, webhooks to deliver. It follows no redirects (each hop
 * would need the same checks) except one of a camera to the same origin, has one timeout for the whole exchange, and
 * shows of an answer only a receiver's refusal, if the caller asks for it.
 */
import { Readable } from 'node:stream';
import { systemClock } from '../base/clock.js';
import { startDeadline } from '../base/deadline.js';
import { ScenedeltaError, urlFailed } from '../base/errors.js';
import { IMAGE_NAMES, imageTypeOf, jpegStart } from '../base/image-type.js';
import { originAndPath } from '../base/redact-url.js';
import type { Config } from '../process/config.js';
import type { ProxyOf } from '../process/proxies.js';
import type { Login } from '../secrets/login.js';
import { checkUrlSyntax, isRtsp, parseAllowList } from './address.js';
import { askCamera, type CameraAnswer, NoAnswer, readPicture } from './camera-http.js';
import type { FrameRequest } from './frame-request.js';
import { createGuardedAgent, type Resolve } from './guarded-agent.js';
import type { Limits, Picture } from './http-fields.js';
import { createHttpLogins, parseChallenges, type RefusedLogins } from './http-login.js';
import { createMailer, type Mailer } from './mail.js';
import { createPoster, type Poster, USER_AGENT } from './post.js';
import { cookieOf, followed, isUpgrade } from './redirects.js';
import type { createRtspFetcher, RtspSettings } from './rtsp.js';
import { asUrlError, tooLarge } from './url-error.js';

export type { PostOutcome } from './post.js';

export interface OutboundClient extends Poster {
  /**
   * @param url http(s), or rtsp(s) for one frame of a stream
   * @param options.field name of the frame in the request, for error messages
   * @param options.login sent only if the host asks for it, by Basic or Digest
   * @param options.certificate certificate that the host may have (process/connect.ts); undefined: the caller has no
   *   setting for it
   * @returns the bytes of an image
   * @throws ScenedeltaError url-refused, url-failed (permanent: 3xx, 4xx, not an image), url-unavailable (transient: no
   * answer, 429, 5xx), payload-too-large
   */
  fetchImage(url: string, options: FrameRequest): Promise<Uint8Array>;
  /**
   * For files that do not fit in memory. The bytes must come at LEAST_RATE or faster, and within LONGEST_DOWNLOAD_MS.
   * @throws ScenedeltaError as fetchImage does, except for the type of the content; reading throws url-failed if the
   *   server is too slow
   */
  download(url: string, options: { maxBytes: number; field: string; signal?: AbortSignal }): Promise<Readable>;
  /** Never throws because of the server's behaviour. @param url smtp(s)://user@host:port */
  mail: Mailer;
  close(): Promise<void>;
}

/** 4xx statuses that are transient. */
const TRANSIENT_STATUSES = new Set([408, 425, 429]);
/** Bytes per second below which a server holds a place that others need: an uplink of 128 kbit/s passes. */
const LEAST_RATE = 16 * 1024;
const LONGEST_DOWNLOAD_MS = 6 * 3_600_000;

/** Why a redirect to https is not followed: a login is for one origin. */
const HTTPS_ADDRESS = 'https in the address of a camera with a login that redirects to it, and the image';

type Fail = (why: string) => ScenedeltaError;
type RtspFetcher = ReturnType<typeof createRtspFetcher>;
interface PictureRequest {
  readonly signal: AbortSignal;
  readonly limits: Limits;
  /** name of the frame in errors */
  readonly field: string;
  readonly certificate: string | null | undefined;
  /** after a redirect: the value of the header Cookie, '' for none */
  readonly cookie?: string;
}

/**
 * @param options.rtsp without it, rtsp addresses are refused
 * @param options.refusedLogins absent: refused logins are kept as long as the process lives
 */
export function createOutboundClient(
  config: Pick<Config, 'outboundAllow' | 'outboundTimeoutMs'>,
  options: {
    resolve?: Resolve;
    now?: () => number;
    rtsp?: RtspSettings;
    refusedLogins?: RefusedLogins;
    proxyOf?: ProxyOf;
  } = {},
): OutboundClient {
  const allow = parseAllowList(config.outboundAllow);
  const timeoutMs = config.outboundTimeoutMs;
  const now = options.now ?? systemClock;
  const agent = createGuardedAgent({
    allow,
    timeoutMs,
    proxyOf: options.proxyOf,
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
  });
  const logins = createHttpLogins(now, options.refusedLogins);

  /**
   * Follows one redirect to the same origin, or without a login from http to https of the same host, as browsers do:
   * its caller could have named that address.
   * @returns the picture of the first answer that is no challenge. @throws NoAnswer; Error with the reason otherwise
   */
  const getPicture = async (url: URL, login: Login | undefined, request: PictureRequest): Promise<Picture> => {
    const { signal, limits, field, cookie, certificate } = request;
    const target = { origin: url.origin, method: 'GET', uri: url.pathname + url.search };
    return logins.exchange(target, login, limits.failed, async (authorization) => {
      const connection = await agent.connectHttp(url, { signal, certificate });
      try {
        const headers = {
          'user-agent': USER_AGENT,
          accept: 'image/*, multipart/x-mixed-replace',
          'accept-encoding': 'identity',
          ...(authorization === undefined ? {} : { authorization }),
          ...(cookie === undefined || cookie === '' ? {} : { cookie }),
        };
        const answer = await askCamera(connection, url, headers, { signal, limits });
        if (answer.status === 401) {
          if (login === undefined) throw limits.failed('answered 401: it asks for a user name and a password');
          return { challenges: parseChallenges(answer.fields.get('www-authenticate') ?? []) };
        }
        const moved = cookie === undefined ? followed(answer, url, login) : undefined;
        if (moved !== undefined) {
          checkUrlSyntax(moved.href, { allow, field });
          return { result: await getPicture(moved, login, { ...request, cookie: cookieOf(answer) }) };
        }
        const expected = isUpgrade(answer, url) ? HTTPS_ADDRESS : 'the image';
        assertOk(answer.status, originAndPath(url), { field, failed: limits.failed, expected });
        const picture = await readPicture(answer, limits);
        assertPicture(picture, answer, limits);
        return { result: picture };
      } finally {
        connection.socket.destroy();
      }
    });
  };

  /** Cameras close connections early now and then, so that a second attempt follows at once. */
  const getWhole = async (url: URL, login: Login | undefined, request: PictureRequest): Promise<Buffer> => {
    const attempt = () => getPicture(url, login, request);
    const first = await attempt().catch((thrown) => {
      if (thrown instanceof NoAnswer) return undefined;
      throw thrown;
    });
    if (first?.complete === true) return first.bytes;
    const second = await attempt().catch((thrown) => {
      if (first !== undefined && thrown instanceof NoAnswer) return first;
      throw thrown;
    });
    // The decoder shows as much of a JPEG as came; other formats show nothing.
    if (!second.complete && jpegStart(second.bytes) < 0) throw new NoAnswer('closed within the picture');
    return second.bytes;
  };

  let rtsp: Promise<RtspFetcher> | undefined;
  /** Loaded with the first address of a stream. */
  const rtspFetcher = (settings: RtspSettings): Promise<RtspFetcher> => {
    rtsp ??= import('./rtsp.js').then((module) =>
      module.createRtspFetcher({ settings, timeoutMs, allow, agent, logins }),
    );
    return rtsp;
  };

  const { rtsp: rtspSettings } = options;
  const fetchImage: OutboundClient['fetchImage'] = async (text, request) => {
    if (rtspSettings !== undefined && isRtsp(text)) return (await rtspFetcher(rtspSettings)).fetchFrame(text, request);
    const { maxBytes, field, signal, login, certificate } = request;
    const url = checkUrlSyntax(text, { allow, field });
    const address = originAndPath(url);
    const failed = (why: string) => urlFailed(`${address} ${why}`, field);
    const limits = { maxBytes, failed, tooLarge: () => tooLarge(address, maxBytes, field) };
    const deadline = startDeadline(timeoutMs, signal);
    try {
      return await getWhole(url, login, { signal: deadline.signal, limits, field, certificate });
    } catch (thrown) {
      if (signal?.aborted === true) throw signal.reason;
      throw asUrlError(thrown, address, { field, timeoutMs, timedOut: deadline.expired, certificate });
    } finally {
      deadline.end();
    }
  };

  const download: OutboundClient['download'] = async (text, { maxBytes, field, signal }) => {
    const url = checkUrlSyntax(text, { allow, field });
    const address = originAndPath(url);
    const failed = (why: string) => urlFailed(`${address} ${why}`, field);
    try {
      const { status, headers, body } = await agent.request(url, {
        headers: { 'user-agent': USER_AGENT, 'accept-encoding': 'identity' },
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

  const poster = createPoster({ agent, allow, timeoutMs, now });
  const mail = createMailer({ agent, allow, timeoutMs });
  const close = async () => {
    await (await rtsp)?.close();
    agent.close();
  };
  return { ...poster, fetchImage, download, mail, close };
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
    throw failed(`answered ${status}: expected ${expected} itself, redirects are not followed to another address`);
  }
  if (status >= 500 || TRANSIENT_STATUSES.has(status)) {
    throw new ScenedeltaError('url-unavailable', `${address} answered ${status}`, { field });
  }
  if (status !== 200) throw failed(`answered ${status}, expected 200`);
}

/** The first bytes decide, because cameras state wrong types. @throws ScenedeltaError url-failed */
function assertPicture({ bytes }: Picture, { fields }: CameraAnswer, { failed }: Limits): void {
  if (imageTypeOf(bytes) !== undefined) return;
  const type = fields.get('content-type')?.at(-1)?.slice(0, 100);
  const stated = type === undefined ? '' : ` of the type ${JSON.stringify(type)}`;
  throw failed(
    bytes.length === 0
      ? `answered with zero bytes${stated}, expected an image`
      : `answered with ${bytes.length} bytes${stated} that are no image, expected ${IMAGE_NAMES}`,
  );
}
