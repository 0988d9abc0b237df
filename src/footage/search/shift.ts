/** Rounds of an archive: on each day the picture nearest to one time, compared with the one nearest to another. */
import { DAY_MS } from '../../base/clock.js';
import { asScenedeltaError } from '../../base/errors.js';
import type { Side } from '../../base/images.js';
import { localTimeAt } from '../../base/wall-clock.js';
import { countingIn } from '../../camera/fold/fold.js';
import type { Polygon } from '../../camera/settings/polygon.js';
import {
  isTooDark,
  MOST_TRIES,
  type Round,
  type RoundTimes,
  timesOn,
  WIDEST_MS,
  whatWasThere,
} from '../../camera/settings/rounds.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import { type DecodeLimits, decodeFrame } from '../../frames/decode.js';
import { isCut } from '../../frames/lost-rows.js';
import { maskFrame } from '../../frames/privacy-mask.js';
import type { Comparer } from '../../pipeline/pair.js';
import type { Finding } from '../../schemas/comparison.js';
import type { StillFrames } from '../inputs/still-frames.js';
import type { Moment } from '../records.js';

export interface ShiftOptions {
  readonly settings: CameraSettings;
  /** zones that are painted black, in fractions of the frame */
  readonly privacy: readonly Polygon[];
  readonly pipeline: Comparer;
  readonly decodeLimits: DecodeLimits;
  readonly signal: AbortSignal;
}

interface Picture {
  readonly moment: Moment;
  readonly bytes: Uint8Array;
}
/** One round: either its finding, or what is missing. */
export interface Shift {
  /** YYYY-MM-DD of the later time */
  readonly day: string;
  readonly before: Picture | null;
  readonly after: Picture | null;
  readonly finding: Finding | null;
  /** per time without a usable picture, which time it is and what there was */
  readonly missing: readonly string[];
}

type Frames = Pick<StillFrames, 'count' | 'moment' | 'frame'>;

/**
 * @returns one result per day of the round that the frames reach, the earliest first
 * @throws ScenedeltaError of the pipeline, and of anything that is not the fault of one picture
 */
export async function* shiftsOf(frames: Frames, round: Round, options: ShiftOptions): AsyncGenerator<Shift> {
  if (frames.count === 0) return;
  const [first, last] = [timeOf(frames, 0), timeOf(frames, frames.count - 1)];
  for (let at = first; at - DAY_MS < last; at += DAY_MS) {
    const day = localTimeAt(Math.min(at, last), round.tz);
    const times = timesOn(round, day);
    const isReached = times !== null && times.at >= first - WIDEST_MS && times.at <= last + WIDEST_MS;
    if (isReached) yield await shiftOn(day.toISOString().slice(0, 10), times, frames, round, options);
    if (at >= last) return;
  }
}

async function shiftOn(
  day: string,
  times: RoundTimes,
  frames: Frames,
  round: Round,
  options: ShiftOptions,
): Promise<Shift> {
  const sides = { before: candidates(frames, times.with, options), after: candidates(frames, times.at, options) };
  let [before, after] = [await sides.before.next(), await sides.after.next()];
  while (before !== null && after !== null) {
    const { pipeline, settings, signal } = options;
    const { threshold } = settings;
    const { finding: found } = await pipeline.compare({ before: before.bytes, after: after.bytes, threshold, signal });
    const side = found.lost?.side;
    if (side === undefined) {
      const words = found.words.map((_word, i) => i);
      return { day, before, after, finding: countingIn(found, words, settings).finding, missing: [] };
    }
    sides[side].refuse('damaged');
    if (side === 'before') before = await sides.before.next();
    else after = await sides.after.next();
  }
  const missing = (['before', 'after'] as const).flatMap((side: Side) =>
    (side === 'before' ? before : after) === null ? [sides[side].what(round.tz)] : [],
  );
  return { day, before, after, finding: null, missing };
}

/** The frames around a time, the nearest first. */
function candidates(frames: Frames, at: number, { privacy, decodeLimits }: ShiftOptions) {
  const near = Array.from({ length: frames.count }, (_, i) => i)
    .map((index) => ({ index, distance: Math.abs(timeOf(frames, index) - at) }))
    .filter(({ distance }) => distance <= WIDEST_MS)
    .sort((a, b) => a.distance - b.distance);
  const refused: string[] = [];
  let tried = 0;
  const usable = async (index: number): Promise<Uint8Array | string> => {
    const limits = { ...decodeLimits, field: 'frame' };
    try {
      const read = await frames.frame(index);
      const bytes = privacy.length === 0 ? read : await maskFrame(read, privacy, limits);
      const pixels = await decodeFrame(bytes, limits);
      if (isCut(pixels)) return 'damaged';
      return isTooDark(pixels) ? 'too dark' : bytes;
    } catch (thrown) {
      const error = asScenedeltaError(thrown);
      if (!error.permanent || error.code === 'cancelled') throw thrown;
      return 'unreadable';
    }
  };
  return {
    refuse: (reason: string) => void refused.push(reason),
    /** @returns the next usable picture; null: there is none */
    async next(): Promise<Picture | null> {
      while (tried < Math.min(near.length, MOST_TRIES)) {
        const { index } = near[tried++] as { index: number };
        const found = await usable(index);
        if (typeof found !== 'string') return { moment: frames.moment(index), bytes: found };
        refused.push(found);
      }
      return null;
    },
    what: (tz: string) => whatWasThere(refused, near.length, WIDEST_MS, at, tz),
  };
}

const timeOf = (frames: Frames, index: number): number => Date.parse(frames.moment(index).at ?? '');
