/** People in a crop: the boxes of the graph `people`, each person once (non-maximum suppression). */
import { type Box, overlap } from '../base/images.js';
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
  const found: DetectedPerson[] = [];
  // Most of them are below it.
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i] as number;
    if (score >= least) found.push({ box: boxAt(boxes, i, size), score });
  }
  found.sort((a, b) => b.score - a.score);
  const people: DetectedPerson[] = [];
  for (const one of found) if (!people.some((other) => isSame(one.box, other.box))) people.push(one);
  return people;
}

const isSame = (a: Box, b: Box): boolean => intersectionOverUnion(a, b) > SAME_IOU || overlap(a, b) > SAME_SHARE;

function boxAt(boxes: Float32Array, i: number, size: number): Box {
  const [left, top, right, bottom] = [0, 1, 2, 3].map((edge) => (boxes[4 * i + edge] as number) / size) as [
    number,
    number,
    number,
    number,
  ];
  return { x: left, y: top, width: right - left, height: bottom - top };
}
