/** A pair as the pipeline compares it: in eight bits, and both pictures in one shape. */
import type { Size } from '../base/images.js';
import type { DecodedFrame } from '../frames/decode.js';
import { pairInEightBits } from '../frames/deep-grey.js';
import type { DecodeLimits } from '../frames/header.js';
import { pairInOneShape } from '../frames/one-shape.js';
import { differInShape, sourceSize } from '../frames/pair.js';
import { isSameView, type ViewpointEvidence } from '../viewpoint/examine.js';
import type { PairInput } from './pair.js';

/** @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, processing-timeout */
export async function fitPair(
  given: PairInput,
  limits: DecodeLimits,
): Promise<{ readonly input: PairInput; readonly stretchedFrom: Size | null }> {
  const { pair, stretchedFrom } = await pairInOneShape(await pairInEightBits(given, limits), limits);
  return { input: pair, stretchedFrom };
}

/**
 * @param stretchedFrom upright size of `after`; null: it was not stretched
 * @throws ScenedeltaError frames-differ-in-shape if it was stretched, and shows another view
 */
export function assertOneView(stretchedFrom: Size | null, before: DecodedFrame, evidence: ViewpointEvidence): void {
  if (stretchedFrom === null || isSameView(evidence)) return;
  throw differInShape({ before: sourceSize(before), after: stretchedFrom });
}
