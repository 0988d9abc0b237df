/** Presentation times of the frames, from the log of the filter `showinfo`: exact, as counts of the time base. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { DamageWatch } from './damage.js';
import { DamageLines, isComplaint, isCut, type lazyJoins } from './damage-lines.js';
import type { VideoInfo } from './probe.js';
import type { Sampling } from './sampling.js';

const TIME_BASE = /\bconfig in time_base: (\d+)\/(\d+)/;
const FRAME = /\[Parsed_showinfo_(\d+) @ [^\]]*\] (?:\[info\] )?n: *\d+ pts: *(-?\d+) /;
/** @returns presentation time from the beginning of the file. Beyond six digits the product of time bases is noise. */
export const fromBeginning = (seconds: number, { startTime }: Pick<VideoInfo, 'startTime'>): number =>
  Math.round((seconds - startTime) * 1e6) / 1e6;

const ERRORS_KEPT = 20;

interface FrameTime {
  /** from the beginning of the file */
  readonly seconds: number;
  readonly damage: string | null;
}

interface TimesOptions {
  readonly info: VideoInfo;
  readonly sampling: Sampling;
  readonly isHardware: boolean;
  /** the first filter states every decoded frame, also those before the wanted ones; absent = false */
  readonly hasEarlier?: boolean;
}

export class FrameTimes {
  readonly errors: string[] = [];
  /** whether the file ends within a picture */
  isCut = false;
  readonly #times: FrameTime[] = [];
  #wake: (() => void) | null = null;
  #ended = false;

  /** @param joins lazyJoins of the video */
  constructor(joins: ReturnType<typeof lazyJoins>, log: Readable, options: TimesOptions) {
    // A log that cannot be read ends; the exit of the process says why.
    this.#read(new DamageLines(joins), createInterface({ input: log }), options)
      .catch(() => {})
      .finally(() => {
        this.#ended = true;
        this.#wake?.();
      });
  }

  async #read(
    reports: DamageLines,
    lines: AsyncIterable<string>,
    { info, sampling, isHardware, hasEarlier = false }: TimesOptions,
  ): Promise<void> {
    const damage = new DamageWatch({ info, sampling });
    let base = Number.NaN;
    // Before its first frame, a hardware decoder reports what it cannot decode.
    let isOpening = isHardware;
    let reason: string | null = null;
    for await (const line of lines) {
      const [, one, per] = TIME_BASE.exec(line) ?? [];
      if (per !== undefined) base = Number(one) / Number(per);
      const [, filter, pts] = FRAME.exec(line) ?? [];
      if (pts !== undefined) {
        const seconds = fromBeginning(Number(pts) * base, info);
        isOpening = false;
        const isDecoded = hasEarlier && filter === '0';
        if (isDecoded || !hasEarlier) reason = damage.frame(seconds);
        if (isDecoded) continue;
        this.#times.push({ seconds, damage: reason });
        this.#wake?.();
        continue;
      }
      this.isCut ||= isCut(line);
      if ((await reports.isDamage(line)) && !isOpening) damage.line(line);
      if (this.errors.length < ERRORS_KEPT && isComplaint(line)) this.errors.push(line);
    }
  }

  /** @returns null after the last frame */
  async next(): Promise<FrameTime | null> {
    while (this.#times.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#times.shift() ?? null;
  }
}
