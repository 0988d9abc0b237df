/**
 * One frame of an RTSP stream, by ffmpeg. The connection is made by the guard and carried by a relay of this process;
 * ffmpeg may only connect to the relay, and is killed at the deadline.
 */
import { startDeadline } from '../base/deadline.js';
import { ScenedeltaError } from '../base/errors.js';
import { originAndPath } from '../base/redact-url.js';
import type { Config } from '../process/config.js';
import { startErrorOf, startFfmpeg } from '../process/ffmpeg.js';
import { type AllowList, checkUrlSyntax } from './address.js';
import type { FrameRequest } from './frame-request.js';
import type { GuardedAgent } from './guarded-agent.js';
import type { HttpLogins } from './http-login.js';
import { type RtspRelay, startRtspRelay } from './rtsp-relay.js';
import { asUrlError, tooLarge } from './url-error.js';

export type RtspSettings = Pick<Config, 'ffmpeg' | 'pixelLimit'>;

interface RtspDependencies {
  readonly settings: RtspSettings;
  readonly timeoutMs: number;
  readonly allow: AllowList;
  readonly agent: Pick<GuardedAgent, 'connect'>;
  readonly logins: HttpLogins;
}

/** Video of cameras. The rest of ffmpeg's decoders would only be more to attack. */
const DECODERS = 'h264,hevc,mpeg4,mjpeg';

/**
 * - Without -protocol_whitelist, a description of streams could name files and other hosts.
 * - With -fpsprobesize 0 ffmpeg does not wait for twenty frames in order to measure the frame rate.
 * - With -skip_frame nokey it decodes nothing before a key frame, because such frames would be gray.
 * - Most decoders of JPEG expect the colour matrix of BT.601, and larger videos have that of BT.709.
 * - With -timelimit (seconds of processor time) ffmpeg also ends if the worker dies during a decode.
 */
const argumentsFor = (address: string, pixelLimit: number, timeoutMs: number): string[] => [
  ...['-hide_banner', '-nostdin', '-loglevel', 'quiet', '-filter_threads', '1'],
  ...['-timelimit', String(Math.ceil(timeoutMs / 1000))],
  ...['-protocol_whitelist', 'tcp', '-f', 'rtsp', '-rtsp_transport', 'tcp', '-allowed_media_types', 'video'],
  ...['-fpsprobesize', '0', '-codec_whitelist', DECODERS, '-max_pixels', String(pixelLimit)],
  ...['-threads', '1', '-skip_frame', 'nokey', '-i', address],
  ...['-an', '-frames:v', '1', '-vf', 'scale=out_color_matrix=bt601:out_range=pc', '-threads', '1'],
  ...['-f', 'image2pipe', '-c:v', 'mjpeg', '-q:v', '2', 'pipe:1'],
];

/**
 * @returns `fetchFrame`: from an address to one frame as JPEG, with the options and errors of `fetchImage`; `close`
 *   ends the running ones
 */
export function createRtspFetcher({ settings, timeoutMs, allow, agent, logins }: RtspDependencies) {
  const { ffmpeg, pixelLimit } = settings;
  const running = new Map<AbortController, Promise<unknown>>();

  const fetchWithin = async (
    url: URL,
    { login, maxBytes, field, certificate }: FrameRequest,
    signal: AbortSignal,
  ): Promise<Uint8Array> => {
    const address = originAndPath(url);
    const failed = (why: string, code: 'url-failed' | 'url-unavailable' = 'url-failed') =>
      new ScenedeltaError(code, `${address} ${why}`, { field });
    const target = { origin: `${url.protocol}//${url.host}`, method: '', uri: '' };
    if (login !== undefined) await logins.recall(target, login);
    const known = login && logins.begin(target, login);
    if (known !== undefined && 'refused' in known) throw failed(known.refused);

    const camera = await agent.connect(url, { signal, certificate });
    let relay: RtspRelay | undefined;
    try {
      relay = await startRtspRelay({ camera, url, login, logins });
      const { status, output } = await run(
        ffmpeg,
        argumentsFor(relay.address, pixelLimit, timeoutMs),
        maxBytes,
        signal,
      );
      const notStarted = startErrorOf(status);
      if (notStarted !== undefined) {
        throw failed(
          `is an RTSP address, and the worker cannot run ${JSON.stringify(ffmpeg)} (${notStarted}): expected ffmpeg ` +
            'to be installed on all workers, or its path in FFMPEG',
        );
      }
      const { answers } = relay;
      if (answers.refused !== undefined) throw failed(answers.refused);
      if (signal.aborted && answers.streaming) {
        throw failed(`sent no key frame within ${timeoutMs} ms (OUTBOUND_TIMEOUT_MS)`, 'url-unavailable');
      }
      signal.throwIfAborted();
      if (output === undefined) throw tooLarge(address, maxBytes, field);
      if (status === 0 && output.length > 0) return output;
      if (answers.streaming) {
        throw failed(
          'sent no video that ffmpeg could decode, expected H.264, H.265, MPEG-4 or JPEG ' +
            `of at most ${pixelLimit} pixels (PIXEL_LIMIT)`,
        );
      }
      if (answers.failed === undefined) throw failed('sent no video, expected an RTSP stream over TCP');
      const { method, status: answered } = answers.failed;
      throw failed(`answered ${answered} to ${method}, expected 200`, answered >= 500 ? 'url-unavailable' : undefined);
    } finally {
      relay?.close();
      camera.destroy();
    }
  };

  const fetchFrame = async (text: string, options: FrameRequest): Promise<Uint8Array> => {
    const { field, signal, certificate } = options;
    const url = checkUrlSyntax(text, { allow, field, rtsp: true });
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    const deadline = startDeadline(timeoutMs, stop.signal);
    const work = fetchWithin(url, options, deadline.signal);
    running.set(stop, work);
    try {
      return await work;
    } catch (thrown) {
      if (signal?.aborted === true) throw signal.reason;
      throw asUrlError(thrown, originAndPath(url), { field, timeoutMs, timedOut: deadline.expired, certificate });
    } finally {
      running.delete(stop);
      deadline.end();
      signal?.removeEventListener('abort', onAbort);
    }
  };

  const close = async () => {
    for (const stop of running.keys()) stop.abort(new DOMException('the worker is closing', 'AbortError'));
    await Promise.allSettled(running.values());
  };
  return { fetchFrame, close };
}

/**
 * @returns the exit status (null if killed) and the standard output, undefined if that is longer than `maxBytes`
 */
function run(
  program: string,
  args: readonly string[],
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ status: number | null; output: Buffer | undefined }> {
  return new Promise((resolve, reject) => {
    const child = startFfmpeg(program, args);
    child.stderr?.resume();
    const chunks: Buffer[] = [];
    let length = 0;
    const kill = () => void child.kill('SIGKILL');
    signal.addEventListener('abort', kill, { once: true });
    if (signal.aborted) kill();
    child.stdout?.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) kill();
      else chunks.push(chunk);
    });
    child.once('error', reject);
    child.once('close', (status) => {
      signal.removeEventListener('abort', kill);
      resolve({ status, output: length > maxBytes ? undefined : Buffer.concat(chunks) });
    });
  });
}
