/**
 * Objects left and removed: a change counts as one as soon as an object that came, or went, has stayed so for
 * `left_after_s`. Only the time between two observations in a row that both prove it counts, so that weather,
 * tampering, a person in front of it or a picture that is repeated stop the clock. Pure.
 */
import { areaOf, lengthsBetween, overlapsBy, sharedArea } from '../../base/images.js';
import type { ChangeRegion, FoundChange } from '../../schemas/change.js';
import type { ChangeKind } from '../../schemas/kinds.js';
import { OBJECT_KIND_OF, OWNER_WITHIN } from '../../schemas/kinds.js';
import { isSameOutline } from './locations.js';
import type { ChangeRules } from './rules.js';
import type { Location, Observation, PersonSighting, Still, TrackerState } from './state.js';

/** Least mean probability that the thing is an object. */
const LEAST_PROBABILITY = 0.5;
/** Time for which a person may be an owner after the frame that showed them, and a bound of the state (both set). */
const REMEMBERED_MS = 30_000;
const MAX_PEOPLE = 32;
/** Share that two outlines of one small object have in common, and how often one has the area of the other (set). */
const LEAST_PART = 0.5;
const COARSE = 6;
/** Share of an outline that a thing in front of it covers (set). */
const COVERED = 0.8;

type ObjectChange = keyof typeof OBJECT_KIND_OF;
const isObjectChange = (kind: ChangeKind): kind is ObjectChange => Object.hasOwn(OBJECT_KIND_OF, kind);

/** The people of the last seconds, with those of this observation. */
export function peopleOf(
  { people, at: last }: Pick<TrackerState, 'people' | 'at'>,
  { things = [], comparisonId, at }: Observation,
  { before }: Pick<ChangeRules, 'before'>,
): PersonSighting[] {
  const seen = things
    .filter((thing) => thing.class === 'person')
    .flatMap(({ regions }) => regions)
    .flatMap(({ side, box }): PersonSighting[] => {
      if (side === 'after') return [{ comparison: comparisonId, at, box }];
      // Only a previous frame shows people of the last seconds.
      return before === 'previous' && last !== null ? [{ comparison: comparisonId, at: last, box }] : [];
    });
  return [...people, ...seen].filter((one) => at - one.at <= REMEMBERED_MS).slice(-MAX_PEOPLE);
}

/**
 * The knowledge about a thing after this frame showed it.
 * @param known before this frame; null: nothing
 * @param locations that are about this track alone; empty: it shares all of them with other tracks
 * @param last capture time of the observation before, epoch ms
 */
export function followStill(
  known: Still | null,
  locations: readonly Location[],
  { at, things = [], comparisonId, confidence }: Observation,
  { last, people }: { readonly last: number | null; readonly people: readonly PersonSighting[] },
): Still | null {
  const thingOf = ({ regions }: Location) =>
    things.find((one) => one.regions.length > 0 && one.regions.every((region) => regions.includes(region)));
  const isObject = (location: Location) => (thingOf(location)?.object ?? 0) >= LEAST_PROBABILITY;
  const isKnown = (one: Location) =>
    known !== null &&
    ((known.kind === one.kind &&
      (hasSameOutlines(known.regions, one.regions) || (isObject(one) && isPartOf(known, one.regions)))) ||
      isEndOfMove(known, one));
  // The person who puts a thing down, or the place that they left, and the thing may be one track.
  const kept = locations.find(isKnown);
  const found = locations.find(isObject);
  const isObjectKnown = known !== null && probabilityOf(known) >= LEAST_PROBABILITY;
  const location = (isObjectKnown ? (kept ?? found) : (found ?? kept)) ?? locations[0];
  if (location === undefined) return known;
  if (known !== null && !isKnown(location) && isBehind(known, location, at, isObject(location))) return known;
  const { kind, regions, caption } = location;
  if (known !== null && isEndOfMove(known, location)) return staySettled(known, at, last);
  if (!isObjectChange(kind)) return null;
  const thing = thingOf(location);
  if (known === null || !isKnown(location)) {
    if (thing === undefined) return null;
    const best = { comparisonId, caption, confidence, probability: thing.object, regions };
    const owner = ownerOf(regions, people);
    return { kind, regions, since: at, at, ms: 0, frames: 1, object: thing.object, best, owner };
  }
  const longer = { ...known, at, ms: known.ms + (known.at === last ? at - known.at : 0) };
  if (thing === undefined) return longer;
  return {
    ...longer,
    frames: known.frames + 1,
    object: known.object + thing.object,
    best:
      thing.object > known.best.probability
        ? { comparisonId, caption, confidence, probability: thing.object, regions }
        : known.best,
  };
}

