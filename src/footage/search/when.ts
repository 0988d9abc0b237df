/**
 * When did a place change? A search by bisection over the sampled frames of a recording. It looks at few frames: about
 * log2 of their number, each of which may have to be read from the middle of a video.
 *
 * A frame either shows the place as the first frame does, or as the last one does, or otherwise. The last case is a
 * state of its own if it lasts longer than a thing stands before the place; if not, the place is covered, and another
 * frame nearby is taken instead.
 */
import type { Moment } from '../records.js';

/** The frames that the search may choose from, in the order of time. */
export interface SampledFrames<Frame> {
  readonly count: number;
  /** @param index 0 to count - 1; the search asks for each frame at most once */
  frame(index: number): Promise<Frame>;
  /** of a frame that was not read, a time from which on it is looked for */
  moment(index: number): Moment;
  /** number of frames in the longest time for which something may stand before the place */
  readonly coveredFrames: number;
}

/** Whether the place is the same in both frames. */
export type SamePlace<Frame> = (before: Frame, after: Frame) => Promise<boolean>;

/** Two neighbouring looks: the first shows the earlier state of the place, the second the later one. */
export interface Interval<Frame> {
  readonly before: { readonly index: number; readonly moment: Moment; readonly frame: Frame };
  readonly after: { readonly index: number; readonly moment: Moment; readonly frame: Frame };
  /** false: frames between them remain, in which the place is covered, or for which the looks did not suffice */
  readonly exact: boolean;
}

export interface WhenResult<Frame> {
  /** null: all frames that were looked at show the same */
  readonly changed: Interval<Frame> | null;
  /** the interval in which the place returned to its first state; null if no examined frame shows that */
  readonly changedBack: Interval<Frame> | null;
  /** frames that were read */
  readonly looks: number;
  readonly comparisons: number;
  /** moments at which the place was covered, in the order in which they were looked at */
  readonly covered: readonly Moment[];
}

/** Looks per interval: this times the logarithm of the number of frames. */
const LOOKS_PER_BIT = 2;
/** @returns looks at most, for the change and for the end of it */
export const mostLooks = (frames: number): number => 2 * LOOKS_PER_BIT * Math.log2(frames);

/** @throws RangeError without two frames; any error of the frames or of the comparison */
export async function findWhen<Frame>(
  frames: SampledFrames<Frame>,
  isSame: SamePlace<Frame>,
): Promise<WhenResult<Frame>> {
  if (frames.count < 2) throw new RangeError(`the frames are ${frames.count}, expected two or more`);
  return new Search(frames, isSame).run();
}

interface Split {
  readonly index: number;
  readonly view: 'earlier' | 'later';
}
type Found<Frame> = Pick<WhenResult<Frame>, 'changed' | 'changedBack'>;

class Search<Frame> {
  readonly #read = new Map<number, Frame>();
  readonly #compared = new Map<string, boolean>();
  readonly #covered = new Set<number>();
  #comparisons = 0;

  constructor(
    private readonly frames: SampledFrames<Frame>,
    private readonly isSame: SamePlace<Frame>,
  ) {}

