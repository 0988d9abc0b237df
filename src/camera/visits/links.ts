/** Links of visits with objects that were left or removed during them. Pure. */
import { areaOf, type Box, overlapsBy } from '../../base/images.js';
import { SOMETHING } from '../../language/thing.js';
import type { ChangeUpdate, FoundChange } from '../../schemas/change.js';
import { lastRegions } from '../../schemas/shown-change.js';
import type { VisitEvent } from '../../schemas/visit.js';
import type { PathPoint, VisitsState, VisitTrack } from './state.js';
import { boxOf } from './values.js';
import { visitOf } from './visit.js';

/** Time between the first frame that shows the object so, and the one that shows its owner beside it (set). */
const BESIDE_MS = 15_000;
/** Such a time that is as doubtful as one height (chosen on streams; from 3 to 8 s the figures are equal). */
const SOON_MS = 8_000;
/** Doubt of a visit that may be that of another thing (chosen on streams). */
const UNCERTAIN = 0.2;
/** Greatest doubt about an owner (set): the distance of someone who passes by, in their heights. */
const BESIDE = 1.5;
/** Distance of someone who stands beside it, in their heights (set). */
const NEAR = 0.5;
/** Time beside it that shows an owner, and how much that counts, as does going away afterwards (chosen on streams). */
const STOOD_MS = 5_000;
const HABIT = 0.5;
/** Share of an object's place that someone before it covers (set), and for how long (chosen on streams). */
const HIDDEN = 0.5;
const HIDDEN_MS = 3_000;
/** Greatest factor between the area of a thing and that of a region that shows it (set): an owner is larger. */
const LARGER = 3;

/**
 * Links each object that counts as left or removed with the visit that was most likely its owner, up to the first frame
 * that shows it so: the owner hides it until then, and others come later. A wrong link is worse than none.
 * @param updates of the frame of `state`; an object is linked in the frame from which it counts, or never
 */
export function linkObjects(
  state: VisitsState,
  updates: readonly Pick<ChangeUpdate, 'change'>[],
): { readonly state: VisitsState; readonly events: readonly VisitEvent[] } {
  const events: VisitEvent[] = [];
  let { tracks, ended } = state;
  for (const { change } of updates) {
    // Later, the owner may no longer be among those that are followed.
    if (change.object === undefined || Date.parse(change.object.at) !== state.at) continue;
    const followed = [...tracks, ...ended.map(({ track }) => track)];
    const owner = ownerOf(change, followed, state);
    const linked = owner && withObject(owner, change);
    if (linked === null || isRepeated(linked)) continue;
    tracks = tracks.map((track) => (track === owner ? linked : track));
    const closed = ended.find(({ track }) => track === owner);
    ended = ended.map((one) => (one.track === owner ? { ...one, track: linked } : one));
    events.push({ type: 'visit.linked', visit: visitOf(linked, change.camera, closed?.end ?? null) });
  }
  return { state: events.length === 0 && tracks === state.tracks ? state : { ...state, tracks, ended }, events };
}

/** Whether the last object is an earlier one again: people who hid it for long have ended its change. */
const isRepeated = ({ objects }: VisitTrack): boolean => {
  const [last, ...others] = objects.map(({ thing: { noun, colour }, value }) => [noun, colour, value].join()).reverse();
  return others.some((other) => other === last);
};

function ownerOf(
  { object, ...change }: FoundChange,
  followed: readonly VisitTrack[],
  { aspect, before }: Pick<VisitsState, 'aspect' | 'before'>,
): VisitTrack | null {
  if (object === undefined) return null;
  const boxes = lastRegions(change).map(({ box }) => box);
  const counted = Date.parse(object.since);
  const isLeft = object.value === 'object_left';
  const itself = followed.filter((track) => isItself(track, boxes, counted, isLeft));
  // The clock of its change starts again after people who hid it. Its own track, or its empty place, is older.
  const empty = (before?.vacated ?? []).filter((place) => boxes.some((box) => isSameThing(place, box)));
  const earlier = isLeft ? itself.map(({ begin }) => begin) : empty.map(({ at = counted }) => at);
  const since = Math.min(counted, ...earlier);
  const others = followed.filter((track) => !itself.includes(track));
  const [nearest, next] = others
    .filter((track) => track.opened)
    .map((track) => ({ track, doubt: doubtOf(track, boxes, since, aspect) }))
    .filter(({ doubt }) => doubt <= BESIDE)
    .sort((a, b) => a.doubt - b.doubt);
  if (nearest === undefined) return null;
  const isOpen = next !== undefined && others.some((track) => hides(track, boxes, since));
  return isOpen ? null : nearest.track;
}

