/**
 * Consequences of a lost part for a finding: it shows nothing of the scene, so that no statement is about it. A pair
 * with a frame that lost much is not compared.
 */
import { areaOf, type Box, SIDES, sharedArea } from '../images.js';
import type { Lost } from '../schemas/loss.js';
import type { ViewpointEvidence } from '../viewpoint/examine.js';

/** Lost share of a frame from which the rest is not judged: an operator must look at the camera (set, not fitted). */
const UNUSABLE = 0.2;
/** Share of a region in a lost part from which the loss explains it. */
const EXPLAINED = 0.5;
/** Share of the frames that are called damaged and are (`npm run bench:glitches`). */
export const CERTAINTY = 0.99;

/** The loss of a pair, that of `after` first; null: both frames are whole. */
export function lostOf({ lost }: Pick<ViewpointEvidence, 'lost'>): Lost | null {
  for (const side of [...SIDES].reverse()) {
    const view = lost[side];
    if (view !== null) return { side, boxes: [...view.lost], share: Math.min(1, view.share), reason: view.reason };
  }
  return null;
}

export const isUnusable = ({ share }: Lost): boolean => share >= UNUSABLE;

/** @returns the regions that the loss does not explain */
export const outsideOf = <R extends { readonly box: Box }>(regions: readonly R[], lost: Lost | null): readonly R[] =>
  lost === null ? regions : regions.filter(({ box }) => lostShare(box, lost.boxes) < EXPLAINED);

const lostShare = (box: Box, lost: readonly Box[]): number =>
  lost.reduce((sum, part) => sum + sharedArea(box, part), 0) / areaOf(box);
