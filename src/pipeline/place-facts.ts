/**
 * Places and ways of a statement: how probable the stated phrase is, and which one is written instead of an improbable
 * one: "on the road", then the third of the frame, then none. The boxes of the regions decide thirds and sides.
 */
import type { Box, Side } from '../base/images.js';
import { logitOf, sigmoid } from '../base/logistic.js';
import { growthOf, isRefuted, shiftOf, stepOf, thirdOf } from '../language/place.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { Likely } from '../model/naming.js';

type Calibration = Pick<FactCalibration, 'place' | 'third' | 'sideways' | 'depth'>;

/** Motion of the centre to a side, or of the lower edge, in fractions of the frame, from which boxes show it. */
const MOVED_FROM = 0.08;
/** Bounds of `depthOf`: of the logarithms of the ratios of heights and of widths, and of their difference. */
const RESIZED_FROM = 0.1;
const RESHAPED_FROM = 0.3;

/** A thing as one frame shows it. */
interface Placed {
  readonly side: Side;
  readonly box: Box;
}

/**
 * @param stated the phrase of the decoder, and the probability of all of its words; null: it states no place
 * @returns the first of the ladder that reaches `truth`; null: none does
 */
export function likelyPlace(
  stated: Likely | null,
  { box }: Placed,
  calibration: Calibration,
  truth: number,
): Likely | null {
  const third = { value: thirdOf(box), probability: calibration.third };
  const said = stated && { ...stated, probability: calibrated(stated.probability, calibration.place) };
  const ladder = said === null || isRefuted(said.value, box) ? [third] : [said, third];
  return firstOf(ladder, truth);
}

/** Like likelyPlace, for the direction of a move, which the boxes of both ends show: a side before the depth. */
export function likelyWay(ends: readonly Placed[], calibration: Calibration, truth: number): Likely | null {
  const [side, depth] = [sideOf(ends), depthOf(ends)];
  const sides = side === null ? [] : [{ value: side, probability: calibration.sideways }];
  const depths = depth === null ? [] : [{ value: depth, probability: calibration.depth ?? 0 }];
  return firstOf([...sides, ...depths], truth);
}

const firstOf = (ladder: readonly Likely[], truth: number): Likely | null =>
  ladder.find(({ probability }) => probability >= truth) ?? null;

/** The side that the regions moved to, as a phrase; null: they hardly moved sideways. */
export function sideOf(regions: readonly Placed[]): string | null {
  const shift = shiftOf(regions);
  return Math.abs(shift) < MOVED_FROM ? null : shift < 0 ? 'to the left' : 'to the right';
}

/**
 * Whether a thing came closer or went further away, as a phrase: its box has another size and the same shape, and its
 * lower edge moved down or up the frame. A person who sat, lay down or bent has another shape. Null: it hardly did.
 */
export function depthOf(regions: readonly Placed[]): string | null {
  const { height, width } = growthOf(regions);
  const step = stepOf(regions);
  const nearer = Math.sign(step);
  if (Math.abs(step) < MOVED_FROM || Math.min(height * nearer, width * nearer) < RESIZED_FROM) return null;
  if (Math.abs(height - width) > RESHAPED_FROM) return null;
  return nearer > 0 ? 'closer' : 'further away';
}

const calibrated = (probability: number, { scale, offset }: FactCalibration['place']): number =>
  sigmoid(scale * logitOf(probability, Number.EPSILON) + offset);
