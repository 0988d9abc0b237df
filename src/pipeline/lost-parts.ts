/**
 * Lost parts of a pair, as the decoder and the pixels show them. They show nothing of the scene, so that no statement
 * is about them. A pair with a frame that lost much is not compared.
 */
import { areaOf, type Box, isMostlyIn, OTHER_SIDE, type Side, sharedArea } from '../base/images.js';
import type { DecodedFrame } from '../frames/decode.js';
import { isCut } from '../frames/lost-rows.js';
import type { BundleManifest } from '../model/manifest.js';
import type { Lost } from '../schemas/loss.js';
import type { ViewpointEvidence } from '../viewpoint/evidence.js';
import { type Cover, coverOf } from '../viewpoint/lens/cover.js';
import type { LostView } from '../viewpoint/lost.js';
import type { FramePair } from './pair.js';

/** Lost share of a frame from which the rest is not judged: an operator must look at the camera (set, not fitted). */
const UNUSABLE = 0.2;
/** Share of the frames that are called damaged and are (`npm run bench -- glitches`). */
export const CERTAINTY = 0.99;

/**
 * @param evidence null: no losses are looked for in the pixels
 * @returns the loss of a pair: of `after` if both frames are damaged, with the parts of `before`. null: both are whole
 */
export function lostOf(frames: FramePair, evidence: Pick<ViewpointEvidence, 'lost'> | null): Lost | null {
  const viewOf = (side: Side) => missingRows(frames[side]) ?? evidence?.lost[side] ?? null;
  const side = viewOf('after') === null ? 'before' : 'after';
  const view = viewOf(side);
  if (view === null) return null;
  const others = viewOf(OTHER_SIDE[side])?.lost ?? [];
  // The parts of one frame do not overlap each other.
  const areas = [...view.lost, ...others].map(areaOf);
  const shared = view.lost.flatMap((box) => others.map((other) => -sharedArea(box, other)));
  const share = [...areas, ...shared].reduce((sum, area) => sum + area, 0);
  return { side, boxes: [...view.lost, ...others], share: Math.min(1, share), reason: view.reason };
}

function missingRows(frame: DecodedFrame): Pick<LostView, 'lost' | 'reason'> | null {
  const { lost, width, height } = frame;
  if (lost === null || !isCut(frame)) return null;
  const [x, y] = [lost.x / width, lost.y / height];
  const box = { x, y, width: lost.width / width, height: lost.height / height };
  return { lost: [box], reason: 'picture_damaged' };
}

export const isUnusable = ({ share }: Pick<Lost, 'share'>): boolean => share >= UNUSABLE;

/** Share of the detail of a view that is gone if something covers all of it: paint reaches .93, real pairs .75. */
const WHOLE = 0.9;
export const isCovered = ({ share }: Pick<Cover, 'share'>): boolean => share >= WHOLE;

/**
 * @param scene regions that changed: a thing that came hides detail, too, and one that left takes its own along
 * @param isOther whether detail that is not of the view is on the lens, as in drops
 * @returns null: nothing covers so much that an operator must know, or a part of a frame was lost
 */
export function lensCover(
  { evidence, lost }: { readonly evidence: Pick<ViewpointEvidence, 'detail'>; readonly lost: Lost | null },
  { camera }: Pick<BundleManifest, 'camera'>,
  scene: readonly { readonly box: Box }[],
  isOther = false,
): Cover | null {
  const { detail } = evidence;
  if (detail === null || lost !== null || camera === 'moving') return null;
  const cover = coverOf(detail, scene, isOther);
  return cover !== null && isUnusable(cover) ? cover : null;
}

/** @returns the regions without those of things that the cover may only hide */
export const notBehind = <R extends { readonly side: Side; readonly box: Box }>(
  regions: readonly R[],
  cover: Cover | null,
): readonly R[] => {
  const outside = outsideOf(regions, cover?.boxes);
  return regions.filter((region) => region.side === 'after' || outside.includes(region));
};

/** @returns the regions of which less than half lies in lost parts: the loss does not explain them */
export const outsideOf = <R extends { readonly box: Box }>(
  regions: readonly R[],
  parts: readonly Box[] = [],
): readonly R[] => regions.filter(({ box }) => !isMostlyIn(box, parts));
