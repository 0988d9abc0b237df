/** One file of a recording, opened: its sampled frames in their order, or the frame at a time. */
import { ScenedeltaError } from '../../base/errors.js';
import { workingSize } from '../../frames/decode.js';
import { previewReduction } from '../../frames/preview.js';
import type { Config } from '../../process/config.js';
import { DamageLines, lazyJoins } from '../video/damage-lines.js';
import { decodeVideo, type VideoFrame } from '../video/decode.js';
import { probeVideo, type VideoInfo } from '../video/probe.js';
import { confinedTo, inputName, lastReason, run } from '../video/run.js';
import type { Sampling } from '../video/sampling.js';
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

/** A seek into a damaged file may read all of it. */
const FRAME_TIMEOUT_MS = 120_000;
/** The best quality of JPEG in ffmpeg. */
const BEST_QUALITY = '2';
/** Seconds before a time in which a frame is looked for. */
const MOST_STEPS_BACK = 5;

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
/** Whether the item is to blame, so that the others can still be processed. */
export const isFaultOfItem = ({ code }: ScenedeltaError): boolean => FAULTS.includes(code);

export class Recording {
  readonly item: FootageItem;
  readonly #local: Awaited<ReturnType<Materialize>>;
  readonly #options: ReadOptions;
  readonly #joins: ReturnType<typeof lazyJoins>;
  #info: Promise<VideoInfo> | undefined;

  private constructor(item: FootageItem, local: Awaited<ReturnType<Materialize>>, options: ReadOptions) {
    this.item = item;
    this.#local = local;
    this.#options = options;
    this.#joins = lazyJoins(local.path);
  }

  /** @throws ScenedeltaError of the item */
  static async open(item: FootageItem, options: ReadOptions): Promise<Recording> {
    return new Recording(item, await options.materialize(item, options.signal), options);
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
   * @returns the encoded frame at this time, or at most MOST_STEPS_BACK before; of an image, its bytes
   * @throws ScenedeltaError 'image-unreadable', 'not-found', 'payload-too-large', 'processing-timeout', 'cancelled'
   */
  async at(seconds: number, onDamage: (reason: string) => void): Promise<Uint8Array> {
    const { file, kind } = this.item;
    if (kind === 'image') return readImage(this.#local.path, this.#options.frameLimit, file);
    // A pause in the frames, or a last frame that lasts long, leaves nothing after a time.
    for (let back = 0; back <= MOST_STEPS_BACK && seconds - back >= 0; back++) {
      const found = await this.#exactlyAt(seconds - back, onDamage);
      if (found !== null) return found;
    }
    throw new ScenedeltaError('image-unreadable', `${file}: there is no frame at ${seconds} s`);
  }

  /** Removes the local copy, if there is one. */
  close(): Promise<void> {
    return this.#local.release();
  }

  /** @returns null: there is none, or a damaged one */
  async #exactlyAt(seconds: number, onDamage: (reason: string) => void): Promise<Uint8Array | null> {
    const { ffmpeg, signal, videoPixelLimit } = this.#options;
    const confined = ['-hide_banner', '-loglevel', 'level+info', '-nostdin', ...confinedTo(videoPixelLimit)];
    const input = [...confined, '-ss', seconds.toFixed(6), '-i', inputName(this.#local.path)];
    const output = ['-map', '0:V:0', '-frames:v', '1', '-f', 'image2pipe', '-c:v', 'mjpeg', '-q:v', BEST_QUALITY];
    const args = [...input, ...output, 'pipe:1'];
    const { status, stdout, stderr } = await run(ffmpeg, args, { signal, timeoutMs: FRAME_TIMEOUT_MS });
    const lines = new DamageLines(this.#joins);
    const damaged: string[] = [];
    for (const line of stderr.split('\n')) if (await lines.isDamage(line)) damaged.push(line);
    if (damaged.length > 0) {
      onDamage(`is damaged at ${seconds} s (${lastReason(damaged.join('\n'))})`);
      return null;
    }
    if (stdout.length > 0) return stdout;
    if (status === 0) return null;
    const reason = `at ${seconds} s cannot be decoded (${lastReason(stderr)})`;
    throw new ScenedeltaError('image-unreadable', `${this.item.file} ${reason}`);
  }
}
