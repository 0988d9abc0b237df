/** One file of a recording, opened: its sampled frames in their order, or the frame at a time. */
import { stat } from 'node:fs/promises';
import { ScenedeltaError } from '../../base/errors.js';
import { workingSize } from '../../frames/decode.js';
import { previewReduction } from '../../frames/preview.js';
import type { Config } from '../../process/config.js';
import { lazyJoins } from '../video/damage-lines.js';
import { decodeVideo, type VideoFrame } from '../video/decode.js';
import { FrameTimes, fromBeginning } from '../video/frame-times.js';
import { frameTimes } from '../video/packet-length.js';
import { probeVideo, type VideoInfo } from '../video/probe.js';
import { confinedTo, inputName, lastReason, run } from '../video/run.js';
import { cellAt, type Sampling } from '../video/sampling.js';
import { seekTo } from '../video/seek.js';
import { passthroughOptions } from '../video/version.js';
import { readImage } from './read-image.js';
import type { FootageItem } from './recording-plan.js';

export interface ReadOptions extends Pick<Config, 'ffmpeg' | 'videoPixelLimit' | 'frameLimit'> {
  /** Makes an item readable as a local file. */
  readonly materialize: Materialize;
  readonly signal: AbortSignal;
}

/** @throws ScenedeltaError of the item */
export type Materialize = (
  item: FootageItem,
  signal: AbortSignal,
) => Promise<{ readonly path: string; release(): Promise<void> }>;

/** Frames of a video from a presentation time (seconds) until another, which is excluded. */
export interface Wanted extends Pick<Config, 'ffmpegHwaccel'> {
  readonly sampling: Sampling;
  readonly from: number;
  readonly until: number;
}

export interface StillFrame {
  readonly bytes: Uint8Array;
  /** presentation time; 0 of an image */
  readonly seconds: number;
}

/** A seek into a damaged file may read all of it. */
const FRAME_TIMEOUT_MS = 120_000;
const EVERY_FRAME: Sampling = { keyFrames: false, step: null, phase: 0 };
/** JPEG of the best quality that ffmpeg has. */
const ENCODED = ['-f', 'image2pipe', '-c:v', 'mjpeg', '-q:v', '2'];
/** Earlier frames that are looked at if one is damaged, one per second, or each one of a slower video. */
const MOST_STEPS_BACK = 5;
/** Times with six digits may be rounded to one after the frame. */
const ROUNDING = 1e-5;

const FAULTS: readonly string[] = [
  'image-unreadable',
  'image-too-large',
  'image-too-small',
  'payload-too-large',
  'not-found',
  'processing-timeout',
  'url-failed',
  'invalid-value',
];
/** @returns bytes; 0 of an absent file, which the next step refuses with a reason */
const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => null))?.size ?? 0;

/** Whether the item is to blame, so that the others can still be processed. */
export const isFaultOfItem = ({ code }: ScenedeltaError): boolean => FAULTS.includes(code);

export class Recording {
  readonly item: FootageItem;
  readonly #size: number;
  readonly #local: Awaited<ReturnType<Materialize>>;
  readonly #options: ReadOptions;
  readonly #joins: ReturnType<typeof lazyJoins>;
  #info: Promise<VideoInfo> | undefined;

  private constructor(item: FootageItem, local: Awaited<ReturnType<Materialize>>, size: number, options: ReadOptions) {
    this.item = item;
    this.#size = size;
    this.#local = local;
    this.#options = options;
    this.#joins = lazyJoins(local.path);
  }

  /** @throws ScenedeltaError of the item */
  static async open(item: FootageItem, options: ReadOptions): Promise<Recording> {
    const local = await options.materialize(item, options.signal);
    return new Recording(item, local, await sizeOf(local.path), options);
  }