/** Whether someone stood before the place of an object until then, so that anybody near may have left it earlier. */
function hides({ path }: VisitTrack, boxes: readonly Box[], since: number): boolean {
  const times = path
    .filter((point) => point[0] < since && since - point[0] <= SOON_MS)
    .filter((point) => boxes.some((box) => overlapsBy(boxOf(point), box, HIDDEN)))
    .map(([at]) => at);
  return (times.at(-1) ?? 0) - (times[0] ?? 0) >= HIDDEN_MS;
}

/** Whether a track is the object under another name: from when it was left, or until it was taken, it is there. */
function isItself({ path, opened }: VisitTrack, boxes: readonly Box[], since: number, isLeft: boolean): boolean {
  const recent = path.filter(([at]) => (isLeft ? at >= since - BESIDE_MS : at < since));
  const places = (recent.length === 0 && !opened ? path : recent).map(boxOf);
  const there = places.filter((box) => boxes.some((one) => isSameThing(box, one)));
  return there.length > places.length / 2;
}

/** @param region of the change map: it has the borders of its cells, so that it may be much larger than the thing */
const isSameThing = (box: Box, region: Box): boolean =>
  overlapsBy(box, region, 0.5) && areaOf(box) <= LARGER * areaOf(region);

/**
 * Doubt that a track is the owner of an object: its least distance before that time, each `SOON_MS` between being one
 * more. An owner stood beside the object, and went away from it afterwards.
 * @returns infinite if it was not in view then
 */
function doubtOf({ path, uncertain }: VisitTrack, boxes: readonly Box[], since: number, aspect: number): number {
  const before = path.filter(([at]) => at <= since && since - at <= BESIDE_MS);
  const heights = before.map(([, , , , height]) => height).sort((a, b) => a - b);
  // A region of several things is larger than the thing.
  const height = heights[(heights.length - 1) >> 1];
  if (height === undefined) return Number.POSITIVE_INFINITY;
  const distance = (point: PathPoint) => Math.min(...boxes.map((box) => onGround(boxOf(point), box, aspect))) / height;
  const nearest = Math.min(...before.map((point) => distance(point) + (since - point[0]) / SOON_MS));
  const beside = before.filter((point) => distance(point) <= NEAR);
  const stood = (beside.at(-1)?.[0] ?? 0) - (beside[0]?.[0] ?? 0);
  const away = path.find((point) => point[0] > since && distance(point) > NEAR) ?? path.at(-1);
  const stayed = Math.max(0, (away?.[0] ?? 0) - since);
  const habit = HABIT * Math.min(1, stayed / BESIDE_MS) - HABIT * Math.min(1, stood / STOOD_MS);
  return nearest + habit + (uncertain ? UNCERTAIN : 0);
}

/** Distance of an object from a thing, in heights of the frame: an owner stands on the same ground. */
function onGround({ x, y, width, height }: Box, object: Box, aspect: number): number {
  const across = Math.max(object.x - (x + width), x - (object.x + object.width), 0) * aspect;
  return Math.hypot(across, object.y + object.height - (y + height));
}

const withObject = (track: VisitTrack, { id, object, content }: FoundChange): VisitTrack => {
  const thing = content?.things[0] ?? { noun: SOMETHING, colour: null, count: 1, definite: false };
  const value = object?.value ?? 'object_left';
  return { ...track, objects: [...track.objects, { change: id, thing: { ...thing, definite: false }, value }] };
};
