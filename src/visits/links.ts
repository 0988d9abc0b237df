/** Links of visits with objects that were left or removed during them. Pure. */
import { areaOf, type Box, overlapsBy } from '../images.js';
import { SOMETHING } from '../language/thing.js';
import { type ChangeUpdate, type FoundChange, lastRegions } from '../schemas/change.js';
import type { VisitEvent } from '../schemas/visit.js';
import type { PathPoint, VisitsState, VisitTrack } from './state.js';
import { boxOf } from './track.js';
import { visitOf } from './visit.js';

/** Time between the first frame that shows the object so, and the one that shows its owner beside it (set). */
const BESIDE_MS = 15_000;
/** Greatest distance of an owner, in heights of the owner, each 15 s before that frame being one more (set). */
const BESIDE = 1.5;
/** More distance of a thing that was nowhere else (set): a part of the object or of its owner, as a rule. */
const STAYED = 0.5;
/** Most that the boxes of one thing differ in area, as a factor (set): an owner covers the object, and is larger. */
const LARGER = 3;

/**
 * Links each object that counts as left or removed with the visit that was beside it last, up to the first frame that
 * shows it so: the owner hides it until then, and others come later.
 * @param updates of the same frame
 */
export function linkObjects(
  state: VisitsState,
  updates: readonly Pick<ChangeUpdate, 'change'>[],
): { readonly state: VisitsState; readonly events: readonly VisitEvent[] } {
  const events: VisitEvent[] = [];
  let { tracks, ended } = state;
  for (const { change } of updates) {
    if (change.object === undefined || isLinked(change.id, { tracks, ended })) continue;
    const visits = [...tracks, ...ended.map(({ track }) => track)].filter(({ opened }) => opened);
    const owner = ownerOf(change, visits, state.aspect);
    if (owner === null) continue;
    const linked = withObject(owner, change);
    tracks = tracks.map((track) => (track === owner ? linked : track));
    const closed = ended.find(({ track }) => track === owner);
    ended = ended.map((one) => (one.track === owner ? { ...one, track: linked } : one));
    events.push({ type: 'visit.linked', visit: visitOf(linked, change.camera, closed?.end ?? null) });
  }
  return { state: events.length === 0 && tracks === state.tracks ? state : { ...state, tracks, ended }, events };
}

const isLinked = (id: string, { tracks, ended }: Pick<VisitsState, 'tracks' | 'ended'>): boolean =>
  [...tracks, ...ended.map(({ track }) => track)].some(({ objects }) => objects.some(({ change }) => change === id));

function ownerOf({ object, ...change }: FoundChange, visits: readonly VisitTrack[], aspect: number): VisitTrack | null {
  if (object === undefined) return null;
  const boxes = lastRegions(change).map(({ box }) => box);
  const counted = Date.parse(object.since);
  const isLeft = object.value === 'object_left';
  const itself = visits.filter((track) => isItself(track, boxes, counted, isLeft));
  // It may have been followed as a thing before its change was named an object.
  const since = isLeft ? Math.min(counted, ...itself.map(({ begin }) => begin)) : counted;
  let nearest: { readonly track: VisitTrack; readonly distance: number } | null = null;
  for (const track of visits) {
    if (itself.includes(track)) continue;
    const distance = distanceTo(track, boxes, since, aspect);
    if (distance <= BESIDE && (nearest === null || distance < nearest.distance)) nearest = { track, distance };
  }
  return nearest?.track ?? null;
}

/** Whether a track is the object under another name: from when it was left, or until it was taken, it is there. */
function isItself({ path }: VisitTrack, boxes: readonly Box[], since: number, isLeft: boolean): boolean {
  const places = path.filter(([at]) => (isLeft ? at >= since - BESIDE_MS : at < since)).map(boxOf);
  const there = places.filter((box) => boxes.some((one) => isSameThing(box, one)));
  return there.length > places.length / 2;
}

const isSameThing = (a: Box, b: Box): boolean =>
  overlapsBy(a, b, 0.5) && Math.max(areaOf(a), areaOf(b)) <= LARGER * Math.min(areaOf(a), areaOf(b));

/** @returns least distance of a track from an object, as `BESIDE` counts it; infinite if it was not in view then */
function distanceTo({ path }: VisitTrack, boxes: readonly Box[], since: number, aspect: number): number {
  const away = ([at, ...place]: PathPoint): [at: number, distance: number] => [
    at,
    Math.min(...boxes.map((box) => onGround(boxOf([at, ...place]), box, aspect))),
  ];
  const places = path.map(away);
  const before = places.filter(([at]) => at <= since && since - at <= BESIDE_MS);
  const stayed = places.every(([, distance]) => distance <= BESIDE);
  return (
    Math.min(Number.POSITIVE_INFINITY, ...before.map(([at, distance]) => distance + (since - at) / BESIDE_MS)) +
    (stayed ? STAYED : 0)
  );
}

/** Distance of an object from a thing, in heights of the thing: an owner stands on the same ground. */
function onGround({ x, y, width, height }: Box, object: Box, aspect: number): number {
  const across = Math.max(object.x - (x + width), x - (object.x + object.width), 0) * aspect;
  return Math.hypot(across, object.y + object.height - (y + height)) / height;
}

const withObject = (track: VisitTrack, { id, object, content }: FoundChange): VisitTrack => {
  const thing = content?.things[0] ?? { noun: SOMETHING, colour: null, count: 1, definite: false };
  const value = object?.value ?? 'object_left';
  return { ...track, objects: [...track.objects, { change: id, thing: { ...thing, definite: false }, value }] };
};
