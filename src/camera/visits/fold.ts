/**
 * The fold of the visits of a camera: from the state before a frame and the facts of the frame to the state after it
 * and the visits that began or ended. Pure: equal frames give equal visits, ids included. One step does, in this order:
 *
 *   pause       a long pause, a new baseline or a stuck camera ends all tracks; a frame of the same time or an earlier
 *               one does nothing
 *   repetition  a picture that is repeated proves no stay; the next other picture does
 *   before      the places at which the new "before" shows tracked things, and things that nothing has tracked yet
 *   matching    tracks get the things of the frame (match.ts), those last that "before" shows where nothing differs
 *   standing    such a track without a thing is still there
 *   merging     a track without a thing whose place another track's thing covers is part of it
 *   ending      a track that several frames in a row do not show ends
 *   beginning   a thing without a track begins one
 */
import { areaOf, type Box, isMostlyIn, overlapsBy } from '../../base/images.js';
import { concluded, endingOf, type Folded } from './ending.js';
import { isOutside, LIMIT, looksAlike, type Match, matchThings, predicted, STRONG } from './match.js';
import type { VisitFrame, VisitSettings, VisitsState, VisitThing, VisitTrack } from './state.js';
import { missed, seenApart, seenMerged, seenStill, startTrack } from './track.js';
import { boxOf, distance, mostVoted } from './values.js';

/**
 * Share of the smaller box that two boxes of one place have in common. From 0.45 to 0.6 the figures of `npm run
 * bench -- visits` differ by one person; below, neighbours in a group are taken for one place.
 */
const SAME_PLACE = 0.5;
/**
 * Share of the smaller box from which a place counts as left before: beside a passing thing it is part of another box.
 * From 0.01 to 0.3 the figures are equal.
 */
const REVEALED = 0.2;
/** Greatest factor between the areas of a thing and of its empty place. From 3 to 6 the figures are equal. */
const LARGER = 3;
/** Share of the smaller box from which a thing touches a place. */
const TOUCHED = 0.05;
/** Frames in a row for which a thing may be part of one that looks like a single thing. */
const MAX_MERGED = 6;
/** Width of two people side by side, as a share of their height. */
const WIDE = 0.62;
/** Bound of the state. */
const MAX_VACATED = 64;

export function foldVisits(state: VisitsState, frame: VisitFrame, settings: VisitSettings): Folded {
  const { at } = frame;
  if (state.at !== null && at <= state.at) return { state, events: [] };
  const paused = state.at !== null && (frame.restart || at - state.at > settings.gapMs);
  const events = paused ? state.tracks.flatMap((track) => endingOf(track, frame.camera, 'unseen')) : [];
  const begun = paused ? { ...state, before: null, tracks: [], ended: [] } : state;
  const { state: next, events: further } =
    frame.view === 'hidden'
      ? concluded({ ...begun, at }, begun.tracks, frame, settings)
      : FOLDS[frame.view](begun, frame, settings);
  return { state: next, events: [...events, ...further] };
}

/** The things that have not gone: place and name by the last frame with each, and the place in "before". */
export const thingsInView = ({ tracks, at, before }: VisitsState) =>
  tracks.map(({ box, apart, nouns, there, path }) => ({
    box,
    noun: apart === at ? (mostVoted(nouns) ?? null) : null,
    from: path.filter(([time], i) => (there && i === 0) || time === before?.at).map(boxOf),
  }));

/**
 * @param places that became part of "before" with the last frame
 * @param light of that frame, and the others that have a background
 */
export function absorbPlaces(
  state: VisitsState,
  places: readonly Box[],
  light?: { readonly now: string; readonly others: readonly string[] },
): VisitsState {
  if (state.at !== state.lookedAt || places.length === 0) return state;
  const isAbsorbed = ({ box }: VisitTrack): boolean => places.some((one) => isSamePlace(one, box));
  // If the frame does not show the thing, its empty place became part of "before".
  const placed = ({ notIn: former, ...track }: VisitTrack): VisitTrack => {
    if (track.missedSince !== null) return { ...track, inBefore: null };
    const known = track.inBefore === null ? (light?.others ?? []) : (former ?? []);
    const notIn = known.filter((one) => one !== light?.now);
    return { ...track, inBefore: track.box, ...(notIn.length === 0 ? {} : { notIn }) };
  };
  return { ...state, tracks: state.tracks.map((track) => (isAbsorbed(track) ? placed(track) : track)) };
}

/** A thing in view may have gone since, so that its time does not go on. A thing that was missing still is. */
function foldRepeated(state: VisitsState, frame: VisitFrame, settings: VisitSettings): Folded {
  const tracks = state.tracks.map((track) => (track.last === state.lookedAt ? track : missed(track, frame.at)));
  return concluded(state, tracks, frame, settings);
}