  /** Whether the file has become longer since it was opened: its new end may not have been read. */
  async hasGrown(): Promise<boolean> {
    return (await sizeOf(this.#local.path)) > this.#size;
  }

  /** The header of a video. @throws ScenedeltaError 'image-unreadable', 'image-too-large', 'cancelled' */
  info(): Promise<VideoInfo> {
    const { ffmpeg, videoPixelLimit: pixelLimit, signal } = this.#options;
    this.#info ??= probeVideo(this.#local.path, { ffmpeg, pixelLimit, signal });
    return this.#info;
  }

  /** Frames of a video at working size. @throws ScenedeltaError as decodeVideo and `info` */
  async *frames({ sampling, from, until, ffmpegHwaccel }: Wanted): AsyncGenerator<VideoFrame, void> {
    const { ffmpeg, videoPixelLimit: pixelLimit, signal } = this.#options;
    const info = await this.info();
    const working = workingSize(info);
    yield* decodeVideo(this.#local.path, {
      ffmpeg,
      ffmpegHwaccel,
      info,
      sampling,
      working,
      signal,
      pixelLimit,
      from,
      until,
      previewReduction: previewReduction(working.width),
    });
  }

  /** @returns the bytes of an image. @throws ScenedeltaError 'payload-too-large', 'not-found' */
  bytes(): Promise<Uint8Array> {
    return readImage(this.#local.path, this.#options.frameLimit);
  }

  /**
   * @param seconds presentation time
   * @param onDamage is called with the reason for each damaged frame; an earlier one is then looked for
   * @returns the first frame from this time on, else the last one before; of an image, its bytes
   * @throws ScenedeltaError 'image-unreadable', 'not-found', 'payload-too-large', 'processing-timeout', 'cancelled'
   */
  async at(seconds: number, onDamage: (reason: string) => void): Promise<StillFrame> {
    const { file, kind } = this.item;
    if (kind === 'image')
      return { seconds: 0, bytes: await readImage(this.#local.path, this.#options.frameLimit, file) };
    const { frameSeconds } = await this.info();
    let at: number | null = seconds;
    for (let back = 0; back <= MOST_STEPS_BACK && at !== null && at >= 0; back++) {
      const found = await this.#from(at, onDamage);
      if (found !== null && found !== 'damaged') return found;
      // The last frame may last long, or end before the sound.
      at = found === null && back === 0 ? await this.#lastBefore(at) : at - Math.max(1, frameSeconds ?? 0);
    }
    throw new ScenedeltaError('image-unreadable', `${file}: there is no frame at ${seconds} s`);
  }

  /**
   * @param every seconds
   * @returns presentation times at which a frame is looked for, one per `every`; of a slower video, those of its frames
   */
  async times(every: number): Promise<readonly number[]> {
    const info = await this.info();
    if ((info.frameSeconds ?? 0) > every) {
      const shown = await frameTimes(this.#local.path, this.#options);
      const times = shown.map((time) => fromBeginning(time, info)).filter((time) => time >= 0);
      const cells = times.map((time) => cellAt(time * 1000, every));
      if (times.length > 0) return times.filter((_, i) => cells[i] !== cells[i - 1]);
    }
    // The sound may be longer than the picture; a measured length is that of the picture. The last frame begins before.
    const count = Math.ceil((info.videoDuration ?? info.duration ?? 0) / every);
    return Array.from({ length: Math.max(1, count) }, (_, n) => n * every);
  }

  /** @returns presentation time of the last frame before a time; null: there is none */
  async #lastBefore(seconds: number): Promise<number | null> {
    const info = await this.info();
    for (let back = 1; ; back *= 2) {
      const from = Math.max(0, seconds - back - info.lead);
      const times = await frameTimes(this.#local.path, this.#options, from + info.startTime);
      const last = times.map((time) => fromBeginning(time, info)).findLast((time) => time < seconds);
      if (last !== undefined || from === 0) return last ?? null;
    }
  }

  /** Removes the local copy, if there is one. */
  close(): Promise<void> {
    return this.#local.release();
  }

  /** @returns the first frame from a time on; null: there is none */
  async #from(seconds: number, onDamage: (reason: string) => void): Promise<StillFrame | 'damaged' | null> {
    const { ffmpeg, signal, videoPixelLimit } = this.#options;
    const confined = ['-hide_banner', '-loglevel', 'level+info', '-nostdin', ...confinedTo(videoPixelLimit)];
    const info = await this.info();
    const { options, filters } = seekTo(Math.max(0, seconds - ROUNDING), info);
    const input = [...confined, ...options, '-i', inputName(this.#local.path)];
    const filter = ['-map', '0:V:0', '-vf', ['showinfo=checksum=0', ...filters, 'trim=end_frame=1'].join(',')];
    const args = [...input, ...filter, ...(await passthroughOptions(ffmpeg, signal)), ...ENCODED, 'pipe:1'];
    let times: FrameTimes | undefined;
    const { status, stdout, stderr } = await run(ffmpeg, args, {
      signal,
      // In a file without an index, all frames before are decoded as well.
      timeoutMs: FRAME_TIMEOUT_MS + Math.min(seconds, info.lead) * 1000,
      onLog: (log) => {
        times = new FrameTimes(this.#joins, log, { info, sampling: EVERY_FRAME, isHardware: false });
      },
    });
    let shown = await times?.next();
    while (shown && shown.seconds < seconds - 2 * ROUNDING) shown = await times?.next();
    if (shown?.damage) {
      onDamage(`is damaged at ${shown.seconds} s (${shown.damage})`);
      return 'damaged';
    }
    if (shown && stdout.length > 0) return { seconds: shown.seconds, bytes: stdout };
    if (status === 0) return null;
    const reason = `at ${seconds} s cannot be decoded (${lastReason(stderr)})`;
    throw new ScenedeltaError('image-unreadable', `${this.item.file} ${reason}`);
  }
}
