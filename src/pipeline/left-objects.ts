/**
 * Objects left and removed: things that do not move by themselves and that came or went, each with the person who may
 * have put it down or taken it. Vehicles park and animals rest, so that neither is left nor removed.
 */
import { lengthsBetween } from '../base/images.js';
import type { MapRegion } from '../model/regions.js';
import { OBJECT_KIND_OF, type ObjectKind, OWNER_WITHIN } from '../schemas/kinds.js';
import type { LocationFact } from './location-statement.js';

export interface LeftObject {
  readonly value: ObjectKind;
  /** that the thing came or went, and that it is an object, 0..1 */
  readonly probability: number;
  /** region of the person; null: none is near */
  readonly owner: MapRegion | null;
}

/**
 * @param all facts of the comparison
 * @returns null unless an object came or went. Two frames do not show whether it stays.
 */
export function leftObjectOf(fact: LocationFact, all: readonly LocationFact[]): LeftObject | null {
  const { kind, class: likely, regions } = fact;
  if ((kind.value !== 'appear' && kind.value !== 'disappear') || !is('object', fact) || likely === null) return null;
  return {
    value: OBJECT_KIND_OF[kind.value],
    probability: kind.probability * likely.probability,
    owner: ownerOf(regions, all),
  };
}

/** The region of a person, in either frame, that is nearest to the object, except for its own regions. */
function ownerOf(outline: readonly MapRegion[], all: readonly LocationFact[]): MapRegion | null {
  const candidates = all
    .filter((fact) => is('person', fact))
    .flatMap(({ regions }) => regions)
    .filter((region) => !outline.includes(region))
    .map((region) => ({ region, distance: Math.min(...outline.map(({ box }) => lengthsBetween(box, region.box))) }))
    .filter(({ distance }) => distance <= OWNER_WITHIN)
    .sort((a, b) => a.distance - b.distance);
  return candidates[0]?.region ?? null;
}

/** A class counts if it is as probable as all others together. */
const is = (value: string, { class: likely }: LocationFact): boolean =>
  likely !== null && likely.value === value && likely.probability >= 0.5;
