/**
 * Places and ways of a statement: how probable the stated phrase is, and which one is written in place of an improbable
 * one: "on the road", then the third of the frame, then none. The boxes of the regions decide thirds and sides.
 */
import { logitOf, sigmoid } from '../base/logistic.js';
import { growthOf, isRefuted, shiftOf, stepOf, thirdOf } from '../language/place.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { Likely } from '../model/naming.js';
import type { MapRegion } from '../model/regions.js';

type Calibration = Pick<FactCalibration, 'place' | 'way' | 'third' | 'sideways' | 'depth'>;

/** Motion of the centre, in fractions of the frame, from which regions show it: their cells are 1/36 wide. */
const SIDEWAYS_FROM = 0.08;
/** Natural logarithm of the ratio of heights from which regions show that a thing came closer. */
const GROWN_FROM = 0.4;
/** Bounds of `depthOf`: of the logarithms of both ratios, of their difference, and of the motion of the lower edge. */
const RESIZED_FROM = 0.1;
const RESHAPED_FROM = 0.3;
const STEPPED_FROM = 0.06;
/** From this ratio of the growth to the motion to a side on, "closer" is written in place of "to the left". */
const PREFERS_DEPTH = 4;

/**
 * @param stated the phrase of the clause, and the probability of all of its words; null: the clause states no place
 * @param regions of the thing, at least one
 * @param calibration absent = the phrase stays, with that probability
 * @returns the first of the ladder that reaches `truth`; null: none does
 */
export function likelyPlace(
  stated: Likely | null,
  regions: readonly MapRegion[],
  calibration: Calibration | undefined,
  truth: number,
): Likely | null {
  if (stated === null || calibration === undefined) return stated;
  const { box } = regions.at(-1) as MapRegion;
  const said = { ...stated, probability: calibrated(stated.probability, calibration.place) };
  const third = { value: thirdOf(box), probability: calibration.third };
  return firstOf(isRefuted(stated.value, box) ? [third] : [said, third], truth);
}

/** Like likelyPlace, for the direction of a move: the stated one, else what the regions show, else nothing. */
export function likelyWay(
  stated: Likely | null,
  regions: readonly MapRegion[],
  calibration: Calibration | undefined,
  truth: number,
): Likely | null {
  if (calibration === undefined) return stated;
  const side = sideOf(regions);
  const depth = depthOf(regions);
  const sides = side === null ? [] : [{ value: side, probability: calibration.sideways }];
  const depths = depth === null ? [] : [{ value: depth, probability: calibration.depth ?? 0 }];
  const isRefutedBySide = side !== null && /left|right/.test(stated?.value ?? '') && !stated?.value.endsWith(side);
  const said =
    stated === null || isRefutedBySide
      ? []
      : [{ ...stated, probability: calibrated(stated.probability, calibration.way, agreement(stated.value, regions)) }];
  return firstOf(isDeep(regions) ? [...depths, ...said, ...sides] : [...said, ...sides, ...depths], truth);
}

const firstOf = (ladder: readonly Likely[], truth: number): Likely | null =>
  ladder.find(({ probability }) => probability >= truth) ?? null;

/** The side that the regions moved to, as a phrase; null: they hardly moved sideways. */
export function sideOf(regions: readonly MapRegion[]): string | null {
  const shift = shiftOf(regions);
  return Math.abs(shift) < SIDEWAYS_FROM ? null : shift < 0 ? 'to the left' : 'to the right';
}

/**
 * Whether a thing came closer or went further away, as a phrase: its box has another size and the same shape, and its
 * lower edge moved down or up the frame. A person who sat, lay down or bent has another shape. Null: it hardly did.
 */
export function depthOf(regions: readonly MapRegion[]): string | null {
  const { height, width } = growthOf(regions);
  const step = stepOf(regions);
  const nearer = Math.sign(step);
  if (Math.abs(step) < STEPPED_FROM || Math.min(height * nearer, width * nearer) < RESIZED_FROM) return null;
  if (Math.abs(height - width) > RESHAPED_FROM) return null;
  return nearer > 0 ? 'closer' : 'further away';
}

/** Whether a thing moved more in depth than to a side, as in training/worlds/surveillance/location_phrases.py. */
function isDeep(regions: readonly MapRegion[]): boolean {
  const { height, width } = growthOf(regions);
  return Math.abs(height + width) / 2 > PREFERS_DEPTH * Math.abs(shiftOf(regions));
}

const calibrated = (
  probability: number,
  { scale, offset, agreement: weight = 0 }: FactCalibration['place'] & Partial<FactCalibration['way']>,
  agrees = 0,
): number => sigmoid(scale * logitOf(probability, Number.EPSILON) + weight * agrees + offset);

/** How far the boxes moved, or grew, in the stated way; negative: in the opposite one. -1..1 */
export function agreement(way: string, regions: readonly MapRegion[]): number {
  const bounded = (value: number): number => Math.max(-1, Math.min(1, value));
  if (/left|right/.test(way)) return bounded(shiftOf(regions) / SIDEWAYS_FROM) * (way.endsWith('left') ? -1 : 1);
  return bounded(growthOf(regions).height / GROWN_FROM) * (/closer|towards/.test(way) ? 1 : -1);
}
