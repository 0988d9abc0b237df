/** Regions: connected components of the change maps, and the region crops that are cut around the strongest of them. */
import {
  areaOf,
  type Box,
  boxOfCells,
  connectedCells,
  type Heatmap,
  type Side,
  type Size,
  sharedArea,
  union,
} from '../base/images.js';
import type { BundleManifest, CropRule } from './manifest.js';
import type { PixelBox } from './preprocess.js';

export interface MapRegion {
  readonly side: Side;
  /** fractions of the frame, on the borders of cells */
  readonly box: Box;
  /** share of the frame that its cells cover, 0..1 */
  readonly area: number;
  /** mean of the map over its cells, 0..1 */
  readonly score: number;
  /** probability that it lies in the scene, 0..1; absent: it was not looked at */
  readonly scene?: number;
}

/** Rank of a region: score * sqrt(area), so that both a strong and a large region count. */
const strength = (region: Pick<MapRegion, 'score' | 'area'>): number => region.score * Math.sqrt(region.area);

/** @returns the components (4-neighbourhood) of both maps, the strongest first */
export function findRegions(
  maps: { readonly before: Heatmap; readonly after: Heatmap },
  rule: BundleManifest['regions'],
): MapRegion[] {
  const found = [...components(maps.before, 'before', rule), ...components(maps.after, 'after', rule)];
  return found.sort((a, b) => strength(b) - strength(a));
}

/** @returns where the maps show most, as a region, for a change that no region shows; null: they show nothing */
export function strongestPlace(maps: { readonly before: Heatmap; readonly after: Heatmap }): MapRegion | null {
  const places = (['before', 'after'] as const).flatMap((side) => {
    const threshold = maps[side].data.reduce((most, value) => Math.max(most, value), 0) / 2;
    return threshold > 0 ? components(maps[side], side, { threshold, min_cells: 1 }) : [];
  });
  return places.sort((a, b) => strength(b) - strength(a))[0] ?? null;
}

function components(map: Heatmap, side: Side, rule: BundleManifest['regions']): MapRegion[] {
  const { width, height, data } = map;
  const open = Uint8Array.from(data, (value) => Number(value >= rule.threshold));
  const regions: MapRegion[] = [];
  for (const [start, state] of open.entries()) {
    if (state !== 1) continue;
    const cells = connectedCells(open, start, width);
    const score = cells.reduce((sum, cell) => sum + (data[cell] as number), 0) / cells.length;
    // A bag that is far away covers one cell: a strong component counts with fewer cells, too.
    if (cells.length < rule.min_cells && score < (rule.strong ?? Number.POSITIVE_INFINITY)) continue;
    regions.push({ side, box: boxOfCells(cells, width, height), area: cells.length / data.length, score });
  }
  return regions;
}

/** A square around a region, cut from both frames. Boxes are fractions of the frame. */
export interface RegionCrop {
  /** the crop: a square in pixels, inside the frame */
  readonly crop: Box;
  /** the region, or the union of two regions at one location, one per frame */
  readonly object: Box;
  /** the one or two regions of the location */
  readonly regions: readonly MapRegion[];
}

/**
 * A region of `before` and one of `after` with a larger IoU are one location: a thing was replaced, or moved a little.
 */
const SAME_LOCATION_IOU = 0.1;
/**
 * A location of which a larger share lies in a stronger one is part of that change: the edge of a table that a person
 * hides.
 */
const PART_SHARE = 0.8;

/**
 * Chooses the strongest locations, at most `rule.regions` of them.
 * @param regions the strongest first
 * @param frame width and height in pixels (only their ratio matters)
 */
export function chooseRegionCrops(regions: readonly MapRegion[], frame: Size, rule: CropRule): RegionCrop[] {
  const locations: { box: Box; strength: number; regions: readonly MapRegion[] }[] = [];
  const free = new Set(regions);
  for (const region of regions) {
    if (!free.delete(region)) continue;
    const twin = bestOverlap(region, free);
    if (twin !== undefined) free.delete(twin);
    locations.push({
      box: twin === undefined ? region.box : union(region.box, twin.box),
      strength: Math.max(strength(region), twin === undefined ? 0 : strength(twin)),
      regions: twin === undefined ? [region] : [region, twin],
    });
  }
  locations.sort((a, b) => b.strength - a.strength);
  return locations
    .filter(({ box }, i) => !locations.slice(0, i).some((other) => isPartOf(box, other.box)))
    .slice(0, rule.regions)
    .map(({ box, regions: members }) => ({ object: box, crop: cropAround(box, frame, rule), regions: members }));
}

const isPartOf = (box: Box, stronger: Box): boolean => sharedArea(box, stronger) > PART_SHARE * areaOf(box);

/** The crop around one region alone. */
export const cropOfRegion = (region: MapRegion, frame: Size, rule: CropRule): RegionCrop => ({
  object: region.box,
  crop: cropAround(region.box, frame, rule),
  regions: [region],
});

/** @returns the box in pixels of `image` */
export const toPixels = (box: Box, image: Size): PixelBox => ({
  x: box.x * image.width,
  y: box.y * image.height,
  width: box.width * image.width,
  height: box.height * image.height,
});

/**
 * @returns a square around the box, with a margin of context and at least `min_side`, below which a crop shows only
 *   blur
 */
function cropAround(box: Box, frame: Size, rule: CropRule): Box {
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
  let bestIou = SAME_LOCATION_IOU;
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
