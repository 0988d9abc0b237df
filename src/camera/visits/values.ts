/** Values of a visit's state: the boxes of its path, their distances, and the words with the most votes. Pure. */
import type { Box } from '../../base/images.js';
import type { PathPoint, Votes } from './state.js';

/** @returns the word with the most votes; undefined without any */
export const mostVoted = (votes: Votes): string | undefined =>
  Object.entries(votes).reduce<[string, number] | undefined>(
    (best, entry) => (best === undefined || entry[1] > best[1] ? entry : best),
    undefined,
  )?.[0];

export const boxOf = ([, x, y, width, height]: PathPoint): Box => ({ x, y, width, height });

export const centreOf = ({ x, y, width, height }: Box): [x: number, y: number] => [x + width / 2, y + height / 2];

/** Distance of two centres, in heights of the frame. */
export function distance(a: Box, b: Box, aspect: number): number {
  const [[ax, ay], [bx, by]] = [centreOf(a), centreOf(b)];
  return Math.hypot((ax - bx) * aspect, ay - by);
}
