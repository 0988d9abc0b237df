/**
 * Decoder of video files: ffmpeg as a child process that samples, scales and hands frames over by a pipe. It waits as
 * soon as a few frames are ready that the loop has not taken (back-pressure).
 */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { ScenedeltaError } from '../../base/errors.js';
import type { Preview, RgbImage, Size } from '../../base/images.js';
import type { Config } from '../../process/config.js';
import { startFailure, startFfmpeg } from '../../process/ffmpeg.js';
import { BlockPool, blocksOf } from './blocks.js';
import { DECODER_THREADS } from './damage.js';
import { lazyJoins } from './damage-lines.js';
import { FrameTimes } from './frame-times.js';
import { hardwareDecoder } from './hardware.js';
import { planesLength, previewLength, previewOf, rgbOf } from './planes.js';
import type { VideoInfo } from './probe.js';
import { cancelled, confinedTo, inputName, kill, lastReason } from './run.js';
import { type Sampling, selectFilter } from './sampling.js';
import { type Seek, seekTo } from './seek.js';
import { passthroughOptions } from './version.js';

/** A sampled frame at working size. Most frames are quiet: they need no picture, only the small one of the preview. */
export interface VideoFrame {
  /** presentation time from the beginning of the file, seconds */
  readonly seconds: number;
  /** why the picture is not the camera's, or not all of it; null: the decoder met no damage */
  readonly damage: string | null;
  /** The small picture that decides whether the frame is examined; called at most once. */
  preview(): Preview;
  /** The pixels, in memory of their own. */
  image(): RgbImage;
  /** Gives the memory of the frame and of its preview back; they must not be used afterwards. */
  release(): void;
}

export interface DecodeVideoOptions {
  readonly ffmpeg: string;
  readonly ffmpegHwaccel: Config['ffmpegHwaccel'];
  readonly info: VideoInfo;
  readonly sampling: Sampling;
  /** size of `VideoFrame.image` */
  readonly working: Size;
  /** the sides of a preview are those of `working` divided by this, rounded down; a power of 2 */
  readonly previewReduction: number;
  /** largest width x height of a coded picture */
  readonly pixelLimit: number;
  /** first presentation time of interest, seconds from the beginning of the file */
  readonly from: number;
  /** presentation time at which the decoding ends, exclusive; Infinity: at the end of the file */
  readonly until: number;
  readonly signal: AbortSignal;
}

/** Bytes of frames that are decoded ahead, so that decoding goes on while a frame is examined. */
const AHEAD_BYTES = 16 * 1024 * 1024;
const MOST_AHEAD = 32;
const LEAST_AHEAD = 4;
/** Longest wait for a frame if every frame is wanted. A network disk that is gone hangs without an error. */
const STALL_MS = 120_000;

/**
 * @throws ScenedeltaError 'image-unreadable' if the file cannot be decoded, or ends early ('ends at'); the frames
 *   before the damage have been delivered. 'processing-timeout' if no frame comes; 'cancelled'; 'not-found' (ffmpeg)
 */
export async function* decodeVideo(path: string, options: DecodeVideoOptions): AsyncGenerator<VideoFrame, void> {
  if (options.signal.aborted) throw cancelled();
  const passthrough = await passthroughOptions(options.ffmpeg, options.signal);
  const hardware = await hardwareDecoder(options.ffmpeg, options.ffmpegHwaccel, options.signal);
  const decoder = new Decoder(path, options, { passthrough, hardware });
  try {
    let [last, longest] = [Number.NEGATIVE_INFINITY, 0];
    for (;;) {
      const frame = await decoder.next();
      if (frame === null) break;
      if (last > Number.NEGATIVE_INFINITY) longest = Math.max(longest, frame.seconds - last);
      last = frame.seconds;
      yield frame;
    }
    decoder.checkEnd(last, longest === 0 ? Number.POSITIVE_INFINITY : longest);
  } finally {
    await decoder.close();
  }
}

