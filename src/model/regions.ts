/** Where the maps say that something changed: connected components, and which of them deserve a second glance. */
import { areaOf, type Box, type Heatmap, type Side, sharedArea } from '../images.js';
import type { Manifest } from './manifest.js';
import type { PixelBox } from './preprocess.js';

export interface MapRegion {
  readonly side: Side;
  /** fractions of the frame, whole cells */
  readonly box: Box;
  /** share of the frame that its cells cover */
  readonly area: number;
  /** mean of the map inside it */
  readonly score: number;
}

/** Strong and large first: mean score * sqrt(area). */
export const strength = (region: Pick<MapRegion, 'score' | 'area'>): number =>
  region.score * Math.sqrt(region.area);

/** Components (4-neighbourhood) of both maps, the strongest first. */
export function findRegions(
  maps: { readonly before: Heatmap; readonly after: Heatmap },
  rule: Manifest['regions'],
): MapRegion[] {
  const found = [...components(maps.before, 'before', rule), ...components(maps.after, 'after', rule)];
  return found.sort((a, b) => strength(b) - strength(a));
}

function components(map: Heatmap, side: Side, rule: Manifest['regions']): MapRegion[] {
  const { width, height, data } = map;
  const seen = new Uint8Array(data.length);
  const isHot = (cell: number): boolean => seen[cell] === 0 && (data[cell] as number) >= rule.threshold;
  const regions: MapRegion[] = [];
  for (let start = 0; start < data.length; start++) {
    if (!isHot(start)) continue;
    const cells = [start];
    seen[start] = 1;
    let [left, top, right, bottom, sum] = [width, height, 0, 0, 0];
    for (const cell of cells) {
      // grows while it is walked
      const x = cell % width;
      const y = (cell - x) / width;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y + 1);
      sum += data[cell] as number;
      const neighbours = [
        x > 0 ? cell - 1 : -1,
        x + 1 < width ? cell + 1 : -1,
        y > 0 ? cell - width : -1,
        y + 1 < height ? cell + width : -1,
      ];
      for (const next of neighbours) {
        if (next < 0 || !isHot(next)) continue;
        seen[next] = 1;
        cells.push(next);
      }
    }
    if (cells.length < rule.min_cells) continue;
    regions.push({
      side,
      box: {
        x: left / width,
        y: top / height,
        width: (right - left) / width,
        height: (bottom - top) / height,
      },
      area: cells.length / data.length,
      score: sum / cells.length,
    });
  }
  return regions;
}

/** A place that is looked at closely, in both frames. All boxes are fractions of the frame. */
export interface Glance {
  /** what is cropped: a square in pixels, inside the frame */
  readonly crop: Box;
  /** the region, or the union of a before- and an after-region at the same place */
  readonly object: Box;
}

/** A before- and an after-region that overlap more are one place: something was replaced, or moved a little. */
const SAME_PLACE_IOU = 0.1;
/** A place of which more lies inside a stronger one is a part of what changed there: a table's edge that somebody now hides. */
const PART_OF = 0.8;

/**
 * The strongest places, at most as many as the bundle looks at.
 * @param regions the strongest first
 * @param frame width and height in pixels (only their ratio matters)
 */
export function chooseGlances(
  regions: readonly MapRegion[],
  frame: { readonly width: number; readonly height: number },
  rule: NonNullable<Manifest['glance']>,
): Glance[] {
  const places: { box: Box; strength: number }[] = [];
  const free = new Set(regions);
  for (const region of regions) {
    if (!free.delete(region)) continue;
    const twin = bestOverlap(region, free);
    if (twin !== undefined) free.delete(twin);
    places.push({
      box: twin === undefined ? region.box : union(region.box, twin.box),
      strength: Math.max(strength(region), twin === undefined ? 0 : strength(twin)),
    });
  }
  places.sort((a, b) => b.strength - a.strength);
  return places
    .filter(
      ({ box }, i) => !places.slice(0, i).some((other) => sharedArea(box, other.box) > PART_OF * areaOf(box)),
    )
    .slice(0, rule.regions)
    .map(({ box }) => ({ object: box, crop: cropAround(box, frame, rule) }));
}

/** The box on an image of `width` x `height` pixels. */
export const toPixels = (box: Box, image: { readonly width: number; readonly height: number }): PixelBox => ({
  x: box.x * image.width,
  y: box.y * image.height,
  width: box.width * image.width,
  height: box.height * image.height,
});

/** A square around the box with some context, which tells what a far object is; not below `min_side`, where it shows only blur. */
function cropAround(
  box: Box,
  frame: { readonly width: number; readonly height: number },
  rule: NonNullable<Manifest['glance']>,
): Box {
  const { width, height } = frame;
  const { x, y, width: w, height: h } = toPixels(box, frame);
  const wanted = Math.max(Math.max(w, h) * rule.margin, rule.min_side * width);
  const side = Math.min(wanted, width, height);
  const left = Math.min(Math.max(x + w / 2 - side / 2, 0), width - side);
  const top = Math.min(Math.max(y + h / 2 - side / 2, 0), height - side);
  return { x: left / width, y: top / height, width: side / width, height: side / height };
}

function bestOverlap(region: MapRegion, others: Iterable<MapRegion>): MapRegion | undefined {
  let best: MapRegion | undefined;
  let bestIou = SAME_PLACE_IOU;
  for (const other of others) {
    if (other.side === region.side) continue;
    const iou = intersectionOverUnion(region.box, other.box);
    if (iou > bestIou) [best, bestIou] = [other, iou];
  }
  return best;
}

export function intersectionOverUnion(a: Box, b: Box): number {
  const both = sharedArea(a, b);
  return both === 0 ? 0 : both / (areaOf(a) + areaOf(b) - both);
}

function union(a: Box, b: Box): Box {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  return {
    x,
    y,
    width: Math.max(a.x + a.width, b.x + b.width) - x,
    height: Math.max(a.y + a.height, b.y + b.height) - y,
  };
}
