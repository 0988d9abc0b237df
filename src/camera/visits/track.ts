/** The life of one track: its start, and what a frame adds to it. Pure. */
import { derivedId } from '../../base/ids.js';
import { areaOf, type Box, roundedBox } from '../../base/images.js';
import type { PathPoint, VisitFrame, VisitThing, VisitTrack, Votes } from './state.js';
import { centreOf } from './values.js';

/** Bound of a path; beyond it every second point between its ends is dropped. */
const MAX_PATH = 32;
/** Weight of a new measurement of colours and velocity. */
const NEW = { colours: 0.2, velocity: 0.7 } as const;

type Frame = Pick<VisitFrame, 'at' | 'camera' | 'comparison' | 'number'>;

/**
 * @param at capture time of the frame that shows the thing: that of "before" for a thing that was there
 * @param index distinguishes the things of a frame
 */
export function startTrack(
  thing: VisitThing,
  { camera, comparison, number }: Frame,
  { at, there, index }: { readonly at: number; readonly there: boolean; readonly index: number },
): VisitTrack {
  return {
    id: derivedId('vis', at, `${camera}/${number}/${index}`),
    begin: at,
    last: at,
    frames: 1,
    box: thing.box,
    velocity: [0, 0],
    colours: thing.colours,
    ...votesOf(thing, { nouns: {}, tints: {}, classes: {}, counts: {} }),
    path: [pointOf(at, thing.box)],
    there,
    inBefore: there ? thing.box : null,
    apart: at,
    merged: 0,
    missed: 0,
    missedSince: null,
    uncertain: false,
    best: { comparison, side: thing.side, at, box: thing.box, quality: there ? 0 : qualityOf(thing) },
    opened: false,
    objects: [],
  };
}

/** The track after a frame that shows it apart from other things. */
export function seenApart(track: VisitTrack, thing: VisitThing, { at, comparison }: Frame, aspect: number): VisitTrack {
  const quality = qualityOf(thing);
  const best =
    quality > track.best.quality ? { comparison, side: thing.side, at, box: thing.box, quality } : track.best;
  return {
    ...movedTo(track, thing.box, at, aspect),
    ...votesOf(thing, track),
    colours: thing.colours.map((share, i) =>
      Math.round(share * NEW.colours + (track.colours[i] ?? share) * (1 - NEW.colours)),
    ),
    apart: at,
    merged: 0,
    best,
  };
}

/** The track after a frame in which its thing and another one are one region. */
export function seenMerged(track: VisitTrack, box: Box, at: number, aspect: number): VisitTrack {
  return { ...movedTo(track, box, at, aspect), merged: track.merged + 1 };
}

/**
 * The track after a frame that shows it at the same place, because "before" shows it and does not differ there.
 * @param place where "before" shows it; null: where it was
 */
export const seenStill = (track: VisitTrack, at: number, place: Box | null = null): VisitTrack => ({
  ...track,
  box: place ?? track.box,
  last: at,
  apart: at,
  frames: track.frames + 1,
  velocity: [0, 0],
  path: withPoint(track.path, pointOf(at, place ?? track.box)),
  missed: 0,
  missedSince: null,
});

export const missed = (track: VisitTrack, at: number): VisitTrack => ({
  ...track,
  missed: track.missed + 1,
  missedSince: track.missedSince ?? at,
});

function movedTo(track: VisitTrack, box: Box, at: number, aspect: number): VisitTrack {
  const seconds = Math.max((at - track.last) / 1000, 0.04);
  const [[x0, y0], [x1, y1]] = [centreOf(track.box), centreOf(box)];
  const mixed = (old: number, next: number) => old * (1 - NEW.velocity) + next * NEW.velocity;
  const [vx, vy] = track.velocity;
  return {
    ...track,
    last: at,
    frames: track.frames + 1,
    box,
    velocity: [mixed(vx, ((x1 - x0) * aspect) / seconds), mixed(vy, (y1 - y0) / seconds)],
    path: withPoint(track.path, pointOf(at, box)),
    missed: 0,
    missedSince: null,
  };
}

function pointOf(at: number, box: Box): PathPoint {
  const { x, y, width, height } = roundedBox(box);
  return [at, x, y, width, height];
}

function withPoint(path: readonly PathPoint[], point: PathPoint): readonly PathPoint[] {
  const next = [...path, point];
  if (next.length <= MAX_PATH) return next;
  // Between two points of a stay, the thing is at the same place.
  const bends = next.filter((one, i) => !isSameBox(next[i - 1], one) || !isSameBox(next[i + 1], one));
  return bends.length <= MAX_PATH ? bends : next.filter((_, i) => i % 2 === 0 || i === next.length - 1);
}

const isSameBox = (a: PathPoint | undefined, b: PathPoint): boolean =>
  a?.every((value, i) => i === 0 || value === b[i]) === true;

type Voted = Pick<VisitTrack, 'nouns' | 'tints' | 'classes' | 'counts'>;

function votesOf({ name }: VisitThing, { nouns, tints, classes, counts }: Voted): Voted {
  if (name === null) return { nouns, tints, classes, counts };
  return {
    nouns: voted(nouns, name.noun, name.nounProbability),
    tints: name.colour === null ? tints : voted(tints, name.colour, name.colourProbability),
    classes: voted(classes, name.class, name.classProbability),
    counts: voted(counts, String(name.count), 1),
  };
}

const voted = (votes: Votes, word: string, weight: number): Votes => ({
  ...votes,
  [word]: (votes[word] ?? 0) + weight,
});

/** Large, complete, named and inside the frame. */
function qualityOf({ box, score, name }: VisitThing): number {
  const cut = box.x <= 0.01 || box.x + box.width >= 0.99 || box.y + box.height >= 0.99;
  return Math.sqrt(areaOf(box)) * score * (cut ? 0.4 : 1) * (name === null ? 0.5 : 1);
}
