/**
 * Measurements of a changed region that separate the scene from the lens. The optics focus on the scene, so what lies
 * on the glass or flies close to it has no sharp edge, and light leaves the edges of the scene where they are. The
 * blur of an edge shows in the ratio of its gradients at two scales (after Zhuo and Sim, "Defocus map estimation from a
 * single image", Pattern Recognition 2011). Water, webs and dust show the colours of the scene behind them, and a thing
 * its own.
 */
import type { Box, RgbImage, Side } from '../../base/images.js';
import { halved, type Plane, plane, withPlaneMemory } from '../planes.js';
import type { Part } from '../squares.js';
import { select } from '../statistics.js';
import { aroundEach, type Gradient, largest, lumaOf, scalesOf } from './planes.js';

/** The frame whose map shows the region is "own", the other one "other". "wide" is of twice the scale. */
export interface LensMeasurements {
  /** log ratio of fine to coarse gradient at the edges that the other frame lacks */
  readonly ownSteep: number;
  /** log of the strength of these edges, at two scales */
  readonly ownEdge: number;
  readonly ownEdgeWide: number;
  /** log of the strongest fine gradients that changed, and of the strongest coarse ones */
  readonly ownFine: number;
  readonly otherFine: number;
  readonly ownCoarse: number;
  readonly otherCoarse: number;
  /** correlation of both frames' gradients, where the frames differ, at three scales, -1..1 */
  readonly fineKept: number;
  readonly middleKept: number;
  readonly wideKept: number;
  /** log of the mean difference; its share that is of one sign, 0..1 */
  readonly change: number;
  readonly oneSided: number;
  /** brightness of the changed pixels, 0..2, and the share of black ones */
  readonly light: number;
  readonly black: number;
  /** log of how far the mean colour of the changed pixels is from that of the other frame, without its brightness */
  readonly hue: number;
  /** share of the pixels read that changed; log of their share of the frame; log of height by width of the region */
  readonly fill: number;
  readonly size: number;
  readonly aspect: number;
}

/** Pixels of the longer side of the frame that are read. */
const WORKING = 960;
/** Shares of the frame that are added around a box: a cell of the change maps, because edges stick out of it. */
const MARGIN = { x: 1 / 36, y: 1 / 24 };
/** Working pixels per side that are read: more around a small region, the middle of a large one. */
const LEAST = 32;
const MOST = 256;
/** Levels per working pixel that are added to gradients, so that noise has no ratio. */
const NOISE = 1.2;
/** Levels: mean difference of 4 x 4 working pixels from which they belong to what changed. */
const DIFFERS = 6;
/** Levels: a silhouette before a bright scene is darker. */
const BLACK = 25;

/** @param frames of one size, `after` in the view of `before`. @param box of a region of the change map of `side` */
export const measureRegion = (frames: Readonly<Record<Side, RgbImage>>, side: Side, box: Box): LensMeasurements =>
  withPlaneMemory(() => measured(frames, side, box));

function measured(frames: Readonly<Record<Side, RgbImage>>, side: Side, box: Box): LensMeasurements {
  const part = partOf(frames.after, box);
  const mine = lumaOf(frames[side], part);
  const theirs = lumaOf(frames[side === 'after' ? 'before' : 'after'], part);
  const mask = halved(halved(difference(mine, theirs)));
  const [a, b] = [scalesOf(mine), scalesOf(theirs)];
  const { width, height } = frames.after;
  const edges = exclusive(a[2], b[2]);
  const [fine, otherFine] = [largest(largest(a[0])), largest(largest(b[0]))];
  return {
    ownSteep: steepness(fine, a[2], edges),
    ownEdge: Math.log(meanOfLargest(edges, 0.05) + 0.3),
    ownEdgeWide: Math.log(meanOfLargest(exclusive(a[3], b[3]), 0.08) + 0.3),
    ownFine: Math.log(meanOfLargest(fine.data, 0.1, mask) + 1),
    otherFine: Math.log(meanOfLargest(otherFine.data, 0.1, mask) + 1),
    ownCoarse: Math.log(meanOfLargest(a[2].data, 0.1) + 0.5),
    otherCoarse: Math.log(meanOfLargest(b[2].data, 0.1) + 0.5),
    fineKept: correlation(a[0], b[0], mask),
    middleKept: correlation(a[1], b[1], mask),
    wideKept: correlation(a[3], b[3], mask),
    ...lightOf(mine, theirs, mask, frames.after, part.step),
    hue: hueOf(frames, part, mask),
    aspect: Math.log((box.height * height) / (box.width * width)),
  };
}

function difference(mine: Plane, theirs: Plane): Plane {
  const out = plane(mine);
  for (let i = 0; i < out.data.length; i++) {
    out.data[i] = Math.abs((mine.data[i] as number) - (theirs.data[i] as number));
  }
  return out;
}

function partOf({ width: all, height: rows }: RgbImage, box: Box): Part {
  const step = Math.max(1, Math.round(Math.max(all, rows) / WORKING));
  const [left, width] = spanOf(box.x, box.width, MARGIN.x, Math.floor(all / step));
  const [top, height] = spanOf(box.y, box.height, MARGIN.y, Math.floor(rows / step));
  return { left: left * step, top: top * step, width, height, step };
}

