/**
 * ffmpeg and ffprobe as child processes, confined: they read one local file, no network, no playlist, and no file that
 * the input names.
 */
import type { ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { ScenedeltaError } from '../../base/errors.js';
import { type FfmpegOptions, startFailure, startFfmpeg } from '../../process/ffmpeg.js';

/**
 * Containers that hold their own data. Formats that name other files or addresses (HLS, DASH, concat scripts, image
 * patterns, SDP) are absent, so that an input cannot make ffmpeg read anything else.
 */
const FORMATS = [
  'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,mpegvideo,m4v,flv,live_flv,asf,ogg,mxf,wtv,nut,dv,rm',
  'dhav,h261,h263,h264,hevc,av1,obu,ivf,vc1,mjpeg,jpeg_pipe,mpjpeg,gif',
].join(',');

/** Options in front of every input. */
export const CONFINED = ['-protocol_whitelist', 'file', '-format_whitelist', FORMATS] as const;

/** For inputs whose pictures are decoded: the header is no proof of their size. @param pixelLimit width x height */
export const confinedTo = (pixelLimit: number): string[] => [...CONFINED, '-max_pixels', String(pixelLimit)];

/** The prefix keeps a name such as `concat:a|b` or `http://host` a name of a file. */
export const inputName = (path: string): string => `file:${path}`;

/** ffprobe lies beside ffmpeg. @param ffmpeg a name in PATH, or a path */
export const ffprobeBeside = (ffmpeg: string): string =>
  ffmpeg.includes('/') ? join(dirname(ffmpeg), 'ffprobe') : 'ffprobe';

export interface Finished {
  readonly status: number | null;
  readonly stdout: Buffer;
  /** the end of it, at most STDERR_KEPT characters */
  readonly stderr: string;
}

const STDERR_KEPT = 8_000;
const STDOUT_LIMIT = 256 * 1024 * 1024;

interface RunOptions extends FfmpegOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** receives the whole standard error, line by line or otherwise */
  readonly onLog?: (log: Readable) => void;
}

/**
 * Runs a program to its end.
 * @throws ScenedeltaError 'not-found' if it is not installed; 'processing-timeout'; 'cancelled' if `signal` aborts
 */
export function run(program: string, args: readonly string[], options: RunOptions): Promise<Finished> {
  const { signal, timeoutMs, onLog } = options;
  return new Promise((resolve, reject) => {
    const child = startFfmpeg(program, args, options);
    const chunks: Buffer[] = [];
    let length = 0;
    let stderr = '';
    let failure: ScenedeltaError | null = null;
    const stop = (error: ScenedeltaError) => {
      failure ??= error;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(() => {
      const seconds = timeoutMs / 1000;
      stop(new ScenedeltaError('processing-timeout', `${program} did not end within ${seconds} s`));
    }, timeoutMs);
    const onAbort = () => stop(cancelled());
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    child.stdout?.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= STDOUT_LIMIT) chunks.push(chunk);
      else stop(new ScenedeltaError('payload-too-large', `${program} printed more than ${STDOUT_LIMIT} bytes`));
    });
    if (child.stderr !== null) onLog?.(child.stderr);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_KEPT);
    });
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    child.on('error', (error) => {
      end();
      reject(error);
    });
    child.on('close', (status) => {
      end();
      failure ??= startFailure(program, status) ?? null;
      if (failure !== null) reject(failure);
      else resolve({ status, stdout: Buffer.concat(chunks), stderr });
    });
  });
}

export const cancelled = (): ScenedeltaError => new ScenedeltaError('cancelled', 'the run was ended');

/** Ends a process, and waits until it has gone. */
export function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve();
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGKILL');
  return gone;
}

/** The last two messages of a log, without addresses and the name of the file. */
export function lastReason(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) =>
      line
        .replace(/\[[^\]]*\] /g, '')
        .replace(/^file:.*: (?=[A-Z])/, '')
        .trim(),
    )
    .filter((line) => line !== '');
  return [...new Set(lines)].slice(-2).join('; ') || 'no reason given';
}
