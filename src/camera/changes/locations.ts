/** Locations of an observation, and the overlap tests that associate them. Boxes are fractions of the frame. */
import { areaOf, type Box, FULL_FRAME, isMostlyIn, overlap, type Side, sharedArea } from '../../base/images.js';
import type { ChangeRegion, FoundChange } from '../../schemas/change.js';
import { CHANGE_KINDS, SIDES_OF_KIND } from '../../schemas/kinds.js';
import { lastRegions } from '../../schemas/shown-change.js';
import { captionOfKind, describeLocation, regionsOfKind } from './captions.js';
import type { Location, Observation } from './state.js';

type Regions = readonly ChangeRegion[];

/**
 * Share of the smaller box that two boxes of one location have in common (set, not fitted). The smaller box counts
 * instead of the union, because regions of the change map merge and separate again as people pass each other.
 */
const MIN_OVERLAP = 0.3;
/** Least intersection over union of two outlines of one thing, which keeps its size (set, not fitted). */
const MIN_IOU = 0.3;
/**
 * Longest displacement between two frames, in lengths of the thing. Chosen by `npm run bench -- replay` (1 frame/s).
 */
const MAX_DISPLACEMENT = 1;

export const isSameOutline = (a: Box, b: Box): boolean =>
  sharedArea(a, b) >= MIN_IOU * (areaOf(a) + areaOf(b) - sharedArea(a, b));

/** Whether a lost part of the frame hides a part of a region. */
export const isLost = (regions: Regions, lost: readonly Box[] = []): boolean =>
  regions.some(({ box }) => lost.some((part) => sharedArea(part, box) > 0));

/** Whether parts of the view hide at least half of a region. */
export const isMostlyBehind = (regions: Regions, parts: readonly Box[] = []): boolean =>
  regions.some(({ box }) => isMostlyIn(box, parts));

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
  settled: Pick<FoundChange, 'kind' | 'regions' | 'last_regions'>,
  location: Pick<Location, 'kind' | 'regions'>,
): 'undoes' | 'repeats' | null {
  if (location.kind === 'tamper' || settled.kind === 'tamper') {
    return location.kind === settled.kind ? 'undoes' : null;
  }
  const outlines = lastRegions(settled);
  const hasOutlines = ({ onSameSide }: { onSameSide: boolean }) =>
    regionsOfKind(location.kind, location.regions).every((region) =>
      outlines.some((other) => (other.side === region.side) === onSameSide && isSameOutline(region.box, other.box)),
    );
  if (hasOutlines({ onSameSide: true })) return 'repeats';
  return location.kind !== 'replace' && hasOutlines({ onSameSide: false }) ? 'undoes' : null;
}

/**
 * The locations of an observation in descending order of score:
 * - tampering is one location, the whole frame;
 * - a change without regions is one location as well, the whole frame, because the thing may be anywhere;
 * - regions of both frames that overlap are one location, with further ones that no statement is about;
 * - the two regions that a statement of a move names are one location; without such a statement, if the comparison
 *   found a move, the strongest unpaired regions of both frames are.
 */
export function locationsOf(observation: Observation): Location[] {
  const { verdict, kind, confidence, caption, regions } = observation;
  if (verdict === 'tamper') {
    return [{ kind: 'tamper', regions: [fullFrame('after', 1, confidence)], caption, stated: true }];
  }
  if (verdict !== 'change') return [];
  if (regions.length === 0) {
    const known = kind === 'none' || kind === 'multi' ? 'replace' : kind;
    // The area is unknown: 0 keeps severity rules with `min_area` from matching.
    const everywhere = SIDES_OF_KIND[known].map((side) => fullFrame(side, 0, confidence));
    return [{ kind: known, regions: everywhere, caption: captionOfKind(known, caption), stated: false }];
  }
  const groups = groupByOverlap(observation);
  const toLocation = (group: Regions) => locationOf(group, observation);
  const ends = endsOfMove(groups, observation);
  if (ends === null) return groups.map(toLocation);
  const others = groups.filter((group) => !ends.includes(group));
  return [describeLocation('move', ['move'], ends.flat(), observation), ...others.map(toLocation)];
}

/** The groups of a thing that moved far, one region each: named by a statement, or implied by the kind. */
function endsOfMove(
  groups: readonly Regions[],
  { kind, statements }: Observation,
): readonly [before: Regions, after: Regions] | null {
  const isStated = (regions: Regions): boolean =>
    statements?.some((one) => one.kind === 'move' && regions.every((region) => one.regions.includes(region))) ?? false;
  const single = (side: Side, where: (group: Regions) => boolean) =>
    groups.find((group) => group.length === 1 && group[0]?.side === side && where(group));
  const ends = (where: (group: Regions) => boolean) => {
    const [before, after] = [single('before', where), single('after', where)];
    return before === undefined || after === undefined ? null : ([before, after] as const);
  };
  return ends(isStated) ?? (kind === 'move' ? ends(() => true) : null);
}

/**
 * Pairs each region with an overlapping one of the other frame; any other region is a group of its own. A thing may
 * hide or uncover several regions: those that no statement is about join it, too.
 */
function groupByOverlap({ regions, statements }: Pick<Observation, 'regions' | 'statements'>): ChangeRegion[][] {
  const isStated = (region: ChangeRegion) => statements?.some((one) => one.regions.includes(region)) ?? true;
  const groups: [ChangeRegion, ...ChangeRegion[]][] = [];
  for (const region of regions) {
    const partner = groups.find(
      ([first, ...others]) =>
        first.side !== region.side && isSameLocation([first], [region]) && (others.length === 0 || !isStated(region)),
    );
    if (partner === undefined) groups.push([region]);
    else partner.push(region);
  }
  return groups;
}

/**
 * A thing that one frame shows appeared or disappeared. If both frames show something at one location, a statement says
 * what happened: the other frame may only show what the thing hid.
 */
function locationOf(regions: Regions, observation: Observation): Location {
  const [first, ...others] = regions;
  if (others.length > 0) return describeLocation('replace', CHANGE_KINDS, regions, observation);
  const kind = first?.side === 'before' ? 'disappear' : 'appear';
  return describeLocation(kind, [kind], regions, observation);
}

const fullFrame = (side: Side, area: number, score: number): ChangeRegion => ({
  side,
  box: FULL_FRAME,
  area,
  score,
  zone: null,
});