/** How the installed ffmpeg is used. */
interface Use {
  /** passthroughOptions */
  readonly passthrough: readonly string[];
  /** hardwareDecoder */
  readonly hardware: string | null;
}

class Decoder {
  readonly #options: DecodeVideoOptions;
  readonly #child: ChildProcess;
  readonly #times: FrameTimes;
  readonly #queue: Promise<VideoFrame | null>[] = [];
  readonly #read: () => Promise<VideoFrame | null>;
  readonly #exit: Promise<number | null>;
  #status: number | null = null;
  /** the signal that ended ffmpeg, e.g. SIGSEGV after a fault of its own */
  #killedBy: NodeJS.Signals | null = null;
  #failure: ScenedeltaError | null = null;

  constructor(path: string, options: DecodeVideoOptions, use: Use) {
    this.#options = options;
    const { working, signal, ffmpeg } = options;
    const isHardware = use.hardware !== null;
    const seek = seekTo(options.from, options.info);
    this.#child = startFfmpeg(ffmpeg, argumentsOf(path, options, use, seek), { needsAddressSpace: isHardware });
    const [, pictures, log] = this.#child.stdio as unknown as [null, Readable, Readable];
    const hasEarlier = seek.filters.length > 0;
    this.#times = new FrameTimes(lazyJoins(path), log, { ...options, isHardware, hasEarlier });
    this.#exit = new Promise((resolve) => {
      this.#child.on('error', (error) => {
        this.#failure ??= new ScenedeltaError('not-found', `${ffmpeg} cannot be started`, { cause: error });
        resolve(null);
      });
      this.#child.on('close', (status, by) => {
        this.#killedBy = by;
        resolve(status);
      });
    });
    signal.addEventListener('abort', this.#abort, { once: true });
    this.#read = reader(pictures, this.#times, options);
    const ahead = Math.floor(AHEAD_BYTES / planesLength(working));
    for (let i = 0; i < Math.min(Math.max(ahead, LEAST_AHEAD), MOST_AHEAD); i++) this.#ahead();
  }

  readonly #abort = () => {
    this.#failure ??= cancelled();
    this.#child.kill('SIGKILL');
  };

  #ahead(): void {
    const previous = this.#queue.at(-1) ?? Promise.resolve(null);
    const next = previous.catch(() => null).then(() => this.#read());
    next.catch(() => {});
    this.#queue.push(next);
  }

  /** @returns null at the end of the file */
  async next(): Promise<VideoFrame | null> {
    const { sampling } = this.#options;
    const limit = STALL_MS + 1000 * (sampling.step ?? 0);
    const timer = setTimeout(() => {
      const seconds = limit / 1000;
      this.#failure ??= new ScenedeltaError('processing-timeout', `no frame was decoded within ${seconds} s`);
      this.#child.kill('SIGKILL');
    }, limit);
    try {
      const frame = await this.#queue.shift();
      this.#ahead();
      if (frame === null || frame === undefined) this.#status = await this.#exit;
      this.#failure ??= startFailure(this.#options.ffmpeg, this.#status) ?? null;
      if (this.#failure !== null) throw this.#failure;
      return frame ?? null;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * @param last presentation time of the last frame, seconds
   * @param longest time between two frames, seconds; Infinity: there were fewer
   */
  checkEnd(last: number, longest: number): void {
    const { info, until, from, sampling } = this.#options;
    const reason = lastReason(this.#times.errors.join('\n'));
    if (last === Number.NEGATIVE_INFINITY && this.#times.errors.length > 0) {
      throw new ScenedeltaError('image-unreadable', `no frame could be decoded (${reason})`);
    }
    if (this.#status !== 0) {
      const end = this.#killedBy === null ? `ended with status ${this.#status}` : `was ended by ${this.#killedBy}`;
      throw new ScenedeltaError('image-unreadable', `ffmpeg ${end} (${reason})`);
    }
    const end = Math.min(info.videoDuration ?? last, until);
    // Time until a next frame: the last one of a time-lapse recording lasts as long as the others.
    const between = sampling.keyFrames ? (info.keyFrameSeconds ?? longest) : (info.frameSeconds ?? 0);
    const ahead = (sampling.step ?? 0) + between;
    const missing = end - Math.max(last, from) - ahead;
    // The last picture of a slow recording may last long.
    const allowed = this.#times.errors.length > 0 ? 0.02 : 0.1;
    if (this.#times.isCut || missing > Math.max(2, end * allowed)) {
      throw new ScenedeltaError(
        'image-unreadable',
        `is truncated or damaged: ends at ${last.toFixed(2)} s of ${end.toFixed(2)} s (${reason})`,
      );
    }
  }

  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#abort);
    await kill(this.#child);
    // Reads of the pipe that were open end with the process.
    for (const ahead of await Promise.allSettled(this.#queue)) {
      if (ahead.status === 'fulfilled') ahead.value?.release();
    }
  }
}

function argumentsOf(path: string, options: DecodeVideoOptions, { passthrough, hardware }: Use, seek: Seek): string[] {
  const { info, sampling, working, until, pixelLimit } = options;
  const length = Number.isFinite(until) ? ['-t', (until - seek.begin).toFixed(6)] : [];
  const filters = [
    // The first one states the frames before the wanted ones, whose damage is not that of the wanted ones.
    ...(seek.filters.length === 0 ? [] : ['showinfo=checksum=0', ...seek.filters]),
    selectFilter(sampling, info.startTime),
    'showinfo=checksum=0',
    // One field of the two: a moving thing would have combed edges, which no other frame has.
    ...(info.interlaced ? ['field=top'] : []),
    `scale=${working.width}:${working.height}:flags=area`,
    'format=yuvj420p',
  ].join(',');
  return [
    ...['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'level+info', ...confinedTo(pixelLimit)],
    ...['-threads', String(DECODER_THREADS)],
    // Its frames come back to memory, and what it cannot decode, the CPU decodes.
    ...(hardware === null ? [] : ['-hwaccel', hardware]),
    ...(sampling.keyFrames ? ['-skip_frame', 'nokey'] : []),
    ...(sampling.keyFrames && !info.reordered ? DISCARDED : []),
    ...['-an', '-sn', '-dn', ...seek.options, ...length, '-i', inputName(path)],
    ...['-map', '0:V:0', '-vf', filters, '-f', 'rawvideo', ...passthrough, 'pipe:1'],
  ];
}

/**
 * The reader of MP4 drops all other frames. The threads of the decoder work on frames that follow each other in its
 * input, so that with other frames between them, key frames are decoded one at a time. If frames are reordered, the
 * reader of ffmpeg 5.1 mistakes the times of those that remain.
 */
const DISCARDED = ['-discard', 'nokey'];

/** @returns reads the next frame and its presentation time */
function reader(pictures: Readable, times: FrameTimes, { working, previewReduction, info }: DecodeVideoOptions) {
  const small = {
    width: Math.max(1, Math.floor(working.width / previewReduction)),
    height: Math.max(1, Math.floor(working.height / previewReduction)),
  };
  const planes = BlockPool.of(planesLength(working));
  const previews = BlockPool.of(previewLength(small));
  const blocks = blocksOf(pictures, planes);
  return async (): Promise<VideoFrame | null> => {
    const block = await blocks.next();
    if (block.done) return null;
    const time = await times.next();
    if (time === null) return null;
    const { seconds, damage } = time;
    let reduced: Uint8Array | null = null;
    return {
      seconds,
      damage,
      preview() {
        reduced = previews.take();
        return previewOf(block.value, working, small, previewReduction, reduced);
      },
      image: () => rgbOf(block.value, working, info.matrix),
      release() {
        planes.give(block.value);
        if (reduced !== null) previews.give(reduced);
      },
    };
  };
}
