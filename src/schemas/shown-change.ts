/** The sentence of a change, its regions, and the frame that shows it best. */
import type { Box, Side } from '../base/images.js';
import type { FoundChange } from './change.js';

/** The sentence of an event of a change, and its statement: at its end, what is true since then. */
export const statedAt = (type: string, change: FoundChange): Pick<FoundChange, 'caption' | 'content'> =>
  (type === 'change.reverted' ? change.ended : undefined) ?? change;

/** The regions of the last frame that showed the change. */
export const lastRegions = ({ regions, last_regions }: Pick<FoundChange, 'regions' | 'last_regions'>) =>
  last_regions ?? regions;

/** The frame that shows a change best: a thing that has gone is in "before" alone, any other in "after". */
const shownSide = ({ regions }: Pick<FoundChange, 'regions'>): Side =>
  regions.length > 0 && regions.every(({ side }) => side === 'before') ? 'before' : 'after';

/** A frame of a comparison, as a picture shows it. */
export interface ShownFrame {
  /** id of the comparison */
  readonly comparison: string;
  readonly side: Side;
  /** whether its changes are outlined */
  readonly outlined: boolean;
  /** of the subject in this frame; absent: all that differs is the subject */
  readonly boxes?: readonly Box[];
  /** the frames that the comparison has; absent: both */
  readonly sides?: readonly Side[];
}
/** Tampering is recognised without the model, so there are no maps. */
export function shownFrame(change: Pick<FoundChange, 'comparisons' | 'regions' | 'kind'>): ShownFrame {
  const side = shownSide(change);
  const outlined = change.kind !== 'tamper';
  const boxes = change.regions.filter((region) => region.side === side).map(({ box }) => box);
  return { comparison: change.comparisons.best, side, outlined, ...(outlined && boxes.length > 0 && { boxes }) };
}
