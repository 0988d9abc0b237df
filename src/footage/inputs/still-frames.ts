/** Single frames out of the recordings of one camera, for a search that reads a few frames from anywhere in them. */
import { asScenedeltaError } from '../../base/errors.js';
import type { PlaceSearch } from '../../schemas/place-search.js';
import type { Moment } from '../records.js';
import { endsBy } from './bounds.js';
import { isFaultOfItem, type ReadOptions, Recording } from './recording.js';
import type { FootageItem } from './recording-plan.js';

export interface StillOptions extends ReadOptions {
  /** seconds between two frames of a video */
  readonly every: number;
  /** capture times, epoch ms; `until` is inclusive */
  readonly range: { readonly from: number; readonly until: number };
}

interface Sample {
  readonly item: FootageItem;
  /** presentation time; 0 in an image. Its own once the frame was read, before that the one looked for. */
  seconds: number;
}

export class StillFrames {
  readonly #samples: readonly Sample[];
  readonly #options: StillOptions;
  /** files that could not be read */
  readonly failures: PlaceSearch['failures'] = [];

  /** the one that was read last: the last steps of a search read the same one again and again */
  #held: Recording | undefined;

  private constructor(samples: readonly Sample[], options: StillOptions) {
    this.#samples = samples;
    this.#options = options;
  }

  /**
   * @param items in the order of time
   * @throws ScenedeltaError of anything that is not the fault of one file
   */
  static async of(items: readonly FootageItem[], options: StillOptions): Promise<StillFrames> {
    const { range } = options;
    const samples: Sample[] = [];
    const frames = new StillFrames(samples, options);
    for (const [i, item] of items.entries()) {
      if (item.at > range.until || (await endsBy(items, i, range.from, options, options.signal))) continue;
      for (const seconds of await frames.#timesOf(item)) {
        const at = item.at + seconds * 1000;
        if (at >= range.from && at <= range.until) samples.push({ item, seconds });
      }
    }
    return frames;
  }

  /** Removes the local copy, if there is one. */
  async close(): Promise<void> {
    await this.#held?.close();
    this.#held = undefined;
  }

  get count(): number {
    return this.#samples.length;
  }

  moment(index: number): Moment {
    const { item, seconds } = this.#sample(index);
    return { at: new Date(item.at + Math.round(seconds * 1000)).toISOString(), file: item.file, seconds };
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
    const sample = this.#sample(index);
    const { file } = sample.item;
    const recording = await this.#open(sample.item);
    const onDamage = (reason: string) => this.failures.push({ file, code: 'image-unreadable', reason });
    const { bytes, seconds } = await recording.at(sample.seconds, onDamage);
    sample.seconds = seconds;
    return bytes;
  }

  async #open(item: FootageItem): Promise<Recording> {
    if (this.#held?.item !== item) {
      await this.close();
      this.#held = await Recording.open(item, this.#options);
    }
    return this.#held;
  }

  /** @returns presentation times; none if the file cannot be read, which is a failure */
  async #timesOf(item: FootageItem): Promise<readonly number[]> {
    if (item.kind === 'image') return [0];
    try {
      return await (await this.#open(item)).times(this.#options.every);
    } catch (thrown) {
      const error = asScenedeltaError(thrown);
      if (!isFaultOfItem(error)) throw thrown;
      this.failures.push({ file: item.file, code: error.code, reason: error.message });
      return [];
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
}
