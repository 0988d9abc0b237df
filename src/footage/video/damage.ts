/**
 * Which frames of a video are damaged, by the log of ffmpeg. A decoder that meets an error shows the last good picture
 * again, or a part of it, so that a damaged recording looks as if nothing had changed.
 */
import { counted } from '../../base/counted.js';
import { ScenedeltaError } from '../../base/errors.js';
import { lastReason } from './run.js';
import type { Sampling } from './sampling.js';

/** Threads of the decoder. Each may log the errors of its frame before earlier frames are handed over. */
export const DECODER_THREADS = 4;
/** A message about the very next frame. */
const OF_THE_NEXT = /corrupt decoded frame/;

/** Takes the lines that report damage (DamageLines) and the frames of a log in their order. */
export class DamageWatch {
  readonly #keyFrames: boolean;
  readonly #keyFrameSeconds: number;
  #reason: string | null = null;
  /** frames from the next one on that are damaged */
  #frames = 0;
  /** an error since the last frame */
  #isNew = false;
  /** presentation time from which frames are whole again */
  #until = Number.NEGATIVE_INFINITY;

  constructor(options: { sampling: Sampling; info: { keyFrameSeconds: number | null } }) {
    this.#keyFrames = options.sampling.keyFrames;
    this.#keyFrameSeconds = options.info.keyFrameSeconds ?? Number.POSITIVE_INFINITY;
  }

  line(line: string): void {
    this.#reason = lastReason(line);
    this.#isNew = true;
    this.#frames = Math.max(this.#frames, OF_THE_NEXT.test(line) ? 1 : DECODER_THREADS);
  }

  /** @returns why the frame is damaged; null if it is whole */
  frame(seconds: number): string | null {
    // Other frames than key frames continue the damage of those before them.
    if (this.#isNew && !this.#keyFrames) this.#until = seconds + this.#keyFrameSeconds;
    this.#isNew = false;
    const isDamaged = this.#frames > 0 || seconds < this.#until;
    this.#frames = Math.max(0, this.#frames - 1);
    return isDamaged ? this.#reason : null;
  }
}

/** Frames of a video that follow each other and could not be used. */
export interface Damage {
  /** presentation times of the earliest and the latest of them */
  readonly from: number;
  readonly until: number;
  /** capture time of the latest one, epoch ms */
  readonly at: number;
  readonly error: ScenedeltaError;
}

interface Seen {
  readonly seconds: number;
  readonly damage: string | null;
}

/** @param at capture time of the beginning of the file, epoch ms. @param frames at least one */
export function damageOf(at: number, frames: readonly Seen[]): Damage {
  // A decoder that lost pictures hands the others over out of their order.
  const times = frames.map(({ seconds }) => seconds);
  const [from, until] = [Math.min(...times), Math.max(...times)];
  const span = `${from.toFixed(2)} s to ${until.toFixed(2)} s`;
  const unseen = counted(frames.length, 'frame was', 'frames were');
  const what = `is damaged from ${span}: ${unseen} not seen (${frames[0]?.damage})`;
  return {
    from,
    until,
    at: at + Math.round(until * 1000),
    error: new ScenedeltaError('image-unreadable', what),
  };
}
