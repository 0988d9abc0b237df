/** People in a crop: the boxes of the graph `people`, each person once (non-maximum suppression). */
import { type Box, overlap } from '../images.js';
import type { PeopleRule } from './people-schema.js';
import { intersectionOverUnion } from './regions.js';

/** A person in a crop. */
export interface DetectedPerson {
  /** fractions of the crop; may leave it */
  readonly box: Box;
  /** 0..1 */
  readonly score: number;
}

/** Two boxes are of one person from this intersection over union on, or from this share of the smaller one. */
const SAME_IOU = 0.5;
const SAME_SHARE = 0.7;

/**
 * @param scores [P], 0..1
 * @param boxes [P, 4]: left, top, right, bottom in pixels of the crop
 * @returns each person once, the highest score first
 */
export function peopleOf(scores: Float32Array, boxes: Float32Array, { size, least }: PeopleRule): DetectedPerson[] {
  const found = [...scores.keys()]
    .filter((i) => (scores[i] as number) >= least)
    .sort((a, b) => (scores[b] as number) - (scores[a] as number))
    .map((i): DetectedPerson => {
      const [left, top, right, bottom] = [...boxes.subarray(4 * i, 4 * i + 4)].map((value) => value / size) as [
        number,
        number,
        number,
        number,
      ];
      return { box: { x: left, y: top, width: right - left, height: bottom - top }, score: scores[i] as number };
    });
  const people: DetectedPerson[] = [];
  for (const one of found) if (!people.some((other) => isSame(one.box, other.box))) people.push(one);
  return people;
}

const isSame = (a: Box, b: Box): boolean => intersectionOverUnion(a, b) > SAME_IOU || overlap(a, b) > SAME_SHARE;