  async run(): Promise<WhenResult<Frame>> {
    const last = this.frames.count - 1;
    const found = await this.#search(0, last);
    return {
      ...found,
      looks: this.#read.size,
      comparisons: this.#comparisons,
      covered: [...this.#covered].map((index) => this.frames.moment(index)),
    };
  }

  async #search(first: number, last: number): Promise<Found<Frame>> {
    if (await this.#same(first, last)) return this.#searchEpisode(first, last);
    const changed = await this.#bisect(first, last);
    // An earlier state that was seen only at the very beginning may be a thing that stood before the place.
    const { index } = changed.after;
    const isBrief = changed.exact && index - this.#lastOf(first) <= this.frames.coveredFrames;
    if (isBrief && last - index > this.frames.coveredFrames && !(await this.#same(index, last))) {
      this.#covered.add(first);
      return { changed: await this.#bisect(index, last), changedBack: null };
    }
    return { changed, changedBack: null };
  }

  /** The first and the last frame show the same: looks for a state between them, in ever finer steps. */
  async #searchEpisode(first: number, last: number): Promise<Found<Frame>> {
    for (const index of finer(first, last, Math.ceil(Math.log2(this.frames.count)))) {
      if ((await this.#same(first, index)) || !(await this.#lasts(index, first, last))) continue;
      return { changed: await this.#bisect(first, index), changedBack: await this.#bisect(index, last) };
    }
    return { changed: null, changedBack: null };
  }

  /** @param low,high frames that show the place in different states */
  async #bisect(low: number, high: number): Promise<Interval<Frame>> {
    // Both frames have been read, and count.
    const most = this.#read.size - 2 + Math.floor(LOOKS_PER_BIT * Math.log2(this.frames.count));
    let [before, after] = [low, high];
    while (after - before > 1) {
      const found = await this.#split(before, after, most);
      if (found === null) break;
      if (found.view === 'earlier') before = found.index;
      else after = found.index;
    }
    return { before: this.#lookedAt(before), after: this.#lookedAt(after), exact: after - before === 1 };
  }

  /**
   * @param most looks
   * @returns a frame between the two and the state that it shows; null if the place is covered in all that were tried
   */
  async #split(before: number, after: number, most: number): Promise<Split | null> {
    for (const index of finer(before, after, MOST_TRIES)) {
      if (this.#covered.has(index)) continue;
      if (this.#read.size >= most) return null;
      const view = await this.#viewOf(index, before, after);
      if (view !== null) return { index, view };
      if (this.#read.size >= most) return null;
      const other = this.#farEnough(index, before, after);
      if (other === null) {
        this.#covered.add(index);
        continue;
      }
      const [low, high] = index < other ? [index, other] : [other, index];
      // A third state: the first change is the one to it.
      if (await this.#same(low, high)) return { index: low, view: 'later' };
      this.#covered.add(index);
      const otherView = await this.#viewOf(other, before, after);
      if (otherView !== null) return { index: other, view: otherView };
      this.#covered.add(other);
    }
    return null;
  }

  /** The nearest frames are the best to compare with, because the light is most alike. */
  async #viewOf(index: number, before: number, after: number): Promise<Split['view'] | null> {
    if (await this.#same(before, index)) return 'earlier';
    return (await this.#same(index, after)) ? 'later' : null;
  }

  /** @returns a frame that is farther away than something stands before the place; null if none lies between the two */
  #farEnough(index: number, before: number, after: number): number | null {
    const away = this.frames.coveredFrames + 1;
    const last = this.#lastOf(index);
    if (last + away < after) return last + away;
    return index - away > before ? index - away : null;
  }

  /** @returns the last index that shows the frame of another one, which was read: after a pause, several do */
  #lastOf(index: number): number {
    const { file, at } = this.frames.moment(index);
    let last = index;
    for (; at !== null && last + 1 < this.frames.count; last++) {
      const next = this.frames.moment(last + 1);
      if (next.file !== file || next.at === null || next.at > at) break;
    }
    return last;
  }

  /** Whether the state of a frame lasts longer than something stands before the place. */
  async #lasts(index: number, first: number, last: number): Promise<boolean> {
    const other = this.#farEnough(index, first, last);
    if (other !== null && (await this.#same(Math.min(index, other), Math.max(index, other)))) return true;
    this.#covered.add(index);
    return false;
  }

  async #same(before: number, after: number): Promise<boolean> {
    const key = `${before} ${after}`;
    let same = this.#compared.get(key);
    if (same === undefined) {
      same = await this.isSame(await this.#frame(before), await this.#frame(after));
      this.#comparisons++;
      this.#compared.set(key, same);
    }
    return same;
  }

  async #frame(index: number): Promise<Frame> {
    const frame = this.#read.get(index) ?? (await this.frames.frame(index));
    this.#read.set(index, frame);
    return frame;
  }

  #lookedAt(index: number): Interval<Frame>['before'] {
    return { index, moment: this.frames.moment(index), frame: this.#read.get(index) as Frame };
  }
}

/** Frames of one interval that are tried before it is given up as covered. */
const MOST_TRIES = 7;

/** Whole numbers strictly between two others: the middle, the middles of the halves, and so on, at most `most`. */
function* finer(low: number, high: number, most: number): Generator<number> {
  const seen = new Set<number>();
  for (let parts = 2; parts / 2 < high - low && seen.size < most; parts *= 2) {
    for (let part = 1; part < parts && seen.size < most; part += 2) {
      const index = Math.round(low + ((high - low) * part) / parts);
      if (index <= low || index >= high || seen.has(index)) continue;
      seen.add(index);
      yield index;
    }
  }
}
