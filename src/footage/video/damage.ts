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

/** A Matroska file was cut: the last cluster is left out, and what was read before is whole. */
const END_OF_FILE = /File ended prematurely/;

/** A recorder has allocated more than it wrote: zeros follow the last packet of a transport stream. */
const PADDING = /max resync size reached, could not find sync byte/;
/** The demuxer reads ahead to learn what a file has, and reports the packet again at its place. */
const AHEAD = /Packet corrupt \(stream/;

/** Takes the lines and the frames of a log in their order. */
export class DamageWatch {
  readonly #keyFrames: boolean;
  readonly #keyFrameSeconds: number;
  #reason: string | null = null;
  #hasBegun = false;
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
    if (END_OF_FILE.test(line) || PADDING.test(line) || (!this.#hasBegun && AHEAD.test(line))) return;
    this.#reason = lastReason(line);
    this.#isNew = true;
    this.#frames = Math.max(this.#frames, OF_THE_NEXT.test(line) ? 1 : DECODER_THREADS);
  }

  /** @returns why the frame is damaged; null if it is whole */
  frame(seconds: number): string | null {
    this.#hasBegun = true;
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
  /** presentation times of the first and the last of them */
  readonly from: number;
  readonly until: number;
  /** capture time of the last one, epoch ms */
  readonly at: number;
  readonly error: ScenedeltaError;
}

interface Seen {
  readonly seconds: number;
  readonly damage: string | null;
}

/** @param at capture time of the beginning of the file, epoch ms */
export function damageOf(at: number, frames: readonly Seen[]): Damage {
  const [first, last] = [frames[0] as Seen, frames.at(-1) as Seen];
  const span = `${first.seconds.toFixed(2)} s to ${last.seconds.toFixed(2)} s`;
  const unseen = counted(frames.length, 'frame was', 'frames were');
  const what = `is damaged from ${span}: ${unseen} not seen (${first.damage})`;
  return {
    from: first.seconds,
    until: last.seconds,
    at: at + Math.round(last.seconds * 1000),
    error: new ScenedeltaError('image-unreadable', what),
  };
}