/** A frame that equals the one before it shows what that one showed. */
function foldEqual(state: VisitsState, frame: VisitFrame, settings: VisitSettings): Folded {
  const { at } = frame;
  const tracks = state.tracks.map((track) =>
    // It is not stored, so that no "before" shows this time.
    track.last === state.lookedAt ? { ...seenStill(track, at), apart: track.apart } : unseen(track, frame),
  );
  return concluded({ ...state, at, lookedAt: at }, tracks, frame, settings);
}

function foldShown(state: VisitsState, frame: VisitFrame, settings: VisitSettings): Folded {
  const { at, aspect } = frame;
  const known = withBefore(state, frame);
  const after = frame.things.filter(({ side }) => side === 'after');
  const isStill = ({ inBefore, notIn }: VisitTrack): boolean =>
    inBefore !== null &&
    !notIn?.some((light) => light === frame.light) &&
    !isMostlyIn(inBefore, frame.uncounted ?? []) &&
    !after.some(({ box }) => mayFill(box, inBefore) && overlapsBy(box, inBefore, TOUCHED));
  const standing = known.tracks.filter(isStill);
  const others = known.tracks.filter((track) => !standing.includes(track));
  const found = matchThings(others, after, at, aspect);
  // The place that a thing has left may not differ enough to be a region.
  const free = after.filter((thing) => !found.some((match) => match.thing === thing));
  const matches = [...found, ...matchThings(standing, free, at, aspect, LIMIT.standing)];
  const byTrack = new Map(matches.map((match) => [match.track, match]));
  const hosts = new Map(others.map((track) => [track, byTrack.has(track) ? null : hostOf(track, matches, at, aspect)]));
  // Which of two that look alike leaves their meeting on which side is a guess.
  const guessed = new Set(
    [...hosts].flatMap(([track, host]) => (host !== null && looksAlike(track, host.track) ? [track, host.track] : [])),
  );
  const tracks = known.tracks.map((earlier) => {
    const track = guessed.has(earlier) ? { ...earlier, uncertain: true } : earlier;
    const match = byTrack.get(earlier);
    if (match !== undefined) return joined(track, match, frame);
    if (standing.includes(earlier)) return seenStill(track, at, track.inBefore);
    const host = hosts.get(earlier) ?? null;
    return host === null
      ? unseen(track, frame)
      : seenMerged(track, inside(track, host.thing.box, at, aspect), at, aspect);
  });
  const started = free
    .filter((thing) => !matches.some((match) => match.thing === thing))
    .filter(({ name, score }) => name !== null || score >= STRONG)
    // A place that "before" shows and that is empty now differs too.
    .filter(
      ({ box }) => !known.before?.vacated.some((one) => isSamePlace(one, box) && areaOf(box) <= LARGER * areaOf(one)),
    )
    .map((thing, index) => beginning(thing, matches, frame, index));
  return concluded({ ...known, at, lookedAt: at, aspect }, [...tracks, ...started], frame, settings);
}

const FOLDS = { shows: foldShown, equals: foldEqual, repeats: foldRepeated } as const;

/**
 * The state with the places at which "before" shows things that are tracked. A thing that "before" shows and the frame
 * does not continues a track that was lost by then. If there is none, it was there already and becomes a track.
 */
function withBefore(state: VisitsState, frame: VisitFrame): VisitsState {
  const { before, at, aspect } = frame;
  if (before === null) return { ...state, before: null };
  const isNew = state.before?.key !== before.key;
  const placed =
    isNew && before.isLearned !== true
      ? state.tracks.map((track) => ({ ...track, inBefore: placeAt(track, before.at) }))
      : state.tracks;
  const earlier = isNew ? [] : (state.before?.vacated ?? []);
  const gone = frame.things.filter(({ side }) => side === 'before');
  const since = before.at;
  const isPast = since !== null && since < at;
  const shown = gone.filter(
    ({ box }) =>
      !earlier.some((one) => overlapsBy(one, box, REVEALED)) &&
      !placed.some(({ inBefore }) => inBefore !== null && isSamePlace(inBefore, box)),
  );
  const lost = placed.filter(({ last }) => isPast && last < since);
  const found = isPast ? matchThings(lost, shown, since, aspect) : [];
  const tracks = placed.map((track) => {
    const match = found.find((one) => one.track === track);
    return isPast && match !== undefined
      ? { ...joined(track, match, { ...frame, at: since }), inBefore: match.thing.box }
      : track;
  });
  // The ground that a thing covers is shown by "before", and has no name.
  const isHidden = ({ name, box }: VisitThing): boolean =>
    name === null && frame.things.some((thing) => thing.side === 'after' && isSamePlace(thing.box, box));
  const revealed = shown.filter(
    (thing) =>
      !isHidden(thing) &&
      !found.some((match) => match.thing === thing) &&
      !placed.some((track) => distance(track.box, thing.box, aspect) < thing.box.height),
  );
  // While "before" is the same and its place did not differ, it stood there.
  const until = isNew ? null : state.lookedAt;
  const there = isPast
    ? revealed.map((thing, i) => stayed(startTrack(thing, frame, { at: since, there: true, index: 1000 + i }), until))
    : [];
  const left = [...tracks, ...there].map((track) => {
    const { inBefore } = track;
    return inBefore !== null && gone.some(({ box }) => mayFill(box, inBefore) && isSamePlace(box, inBefore))
      ? { ...track, inBefore: null }
      : track;
  });
  const vacated = [...earlier, ...gone.map(({ box }) => ({ ...box, at }))].filter(
    (box, i, all) => all.findIndex((one) => isSamePlace(one, box)) === i,
  );
  return { ...state, before: { ...before, vacated: vacated.slice(-MAX_VACATED) }, tracks: left };
}