/**
 * Treats a settled change alike, which is part of "before": a frame that shows nothing at its location proves that it
 * has stayed.
 */
export const staySettled = (known: Still, at: number, last: number | null): Still => ({
  ...known,
  at,
  ms: known.ms + (known.at === last ? at - known.at : 0),
});

/**
 * Whether the thing is an object, and has stayed long enough. A change may have begun as the person who took it, so
 * that its kind is another one.
 */
export const isLeft = (
  { object }: Pick<FoundChange, 'object'>,
  still: Still | null | undefined,
  { leftAfterMs }: Pick<ChangeRules, 'leftAfterMs'>,
): still is Still =>
  object === undefined &&
  still != null &&
  leftAfterMs !== null &&
  still.ms >= leftAfterMs &&
  probabilityOf(still) >= LEAST_PROBABILITY;

/** @param at capture time of the frame from which it counts, epoch ms */
export const objectOf = (still: Still, at: number): NonNullable<FoundChange['object']> => ({
  value: OBJECT_KIND_OF[still.kind],
  since: new Date(still.since).toISOString(),
  at: new Date(at).toISOString(),
  probability: probabilityOf(still),
  owner: still.owner && { ...still.owner, at: new Date(still.owner.at).toISOString() },
});

/** Whether an object is the known one: regions are coarse, so that the outline of a small thing doubles or halves. */
const isPartOf = (known: Still, regions: readonly ChangeRegion[]): boolean =>
  probabilityOf(known) >= LEAST_PROBABILITY &&
  regions.every(({ box }) =>
    known.regions.some(
      (one) =>
        overlapsBy(one.box, box, LEAST_PART) &&
        Math.max(areaOf(one.box), areaOf(box)) <= COARSE * Math.min(areaOf(one.box), areaOf(box)),
    ),
  );

/**
 * Whether another thing hides what is known for a while: the region is larger and covers it. A region of several things
 * may be named after any of them and cover a part, so that an object waits behind any region that touches it.
 */
const isBehind = (known: Still, { regions }: Location, at: number, isObject: boolean): boolean => {
  if (at - known.at > REMEMBERED_MS) return false;
  const isKnownObject = probabilityOf(known) >= LEAST_PROBABILITY;
  return known.regions.every(({ box }) =>
    regions.some((one) =>
      isKnownObject
        ? sharedArea(one.box, box) > 0
        : !isObject && areaOf(one.box) > areaOf(box) && overlapsBy(one.box, box, COVERED),
    ),
  );
};

/** Whether a move begins or ends at the known outline: each new thing in view may be paired with a place that stays. */
const isEndOfMove = ({ regions }: Still, { kind, regions: ends }: Location): boolean => {
  const [side] = regions.map((region) => region.side);
  const end = ends.filter((region) => region.side === side);
  return kind === 'move' && end.length > 0 && hasSameOutlines(regions, end);
};

const probabilityOf = ({ object, frames }: Still): number => object / frames;

const hasSameOutlines = (known: readonly ChangeRegion[], regions: readonly ChangeRegion[]): boolean =>
  regions.every(({ box, side }) => known.some((one) => one.side === side && isSameOutline(one.box, box)));

/** The nearest of the people; a sighting with the outline of the thing is the thing itself under another name. */
function ownerOf(regions: readonly ChangeRegion[], people: readonly PersonSighting[]): PersonSighting | null {
  const near = people
    .filter(({ box }) => !regions.some((region) => isSameOutline(region.box, box)))
    .map((person) => ({
      person,
      distance: Math.min(...regions.map((region) => lengthsBetween(region.box, person.box))),
    }))
    .filter(({ distance }) => distance <= OWNER_WITHIN)
    // The last of equally near ones comes first.
    .sort((a, b) => a.distance - b.distance || b.person.at - a.person.at);
  return near[0]?.person ?? null;
}
