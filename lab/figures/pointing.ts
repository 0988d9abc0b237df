/**
 * Metrics of change maps: the pointing game and the overlap with boxes. Boxes and peaks are in fractions of the
 * frame.
 */
import { type Box, SIDES } from '../../src/base/images.js';
import type { Pair } from './pairs.js';
import type { Peak, Prediction } from './predictions.js';
import { type Proportion, proportionOf } from './statistics.js';

/** The threshold of a region in the bundle's contract. */
const EMPTY_BELOW = 0.5;

export interface Pointing {
  /**
   * The pointing game of DUDA (Park et al., ICCV 2019): per frame of a changed pair that shows the changed thing (not
   * the before frame of an appearance, not the after frame of a disappearance), the peak of the frame's map lies in
   * one of its boxes. A map without a peak misses.
   */
  readonly game: Proportion;
  /** unchanged pairs whose maps are empty: no value of either map reaches EMPTY_BELOW, whatever the verdict */
  readonly emptyWhenUnchanged: Proportion;
  /** game and empty maps together */
  readonly gamePlus: Proportion;
  /** mean over the frames of `game`: overlap (IoU) of the area of all region boxes with that of all true boxes */
  readonly meanIou: number | null;
}

export function pointing(
  pairs: readonly Pick<Pair, 'changed' | 'boxes'>[],
  predictions: readonly Pick<Prediction, 'regions' | 'peak_before' | 'peak_after'>[],
): Pointing {
  const hits: boolean[] = [];
  const empty: boolean[] = [];
  const overlaps: number[] = [];
  pairs.forEach(({ changed, boxes }, i) => {
    const prediction = predictions[i];
    if (prediction === undefined) return;
    if (changed === false) empty.push(isEmpty(prediction.peak_before) && isEmpty(prediction.peak_after));
    if (changed !== true) return;
    for (const side of SIDES) {
      if (boxes[side].length === 0) continue;
      hits.push(pointsInto(side === 'before' ? prediction.peak_before : prediction.peak_after, boxes[side]));
      const regions = prediction.regions.filter((region) => region.side === side).map((region) => region.box);
      overlaps.push(unionIou(regions, boxes[side]));
    }
  });
  return {
    game: proportionOf(hits),
    emptyWhenUnchanged: proportionOf(empty),
    gamePlus: proportionOf([...hits, ...empty]),
    meanIou: overlaps.length === 0 ? null : overlaps.reduce((a, b) => a + b) / overlaps.length,
  };
}

const isEmpty = (peak: Peak | null): boolean => peak === null || peak.value < EMPTY_BELOW;

/** The edges belong to the box. A peak of value 0 belongs to an empty map. */
export const pointsInto = (peak: Peak | null, boxes: readonly Box[]): boolean =>
  peak !== null &&
  peak.value > 0 &&
  boxes.some(
    (box) => peak.x >= box.x && peak.x <= box.x + box.width && peak.y >= box.y && peak.y <= box.y + box.height,
  );

/** Intersection over union of two areas, each the union of its boxes; exact. 1 if both are empty. */
export function unionIou(a: readonly Box[], b: readonly Box[]): number {
  const both = [...a, ...b];
  const xs = edges(both.flatMap((box) => [box.x, box.x + box.width]));
  const ys = edges(both.flatMap((box) => [box.y, box.y + box.height]));
  let intersection = 0;
  let union = 0;
  for (let i = 0; i + 1 < xs.length; i++) {
    for (let j = 0; j + 1 < ys.length; j++) {
      const [x0, x1, y0, y1] = [xs[i], xs[i + 1], ys[j], ys[j + 1]] as [number, number, number, number];
      const inside = (box: Box): boolean =>
        box.x < x1 && box.x + box.width > x0 && box.y < y1 && box.y + box.height > y0;
      const area = (x1 - x0) * (y1 - y0);
      const [inA, inB] = [a.some(inside), b.some(inside)];
      if (inA && inB) intersection += area;
      if (inA || inB) union += area;
    }
  }
  return union === 0 ? 1 : intersection / union;
}

const edges = (values: readonly number[]): number[] => [...new Set(values)].sort((a, b) => a - b);
