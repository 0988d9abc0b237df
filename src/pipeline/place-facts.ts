/**
 * Places and ways of the captions' grammar: finds the phrase of a clause, says how probable it is, and what to say
 * instead: "on the road", then the third of the frame, then nothing. The boxes of the regions decide thirds and sides.
 */
import type { Box } from '../images.js';
import { logitOf, sigmoid } from '../logistic.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { Likely } from '../model/naming.js';
import type { MapRegion } from '../model/regions.js';

/** Positions of a phrase in a clause: of its first word, and the one after its last. */
export interface PhraseAt {
  readonly from: number;
  readonly to: number;
}

type Calibration = Pick<FactCalibration, 'place' | 'way' | 'third' | 'sideways'>;

/** Places of a part of the frame, which a box can refute. */
const THIRDS = { left: 'on the left', middle: 'in the middle', right: 'on the right' } as const;
const PARTS =
  'left edge|right edge|lower left|lower right|upper left|upper right|left|right|middle|foreground|background|' +
  'distance|top|bottom';
const PLACE = new RegExp(
  `^(?:(?:on|in|at) the (?:${PARTS}|road|street|grass|pavement|path|parking lot|floor|platform|square|yard|court|` +
    'driveway|ground)|by the (?:lamp post|[a-z]+))(?= |$)',
);
const WAY = /^(?:(?:slightly )?to the (?:left|right)|closer|further away|(?:towards|away from) the camera)(?= |$)/;

/** Borders of the thirds that the phrases of training mean; between .36 and .64 a thing may be in the middle. */
const LEFT_BELOW = 0.4;
const RIGHT_ABOVE = 0.6;
const MIDDLE: readonly [number, number] = [0.36, 0.64];
/** Motion of the centre, in fractions of the frame, from which regions show it: their cells are 1/36 wide. */
const SIDEWAYS_FROM = 0.08;
/** Natural logarithm of the ratio of heights from which regions show that a thing came closer. */
const GROWN_FROM = 0.4;

export const findPlace = (words: readonly string[]): PhraseAt | null => find(words, PLACE);
export const findWay = (words: readonly string[]): PhraseAt | null => find(words, WAY);

function find(words: readonly string[], pattern: RegExp): PhraseAt | null {
  for (const [from] of words.entries()) {
    const [phrase] = pattern.exec(words.slice(from).join(' ')) ?? [];
    if (phrase !== undefined) return { from, to: from + phrase.split(' ').length };
  }
  return null;
}

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
  const own = { ...stated, probability: calibrated(stated.probability, calibration.place) };
  const third = { value: thirdOf(box), probability: calibration.third };
  return firstOf(isRefuted(stated.value, box) ? [third] : [own, third], truth);
}

/** The same of the way that a thing moved; its ladder is the stated way, then the side, then nothing. */
export function likelyWay(
  stated: Likely | null,
  regions: readonly MapRegion[],
  calibration: Calibration | undefined,
  truth: number,
): Likely | null {
  if (stated === null || calibration === undefined) return stated;
  const agrees = agreement(stated.value, regions);
  const own = { ...stated, probability: calibrated(stated.probability, calibration.way, agrees) };
  const measured = sideOf(regions);
  const sides = measured === null ? [] : [{ value: measured, probability: calibration.sideways }];
  const contradicts = measured !== null && /left|right/.test(stated.value) && !stated.value.endsWith(measured);
  return firstOf(contradicts ? sides : [own, ...sides], truth);
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

const centre = ({ x, width }: Box): number => x + width / 2;

/** The third of the frame that the centre of a box lies in, as a phrase. */
export function thirdOf(box: Box): string {
  const x = centre(box);
  return x < LEFT_BELOW ? THIRDS.left : x > RIGHT_ABOVE ? THIRDS.right : THIRDS.middle;
}

/** Whether the box lies outside of the third that the phrase states. */
function isRefuted(phrase: string, box: Box): boolean {
  const x = centre(box);
  if (/\bleft\b/.test(phrase)) return x >= LEFT_BELOW;
  if (/\bright\b/.test(phrase)) return x <= RIGHT_ABOVE;
  return phrase === THIRDS.middle && (x < MIDDLE[0] || x > MIDDLE[1]);
}

/** Motion of the centre to the right, in fractions of the frame; 0 unless both frames show the thing. */
const shiftOf = (regions: readonly MapRegion[]): number =>
  betweenFrames(regions, (from, to) => centre(to) - centre(from));
/** Natural logarithm of the ratio of the heights; 0 unless both frames show the thing. */
const growthOf = (regions: readonly MapRegion[]): number =>
  betweenFrames(regions, (from, to) => Math.log(to.height / from.height));

function betweenFrames(regions: readonly MapRegion[], of: (from: Box, to: Box) => number): number {
  const [from, to] = (['before', 'after'] as const).map((side) => regions.find((region) => region.side === side));
  return from === undefined || to === undefined ? 0 : of(from.box, to.box);
}
