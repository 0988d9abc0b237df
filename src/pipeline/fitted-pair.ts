/** Both frames of a pair in one size, as all work on their pixels expects. */
import { type Size, sameAspectRatio } from '../base/images.js';
import type { DecodedFrame } from '../frames/decode.js';
import type { Rect } from '../frames/lost-rows.js';
import { differInShape, sourceSize } from '../frames/pair.js';
import { stretched } from '../frames/stretch.js';
import { isSameView, type ViewpointEvidence } from '../viewpoint/evidence.js';
import type { FramePair } from './pair.js';

export interface FittedPair {
  readonly frames: FramePair;
  /** upright size of `after` before it was stretched to the shape of `before`; null: it had that shape */
  readonly stretchedFrom: Size | null;
}

/**
 * Recorders send one view in several sizes, and stretched to another shape. Frames of two sizes get the shape of
 * `before` in the largest size that enlarges neither: a frame that was enlarged is blurred, and all of it differs.
 * @param take gives a buffer for so many bytes of pixels
 */
export async function fitPair({ before, after }: FramePair, take: (bytes: number) => Uint8Array): Promise<FittedPair> {
  const share = Math.min(1, after.width / before.width, after.height / before.height);
  const size = { width: Math.round(before.width * share), height: Math.round(before.height * share) };
  const fitted = async (frame: DecodedFrame): Promise<DecodedFrame> => {
    if (frame.width === size.width && frame.height === size.height) return frame;
    const { data } = await stretched(frame, size);
    const pixels = take(data.length);
    pixels.set(data);
    return { ...frame, ...size, data: pixels, lost: frame.lost && scaled(frame.lost, frame, size) };
  };
  const isStretched = !sameAspectRatio(sourceSize(before), sourceSize(after));
  return {
    frames: { before: await fitted(before), after: await fitted(after) },
    stretchedFrom: isStretched ? sourceSize(after) : null,
  };
}

/** The rows and columns that a rectangle touches at another size. */
function scaled({ x, y, width, height }: Rect, from: Size, to: Size): Rect {
  const [right, down] = [to.width / from.width, to.height / from.height];
  const [left, top] = [Math.floor(x * right), Math.floor(y * down)];
  return {
    x: left,
    y: top,
    width: Math.ceil((x + width) * right) - left,
    height: Math.ceil((y + height) * down) - top,
  };
}

/**
 * @param stretchedFrom as fitPair returns it
 * @throws ScenedeltaError frames-differ-in-shape if `after` was stretched, and shows another view
 */
export function assertOneView(stretchedFrom: Size | null, before: DecodedFrame, evidence: ViewpointEvidence): void {
  if (stretchedFrom === null || isSameView(evidence)) return;
  throw differInShape({ before: sourceSize(before), after: stretchedFrom });
}
