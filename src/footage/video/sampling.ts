/** Which frames of a video are looked at: key frames, every frame, or the first one of each cell of a time grid. */
import type { Every, FootageItem } from '../inputs/recording-plan.js';
import type { VideoInfo } from './probe.js';

export interface Sampling {
  /** only key frames are decoded, about 20 times as fast */
  readonly keyFrames: boolean;
  /** seconds per cell of the grid; null: every decoded frame */
  readonly step: number | null;
  /** seconds from the beginning of the grid's cell 0 to the beginning of the file, 0..step */
  readonly phase: number;
}

/** Presentation times are rounded to the time base, so that a frame may come slightly before its cell. */
const TOLERANCE = 1e-3;

/** @returns the number of the grid's cell at a time; cell 0 begins with the epoch. @param at epoch ms */
export const cellAt = (at: number, step: number): number => Math.floor((at / 1000 + TOLERANCE) / step);

/** @returns `Sampling.phase` of a file that begins at this time, epoch ms */
const phaseOf = (at: number, step: number): number => (((at / 1000) % step) + step) % step;

/** @returns the filter of ffmpeg that drops all other frames, before they are scaled */
export function selectFilter({ step, phase }: Sampling, startTime: number): string {
  if (step === null) return 'null';
  const cell = (time: string) => `floor((${time}+${(phase - startTime + TOLERANCE).toFixed(6)})/${step.toFixed(6)})`;
  const last = `if(isnan(prev_selected_t),-1e9,${cell('prev_selected_t')})`;
  // A clock that jumps back begins another grid.
  return `select='gt(${cell('t')},${last})+lt(t,prev_selected_t)'`;
}

/** The mode auto looks at key frames that are at most this far apart, else at a frame per step; seconds. */
export const AUTO_KEY_FRAMES_S = 4;
export const AUTO_STEP_S = 1;
/** A key frame may come this late, seconds. */
const KEY_FRAME_TOLERANCE = 0.1;

type Keys = Pick<VideoInfo, 'keyFrameSeconds' | 'keyFramesAlone'>;

export function samplingOf({ at }: FootageItem, { keyFrameSeconds, keyFramesAlone }: Keys, every: Every): Sampling {
  if (every.mode === 'all') return { keyFrames: false, step: null, phase: 0 };
  if (every.mode === 'keyframes' && keyFramesAlone) return { keyFrames: true, step: null, phase: 0 };
  const auto = every.mode === 'keyframes' ? (keyFrameSeconds ?? AUTO_STEP_S) : AUTO_STEP_S;
  const step = every.mode === 'seconds' ? every.seconds : auto;
  const farthest = every.mode === 'seconds' ? step : AUTO_KEY_FRAMES_S;
  const close = keyFrameSeconds !== null && keyFrameSeconds <= farthest + KEY_FRAME_TOLERANCE;
  const exact = every.mode === 'seconds' && every.exact;
  return { keyFrames: close && keyFramesAlone && !exact, step, phase: phaseOf(at, step) };
}
