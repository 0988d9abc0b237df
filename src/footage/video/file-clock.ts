/** Presentation times of a file whose clock may jump. */

/** A clock that goes on by more than this within one file was set: recordings of one file do not pause so long. */
const LONGEST_PAUSE_S = 12 * 3600;

/** Presentation times of one file without its jumps: a frame after a jump follows the one before it. */
export class FileClock {
  #shift = 0;
  #raw: number | null = null;
  #interval = 0;
  jumps = 0;
  /** time of the last frame, seconds */
  latest = 0;

  /** The time of a damaged frame: frames after it may be earlier. @param raw presentation time, seconds */
  near(raw: number): number {
    return raw + this.#shift;
  }

  /** @param raw presentation time of a whole frame, seconds */
  read(raw: number): number {
    const step = this.#raw === null ? 0 : raw - this.#raw;
    if (step < 0 || step > LONGEST_PAUSE_S) {
      this.jumps++;
      this.#shift += this.#interval - step;
    } else if (step > 0) this.#interval = step;
    this.#raw = raw;
    this.latest = raw + this.#shift;
    return this.latest;
  }
}
