/** Single frames out of the recordings of one camera, for a search that reads a few frames from anywhere in them. */
import { asScenedeltaError, ScenedeltaError } from '../../base/errors.js';
import { reportsDamage } from '../../process/ffmpeg.js';
import type { PlaceSearch } from '../../schemas/place-search.js';
import type { Moment } from '../records.js';
import { probeVideo } from '../video/probe.js';
import { confinedTo, inputName, lastReason, run } from '../video/run.js';
import { readImage } from './read-image.js';
import type { FootageItem } from './recording-plan.js';
import { isFaultOfItem, type Materialize } from './source-frames.js';

export interface StillOptions {
  readonly ffmpeg: string;
  /** largest width x height of a video */
  readonly videoPixelLimit: number;
  /** largest image file, bytes */
  readonly frameLimit: number;
  /** seconds between two frames of a video */
  readonly every: number;
  /** Makes an item readable as a local file. */
  readonly materialize: Materialize;
  /** capture times, epoch ms; `until` is inclusive */
  readonly range: { readonly from: number; readonly until: number };
  readonly signal: AbortSignal;
}

interface Sample {
  readonly item: FootageItem;
  /** presentation time; 0 in an image */
  readonly seconds: number;
}

/** A seek into a damaged file may read all of it. */
const FRAME_TIMEOUT_MS = 120_000;
/** The best quality of JPEG in ffmpeg. */
const BEST_QUALITY = '2';

export class StillFrames {
  readonly #samples: readonly Sample[];
  readonly #options: StillOptions;
  /** files that could not be read */
  readonly failures: PlaceSearch['failures'] = [];

  /** the item that was read last: the last steps of a search read the same one again and again */
  #held: { readonly item: FootageItem; readonly path: string; release(): Promise<void> } | undefined;

  private constructor(samples: readonly Sample[], options: StillOptions) {
    this.#samples = samples;
    this.#options = options;
  }

  /**
   * @param items in the order of time
   * @throws ScenedeltaError of anything that is not the fault of one file
   */
  static async of(items: readonly FootageItem[], options: StillOptions): Promise<StillFrames> {
    const { range, every } = options;
    const samples: Sample[] = [];
    const frames = new StillFrames(samples, options);
    for (const [i, item] of items.entries()) {
      if (item.at > range.until || (items[i + 1]?.at ?? Number.POSITIVE_INFINITY) <= range.from) continue;
      const length = await frames.#lengthOf(item);
      if (length === null) continue;
      // The last frame begins before the end.
      for (let n = 0; n === 0 || n * every < length; n++) {
        const at = item.at + n * every * 1000;
        if (at >= range.from && at <= range.until) samples.push({ item, seconds: n * every });
      }
    }
    return frames;
  }

  /** Removes the local copy, if there is one. */
  async close(): Promise<void> {
    await this.#held?.release();
    this.#held = undefined;
  }

  get count(): number {
    return this.#samples.length;
  }

  moment(index: number): Moment {
    const { item, seconds } = this.#sample(index);
    return { at: new Date(item.at + seconds * 1000).toISOString(), file: item.file, seconds };
  }

  /** @returns typical time between two frames, seconds */
  get interval(): number {
    const gaps = this.#samples.slice(1).map((_, i) => this.#timeOf(i + 1) - this.#timeOf(i));
    return (gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0) / 1000 || this.#options.every;
  }

  /**
   * @returns the encoded frame
   * @throws ScenedeltaError 'image-unreadable', 'not-found', 'payload-too-large', 'processing-timeout', 'cancelled'
   */
  async frame(index: number): Promise<Uint8Array> {
    const { item, seconds } = this.#sample(index);
    const path = await this.#pathOf(item);
    if (item.kind === 'image') return readImage(path, this.#options.frameLimit, item.file);
    // A pause in the frames, or a last frame that lasts long, leaves nothing after a time.
    for (let back = 0; back <= MOST_STEPS_BACK && seconds - back >= 0; back++) {
      const found = await this.#frameAt(item, path, seconds - back);
      if (found !== null) return found;
    }
    throw new ScenedeltaError('image-unreadable', `${item.file}: there is no frame at ${seconds} s`);
  }

  async #pathOf(item: FootageItem): Promise<string> {
    if (this.#held?.item !== item) {
      await this.close();
      this.#held = { item, ...(await this.#options.materialize(item, this.#options.signal)) };
    }
    return this.#held.path;
  }

  /** @returns seconds; null if the file cannot be read, which is a failure */
  async #lengthOf(item: FootageItem): Promise<number | null> {
    if (item.kind === 'image') return 0;
    const { ffmpeg, signal, videoPixelLimit: pixelLimit } = this.#options;
    try {
      return (await probeVideo(await this.#pathOf(item), { ffmpeg, signal, pixelLimit })).duration ?? 0;
    } catch (thrown) {
      const error = asScenedeltaError(thrown);
      if (!isFaultOfItem(error)) throw thrown;
      this.failures.push({ file: item.file, code: error.code, reason: error.message });
      return null;
    }
  }

  #sample(index: number): Sample {
    const sample = this.#samples[index];
    if (sample === undefined) throw new RangeError(`there is no frame ${index}, expected 0 to ${this.count - 1}`);
    return sample;
  }

  #timeOf(index: number): number {
    const { item, seconds } = this.#sample(index);
    return item.at + seconds * 1000;
  }

  async #frameAt({ file }: FootageItem, path: string, seconds: number): Promise<Uint8Array | null> {
    const { ffmpeg, signal } = this.#options;
    const confined = ['-loglevel', 'level+warning', '-nostdin', ...confinedTo(this.#options.videoPixelLimit)];
    const input = [...confined, '-ss', seconds.toFixed(6), '-i', inputName(path)];
    const output = ['-map', '0:V:0', '-frames:v', '1', '-f', 'image2pipe', '-c:v', 'mjpeg', '-q:v', BEST_QUALITY];
    const args = [...input, ...output, 'pipe:1'];
    const { status, stdout, stderr } = await run(ffmpeg, args, { signal, timeoutMs: FRAME_TIMEOUT_MS });
    if (stderr.split('\n').some(reportsDamage)) {
      const reason = `is damaged at ${seconds} s (${lastReason(stderr)})`;
      this.failures.push({ file, code: 'image-unreadable', reason });
      return null;
    }
    if (stdout.length > 0) return stdout;
    if (status === 0) return null;
    throw new ScenedeltaError('image-unreadable', `${file} at ${seconds} s cannot be decoded (${lastReason(stderr)})`);
  }
}

/** Seconds before a time in which a frame is looked for. */
const MOST_STEPS_BACK = 5;