/** @returns first working pixel and number of them, of `length` */
function spanOf(start: number, size: number, margin: number, length: number): [number, number] {
  const wanted = Math.min(length, MOST, Math.max(LEAST, Math.round((size + 2 * margin) * length)));
  const first = Math.round((start + size / 2) * length - wanted / 2);
  return [Math.min(Math.max(0, first), length - wanted), wanted];
}

/** Per value how much stronger the gradient is than near it in the other frame; 0 below a third of the strongest. */
function exclusive(mine: Gradient, theirs: Gradient): Float32Array {
  const near = aroundEach(theirs).data;
  const edges = plane(mine).data;
  let most = 0;
  for (let i = 0; i < edges.length; i++) {
    edges[i] = Math.max(0, (mine.data[i] as number) - (near[i] as number));
    if ((edges[i] as number) > most) most = edges[i] as number;
  }
  for (let i = 0; i < edges.length; i++) if ((edges[i] as number) < most / 3) edges[i] = 0;
  return edges;
}

/** Mean log ratio of the finest gradient to that at a quarter of the size, weighted by `edges` of that size. */
function steepness(finest: Plane, { width, data: coarse }: Gradient, edges: Float32Array): number {
  const fine = aroundEach(finest);
  let sum = 0;
  let weights = 0;
  for (let i = 0; i < edges.length; i++) {
    const weight = edges[i] as number;
    if (weight === 0) continue;
    const size = fine.data[Math.floor(i / width) * fine.width + (i % width)];
    if (size === undefined) continue;
    sum += weight * Math.log((size + NOISE) / ((coarse[i] as number) + NOISE));
    weights += weight;
  }
  return weights > 0 ? sum / weights : 0;
}

/**
 * @param values at least 0: zeros need no place in the order. @param share of all values
 * @param mask of as many values, if only those count that are where the frames differ
 */
function meanOfLargest(values: Float32Array, share: number, mask?: Plane): number {
  const kept = new Float32Array(values.length);
  let length = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value > 0 && (mask === undefined || (mask.data[i] as number) > DIFFERS)) kept[length++] = value;
  }
  const count = Math.max(1, Math.round(values.length * share));
  const first = Math.max(0, length - count);
  select(kept.subarray(0, length), first);
  const ordered = kept.subarray(first, length).sort();
  return ordered.reduce((sum, value) => sum + value, 0) / count;
}

/** Correlation of both frames' gradients where they differ, -1..1. @param mask at a quarter of the finest plane */
function correlation(a: Gradient, b: Gradient, mask: Plane): number {
  const scale = mask.width / a.width;
  let product = 0;
  let ofA = 1;
  let ofB = 1;
  for (let y = 0; y < a.height; y++) {
    const row = Math.floor(y * scale) * mask.width;
    for (let x = 0; x < a.width; x++) {
      if (!((mask.data[row + Math.floor(x * scale)] as number) > DIFFERS)) continue;
      const i = y * a.width + x;
      const p = a.dx[i] as number;
      const q = a.dy[i] as number;
      const r = b.dx[i] as number;
      const s = b.dy[i] as number;
      product += p * r + q * s;
      ofA += p * p + q * q;
      ofB += r * r + s * s;
    }
  }
  return product / Math.sqrt(ofA * ofB);
}

/** How bright the changed pixels are and how much they differ, and how many of the frame they are. */
function lightOf(mine: Plane, theirs: Plane, mask: Plane, frame: RgbImage, step: number) {
  let count = 0;
  let sum = 0;
  let absolute = 0;
  let light = 0;
  let black = 0;
  for (let y = 0; y < mask.height * 4; y++) {
    const row = (y >> 2) * mask.width;
    for (let x = 0; x < mask.width * 4; x++) {
      if (!((mask.data[row + (x >> 2)] as number) > DIFFERS)) continue;
      const level = mine.data[y * mine.width + x] as number;
      const difference = level - (theirs.data[y * mine.width + x] as number);
      count++;
      sum += difference;
      absolute += Math.abs(difference);
      light += level;
      if (level < BLACK) black++;
    }
  }
  const n = Math.max(1, count);
  return {
    change: Math.log(absolute / n + 1),
    oneSided: Math.abs(sum) / (absolute + 1),
    light: light / n / 128,
    black: black / n,
    fill: count / (mine.width * mine.height),
    size: Math.log(((count + 16) * step * step) / (frame.width * frame.height)),
  };
}

/** Reads every second changed pixel in both directions. @param mask at a quarter of the part */
function hueOf({ before, after }: Readonly<Record<Side, RgbImage>>, { left, top, step }: Part, mask: Plane): number {
  let count = 0;
  let red = 0;
  let blue = 0;
  for (let y = 0; y < mask.height * 4; y += 2) {
    const row = (y >> 2) * mask.width;
    for (let x = 0; x < mask.width * 4; x += 2) {
      if (!((mask.data[row + (x >> 2)] as number) > DIFFERS)) continue;
      const at = ((top + y * step) * after.width + left + x * step) * 3;
      const green = (after.data[at + 1] as number) - (before.data[at + 1] as number);
      red += (after.data[at] as number) - (before.data[at] as number) - green;
      blue += (after.data[at + 2] as number) - (before.data[at + 2] as number) - green;
      count++;
    }
  }
  return Math.log(Math.hypot(red, blue) / Math.max(1, count) + 1);
}
