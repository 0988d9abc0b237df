/** Frames that must still be fetched from an address. They decide whether a comparison passes the queue of fetches. */
import type { FrameRef, StoredFrameRef } from '../schemas/frame-ref.js';
import type { StoredComparison } from '../stores/comparisons/stored-comparison.js';

export type ForeignFrameRef = Exclude<FrameRef, StoredFrameRef>;

/** @returns none if all bytes are in the blob store */
export function unfetchedFrames({ frames, request }: Pick<StoredComparison, 'frames' | 'request'>): ForeignFrameRef[] {
  const refs = [frames.before ?? request.before, frames.after ?? request.after];
  return refs.filter((ref): ref is ForeignFrameRef => ref !== null && ref.from !== 'stored');
}
