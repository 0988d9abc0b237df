/** Links of visits with objects that were left or removed during them. Pure. */
import { areaOf, type Box, boxDistance, overlapsBy } from '../images.js';
import { SOMETHING } from '../language/thing.js';
import { type ChangeUpdate, type FoundChange, lastRegions } from '../schemas/change.js';
import { OWNER_WITHIN } from '../schemas/comparison.js';
import type { VisitEvent } from '../schemas/visit.js';
import type { VisitsState, VisitTrack } from './state.js';
import { boxOf } from './track.js';
import { visitOf } from './visit.js';

/** Time between the first frame that shows the object so, and the one that shows its owner beside it (set). */
const BESIDE_MS = 15_000;
/** Most that the boxes of one thing differ in area, as a factor (set): an owner covers the object, and is larger. */
const LARGER = 3;

/**
 * Links each object that counts as left or removed with the visit whose path is nearest to it in space, at the time at
 * which it was left or taken.
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
    const owner = ownerOf(change, visits);
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

function ownerOf(change: FoundChange, visits: readonly VisitTrack[]): VisitTrack | null {
  // The place may be hidden for long before the object has stayed so: others pass, and the owner has left.
  const since = Date.parse(change.first_seen);
  const wasTaken = change.object?.value === 'object_removed';
  const boxes = lastRegions(change).map(({ box }) => box);
  let nearest: { readonly track: VisitTrack; readonly lengths: number } | null = null;
  for (const track of visits) {
    if (isItself(track, boxes, since, wasTaken)) continue;
    const lengths = lengthsBetween(track, boxes, since);
    if (lengths <= OWNER_WITHIN && (nearest === null || lengths < nearest.lengths)) nearest = { track, lengths };
  }
  return nearest?.track ?? null;
}

/** Whether a track is the object under another name: from when it was left, or until it was taken, it is there. */
function isItself({ path }: VisitTrack, boxes: readonly Box[], since: number, wasTaken: boolean): boolean {
  const there = path.filter(([at]) => (wasTaken ? at < since : at >= since)).map(boxOf);
  return there.length > 0 && there.every((box) => boxes.some((one) => isSameThing(box, one)));
}

const isSameThing = (a: Box, b: Box): boolean =>
  overlapsBy(a, b, 0.5) && Math.max(areaOf(a), areaOf(b)) <= LARGER * Math.min(areaOf(a), areaOf(b));

/** Least distance of a track from an object about a time, in lengths of the object; a little more for each second. */
function lengthsBetween({ path }: VisitTrack, boxes: readonly Box[], since: number): number {
  const near = path.filter(([at]) => Math.abs(at - since) <= BESIDE_MS);
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...near.flatMap((point) =>
      boxes.map(
        (box) =>
          boxDistance(boxOf(point), box) / Math.max(box.width, box.height) + Math.abs(point[0] - since) / BESIDE_MS,
      ),
    ),
  );
}

const withObject = (track: VisitTrack, { id, object, content }: FoundChange): VisitTrack => {
  const thing = content?.things[0] ?? { noun: SOMETHING, colour: null, count: 1, definite: false };
  const value = object?.value ?? 'object_left';
  return { ...track, objects: [...track.objects, { change: id, thing: { ...thing, definite: false }, value }] };
};
