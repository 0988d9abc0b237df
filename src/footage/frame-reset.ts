/** The part of a frame's evidence that says whether "before" was replaced at it. */
import type { FoldedFrame } from '../sequence/fold.js';
import type { FrameStats } from './records.js';

/** @returns nothing if "before" stayed */
export function resetOf({ before, after }: FoldedFrame['reset'], gap: boolean): Pick<FrameStats, 'reset' | 'gap'> {
  if (!before && !after) return gap ? { gap } : {};
  return { reset: before && after ? 'both' : before ? 'before' : 'after', gap };
}
