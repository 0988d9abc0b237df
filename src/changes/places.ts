/** Where something differs, and whether two places are one. Boxes are fractions of the frame. */

import { areaOf, type Box, type Side, sharedArea } from '../images.js';
import type { ChangeKind, ChangeRegion } from '../schemas/change.js';
import type { Location, Observation } from './state.js';

/**
 * Share of the smaller box that two boxes of one place have in common. Of the smaller, not of their union: regions of the map melt
 * together and come apart again as people pass each other.
 */
const SAME_PLACE = 0.3;
/** Intersection over union from which two boxes may be of one thing, come and gone: it cannot be much larger or smaller. */
const SAME_OUTLINE = 0.3;
/** Lengths of itself that a thing is followed over, from one frame to the next. */
const REACH = 1;
const wholeFrame = (area: number, score: number): ChangeRegion => ({
  side: 'after',
  box: { x: 0, y: 0, width: 1, height: 1 },
  area,
  score,
  zone: null,
});

const overlap = (a: Box, b: Box): number => sharedArea(a, b) / Math.min(areaOf(a), areaOf(b));
const isSameOutline = (a: Box, b: Box): boolean =>
  sharedArea(a, b) >= SAME_OUTLINE * (areaOf(a) + areaOf(b) - sharedArea(a, b));

type Place = readonly ChangeRegion[];

/** Whether any two of their boxes overlap enough. */
export const isSameLocation = (a: Place, b: Place): boolean =>
  a.some((one) => b.some((other) => overlap(one.box, other.box) >= SAME_PLACE));

/**
 * How far apart two places are, in the length of the longer side of their larger box: what walks or drives is one length further in the
 * next frame, not many. The nearest two of their boxes count; infinite beyond REACH.
 */
export function stepsBetweenLocations(a: Place, b: Place): number {
  const steps = Math.min(...a.flatMap((one) => b.map((other) => stepsBetween(one.box, other.box))));
  return steps <= REACH ? steps : Number.POSITIVE_INFINITY;
}

function stepsBetween(a: Box, b: Box): number {
  const dx = a.x + a.width / 2 - (b.x + b.width / 2);
  const dy = a.y + a.height / 2 - (b.y + b.height / 2);
  return Math.hypot(dx, dy) / Math.max(a.width, a.height, b.width, b.height);
}

/**
 * What a sighting is to a change that has settled. undoes: what had come is gone, or the reverse: it shows the same outlines in the other
 * frame. repeats: it shows them in the same frame, as a background learned in another light does, which never saw the change.
 */
export function relation(
  later: Location,
  settled: { readonly kind: ChangeKind; readonly regions: Place },
): 'undoes' | 'repeats' | null {
  if (later.kind === 'tamper' || settled.kind === 'tamper') {
    return later.kind === settled.kind ? 'undoes' : null;
  }
  const onSides = (same: boolean) =>
    later.regions.every((region) =>
      settled.regions.some(
        (other) => (other.side === region.side) === same && isSameOutline(region.box, other.box),
      ),
    );
  if (onSides(true)) return 'repeats';
  return later.kind !== 'replace' && onSides(false) ? 'undoes' : null;
}

/**
 * The places of an observation, the strongest first: regions of both sides that overlap are one place; so are the strongest of each
 * side where something moved; tampering is one place, the whole frame; so is a change of which no region is known, which may be anywhere.
 */
export function locationsOf(observation: Observation): Location[] {
  const { verdict, kind, confidence } = observation;
  if (verdict === 'tamper') return [{ kind: 'tamper', regions: [wholeFrame(1, confidence)] }];
  if (verdict !== 'change') return [];
  if (observation.regions.length === 0) {
    // no area that is known, so that no rule about large changes applies
    return [
      { kind: kind === 'none' || kind === 'multi' ? 'replace' : kind, regions: [wholeFrame(0, confidence)] },
    ];
  }
  const places: ChangeRegion[][] = [];
  for (const region of observation.regions) {
    const twin = places.find(
      (place) => place.length === 1 && place[0]?.side !== region.side && isSameLocation(place, [region]),
    );
    if (twin === undefined) places.push([region]);
    else twin.push(region);
  }
  const alone = (side: Side) => places.findIndex((place) => place.length === 1 && place[0]?.side === side);
  const [from, to] = [alone('before'), alone('after')];
  if (kind === 'move' && from >= 0 && to >= 0) {
    const moved = [...(places[from] ?? []), ...(places[to] ?? [])];
    const others = places.filter((_place, i) => i !== from && i !== to);
    return [{ kind: 'move', regions: moved }, ...others.map(sighting)];
  }
  return places.map(sighting);
}

function sighting(regions: readonly ChangeRegion[]): Location {
  const sides = new Set(regions.map(({ side }) => side));
  return { kind: sides.size === 2 ? 'replace' : sides.has('after') ? 'appear' : 'disappear', regions };
}
