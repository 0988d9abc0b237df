/**
 * Phrases of places and of ways: where a thing is and how it moved. The borders of left, middle and right are here
 * alone: the sentence, the search, the evaluation and the training (`training/worlds/surveillance/location_phrases.py`)
 * use them.
 */
import { readFileSync } from 'node:fs';
import type { Box, Side } from '../base/images.js';

export type Third = 'left' | 'middle' | 'right';

/** The range of the centre of a thing, in fractions of the frame's width, in which each word is true. They overlap. */
const THIRDS: Readonly<Record<Third, readonly [from: number, to: number]>> = JSON.parse(
  readFileSync(new URL('./tables/thirds.json', import.meta.url), 'utf8'),
);
const PHRASES: Readonly<Record<Third, string>> = {
  left: 'on the left',
  middle: 'in the middle',
  right: 'on the right',
};
const centre = ({ x, width }: Box): number => x + width / 2;

/** Whether a word of place is true of a thing with this centre, 0..1 from the left edge. */
export const isInThird = (third: Third, x: number): boolean => x >= THIRDS[third][0] && x <= THIRDS[third][1];

/** The phrase for the third of the frame that the centre of a box lies in; where words overlap it is the middle. */
export function thirdOf(box: Box): string {
  const x = centre(box);
  return PHRASES[isInThird('middle', x) ? 'middle' : x < THIRDS.middle[0] ? 'left' : 'right'];
}

/** Whether a phrase names a third of the frame in which the box does not lie. */
export function isRefuted(phrase: string, box: Box): boolean {
  const x = centre(box);
  if (/\bleft\b/.test(phrase)) return x >= THIRDS.middle[0];
  if (/\bright\b/.test(phrase)) return x <= THIRDS.middle[1];
  return phrase === PHRASES.middle && !isInThird('middle', x);
}

type Placed = { readonly side: Side; readonly box: Box };

/** Motion of the centre to the right, in fractions of the frame; 0 unless both frames show the thing. */
export const shiftOf = (regions: readonly Placed[]): number =>
  betweenFrames(regions, (from, to) => centre(to) - centre(from));

/** Natural logarithms of the ratios of heights and of widths; 0 unless both frames show the thing. */
export const growthOf = (regions: readonly Placed[]): { readonly height: number; readonly width: number } => ({
  height: betweenFrames(regions, (from, to) => Math.log(to.height / from.height)),
  width: betweenFrames(regions, (from, to) => Math.log(to.width / from.width)),
});

/** Motion of the lower edge down the frame, in fractions of it; 0 unless both frames show the thing. */
export const stepOf = (regions: readonly Placed[]): number =>
  betweenFrames(regions, (from, to) => to.y + to.height - from.y - from.height);

function betweenFrames(regions: readonly Placed[], of: (from: Box, to: Box) => number): number {
  const [from, to] = (['before', 'after'] as const).map((side) => regions.find((region) => region.side === side));
  return from === undefined || to === undefined ? 0 : of(from.box, to.box);
}
