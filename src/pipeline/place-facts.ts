/**
 * Places and ways of a statement: how probable the stated phrase is, and which one is written in place of an improbable
 * one: "on the road", then the third of the frame, then none. The boxes of the regions decide thirds and sides.
 */
import { growthOf, isRefuted, shiftOf, thirdOf } from '../language/place.js';
import { logitOf, sigmoid } from '../logistic.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { Likely } from '../model/naming.js';
import type { MapRegion } from '../model/regions.js';

type Calibration = Pick<FactCalibration, 'place' | 'way' | 'third' | 'sideways'>;

/** Motion of the centre, in fractions of the frame, from which regions show it: their cells are 1/36 wide. */
const SIDEWAYS_FROM = 0.08;
/** Natural logarithm of the ratio of heights from which regions show that a thing came closer. */
const GROWN_FROM = 0.4;

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

/** Like likelyPlace, for the direction of a move: the stated one, else the side, else nothing. */
export function likelyWay(
  stated: Likely | null,
  regions: readonly MapRegion[],
  calibration: Calibration | undefined,
  truth: number,
): Likely | null {
  if (stated === null || calibration === undefined) return stated;
  const agrees = agreement(stated.value, regions);
  const said = { ...stated, probability: calibrated(stated.probability, calibration.way, agrees) };
  const measured = sideOf(regions);
  const sides = measured === null ? [] : [{ value: measured, probability: calibration.sideways }];
  const contradicts = measured !== null && /left|right/.test(stated.value) && !stated.value.endsWith(measured);
  return firstOf(contradicts ? sides : [said, ...sides], truth);
}

const firstOf = (ladder: readonly Likely[], truth: number): Likely | null =>
  ladder.find(({ probability }) => probability >= truth) ?? null;

/** The side that the regions moved to, as a phrase; null: they hardly moved sideways. */
export function sideOf(regions: readonly MapRegion[]): string | null {
  const shift = shiftOf(regions);
  return Math.abs(shift) < SIDEWAYS_FROM ? null : shift < 0 ? 'to the left' : 'to the right';
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
  return bounded(growthOf(regions) / GROWN_FROM) * (/closer|towards/.test(way) ? 1 : -1);
}