/** A track that a frame does not show: what something on the lens hides, or what does not count, may still be it. */
const unseen = (track: VisitTrack, { at, onLens = [], uncounted = [] }: VisitFrame): VisitTrack =>
  [onLens, uncounted].some((parts) => isMostlyIn(track.box, parts)) ? track : missed(track, at);

const stayed = (track: VisitTrack, until: number | null): VisitTrack =>
  until === null || until <= track.last ? track : seenStill(track, until);

/** The place at which a frame shows a track apart from other things. */
const placeAt = ({ path, apart, begin }: VisitTrack, at: number | null): Box | null => {
  if (at !== apart && at !== begin) return null;
  const point = path.findLast(([time]) => time <= at);
  return point === undefined ? null : boxOf(point);
};

/** A track with the thing that was matched with it. After a merger, identity is a guess if both look alike. */
function joined(track: VisitTrack, { thing, close }: Match, frame: VisitFrame): VisitTrack {
  const next = seenApart(track, thing, frame, frame.aspect);
  return close ? { ...next, uncertain: true } : next;
}

/** The match whose thing covers the place of a track that has none. */
function hostOf(track: VisitTrack, matches: readonly Match[], at: number, aspect: number): Match | null {
  const place = predicted(track, at, aspect);
  if (isOutside(place)) return null;
  const covers = ({ box }: VisitThing): boolean =>
    [place, track.box].some((one) => isSamePlace(one, box) && mayFill(box, one));
  const host = matches.find(({ thing }) => covers(thing));
  if (host === undefined) return null;
  return track.merged < MAX_MERGED || isSeveral(host.thing, aspect) ? host : null;
}

const isSeveral = ({ name, box }: VisitThing, aspect: number): boolean =>
  (name?.count ?? 1) > 1 || (name?.class !== 'vehicle' && (box.width * aspect) / box.height >= WIDE);

/** The box of a track within that of the thing that covers it. */
function inside(track: VisitTrack, cover: Box, at: number, aspect: number): Box {
  const { x, y, width, height } = predicted(track, at, aspect);
  const clamp = (value: number, from: number, to: number) => Math.min(Math.max(value, from), Math.max(from, to));
  const size = { width: Math.min(width, cover.width), height: Math.min(height, cover.height) };
  return {
    ...size,
    x: clamp(x, cover.x, cover.x + cover.width - size.width),
    y: clamp(y, cover.y, cover.y + cover.height - size.height),
  };
}

/**
 * A new track. A thing that separates from a region of several things has the same beginning as the region: they came
 * side by side.
 */
function beginning(thing: VisitThing, matches: readonly Match[], frame: VisitFrame, index: number): VisitTrack {
  const { at, aspect } = frame;
  const started = startTrack(thing, frame, { at, there: false, index });
  const beside = matches.find(
    ({ track, thing: other }) =>
      (mostVoted(track.counts) ?? '1') !== '1' && distance(other.box, thing.box, aspect) < thing.box.height,
  );
  if (beside === undefined) return started;
  const { begin, path, there, frames } = beside.track;
  return {
    ...started,
    begin,
    there,
    frames: frames + 1,
    path: [...path.slice(0, -1), ...started.path],
    uncertain: true,
  };
}

/** Whether a box is large enough for the thing of a place: a smaller one is in front of it. */
const mayFill = (box: Box, place: Box): boolean => LARGER * areaOf(box) >= areaOf(place);

const isSamePlace = (a: Box, b: Box): boolean => overlapsBy(a, b, SAME_PLACE);
