/** Locations of an observation, and the overlap tests that associate them. Boxes are fractions of the frame. */
import { areaOf, type Box, type Side, sharedArea } from '../images.js';
import type { ChangeKind, ChangeRegion } from '../schemas/change.js';
import type { Location, Observation } from './state.js';

type Regions = readonly ChangeRegion[];

/**
 * Share of the smaller box that two boxes of one location have in common (set, not fitted). The smaller box counts
 * instead of the union, because regions of the change map merge and separate again as people pass each other.
 */
const MIN_OVERLAP = 0.3;
/** Least intersection over union of two outlines of one thing, which keeps its size (set, not fitted). */
const MIN_IOU = 0.3;
/** Longest displacement between two frames, in lengths of the thing. Chosen by `npm run bench:replay` (1 frame/s). */
const MAX_DISPLACEMENT = 1;

const overlap = (a: Box, b: Box): number => sharedArea(a, b) / Math.min(areaOf(a), areaOf(b));
const isSameOutline = (a: Box, b: Box): boolean =>
  sharedArea(a, b) >= MIN_IOU * (areaOf(a) + areaOf(b) - sharedArea(a, b));

/** Whether any two of their boxes overlap by MIN_OVERLAP. */
export const isSameLocation = (a: Regions, b: Regions): boolean =>
  a.some((one) => b.some((other) => overlap(one.box, other.box) >= MIN_OVERLAP));

/**
 * Distance between the centres of the nearest two boxes, in lengths of the longest of their sides: a person or a car
 * moves about one length per frame. Infinite above MAX_DISPLACEMENT.
 */
export function displacement(a: Regions, b: Regions): number {
  const least = Math.min(...a.flatMap((one) => b.map((other) => centreDistance(one.box, other.box))));
  return least <= MAX_DISPLACEMENT ? least : Number.POSITIVE_INFINITY;
}

function centreDistance(a: Box, b: Box): number {
  const dx = a.x + a.width / 2 - (b.x + b.width / 2);
  const dy = a.y + a.height / 2 - (b.y + b.height / 2);
  return Math.hypot(dx, dy) / Math.max(a.width, a.height, b.width, b.height);
}

/**
 * Relation of a location to a settled change. 'undoes': the same outlines are visible in the other frame, so the thing
 * that came has gone, or the reverse. 'repeats': they are visible in the same frame, because the background of another
 * light never showed the change.
 */
export function relationTo(
  settled: { readonly kind: ChangeKind; readonly regions: Regions },
  location: Location,
): 'undoes' | 'repeats' | null {
  if (location.kind === 'tamper' || settled.kind === 'tamper') {
    return location.kind === settled.kind ? 'undoes' : null;
  }
  const hasOutlines = ({ onSameSide }: { onSameSide: boolean }) =>
    location.regions.every((region) =>
      settled.regions.some(
        (other) => (other.side === region.side) === onSameSide && isSameOutline(region.box, other.box),
      ),
    );
  if (hasOutlines({ onSameSide: true })) return 'repeats';
  return location.kind !== 'replace' && hasOutlines({ onSameSide: false }) ? 'undoes' : null;
}

/**
 * The locations of an observation in descending order of score:
 * - tampering is one location, the whole frame;
 * - a change without regions is one location as well, the whole frame, because the thing may be anywhere;
 * - regions of both frames that overlap are one location;
 * - if the comparison found a move, the strongest unpaired regions of both frames are one location.
 */
export function locationsOf({ verdict, kind, confidence, regions }: Observation): Location[] {
  if (verdict === 'tamper') return [{ kind: 'tamper', regions: [wholeFrame(1, confidence)] }];
  if (verdict !== 'change') return [];
  if (regions.length === 0) {
    // The area is unknown: 0 keeps severity rules with `min_area` from matching.
    const known = kind === 'none' || kind === 'multi' ? 'replace' : kind;
    return [{ kind: known, regions: [wholeFrame(0, confidence)] }];
  }
  const groups = groupByOverlap(regions);
  const unpaired = (side: Side) => groups.findIndex((group) => group.length === 1 && group[0]?.side === side);
  const [from, to] = [unpaired('before'), unpaired('after')];
  if (kind !== 'move' || from < 0 || to < 0) return groups.map(toLocation);
  const moved = [...(groups[from] ?? []), ...(groups[to] ?? [])];
  const others = groups.filter((_group, i) => i !== from && i !== to);
  return [{ kind: 'move', regions: moved }, ...others.map(toLocation)];
}

/** Pairs each region with an overlapping one of the other frame; any other region is a group of its own. */
function groupByOverlap(regions: Regions): ChangeRegion[][] {
  const groups: ChangeRegion[][] = [];
  for (const region of regions) {
    const partner = groups.find(
      (group) => group.length === 1 && group[0]?.side !== region.side && isSameLocation(group, [region]),
    );
    if (partner === undefined) groups.push([region]);
    else partner.push(region);
  }
  return groups;
}

function toLocation(regions: Regions): Location {
  const sides = new Set(regions.map(({ side }) => side));
  return { kind: sides.size === 2 ? 'replace' : sides.has('after') ? 'appear' : 'disappear', regions };
}

const wholeFrame = (area: number, score: number): ChangeRegion => ({
  side: 'after',
  box: { x: 0, y: 0, width: 1, height: 1 },
  area,
  score,
  zone: null,
});
