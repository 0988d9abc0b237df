/** The record of a visit, from its track: kind, statement, times and picture. Pure. */
import type { Box } from '../../base/images.js';
import { isoTime, isoTimeIn } from '../../base/wall-clock.js';
import { thirdOf } from '../../language/place.js';
import { SOMETHING } from '../../language/thing.js';
import { writeVisit } from '../../language/visit.js';
import type { Thing } from '../../schemas/statement.js';
import type { Visit } from '../../schemas/visit.js';
import type { Edge, VisitStatement } from '../../schemas/visit-statement.js';
import type { PathPoint, VisitEnd, VisitsState, VisitTrack } from './state.js';
import { boxOf, distance, mostVoted } from './values.js';

/** Frames from which a passage is a visit. */
const VISIT_FRAMES = 3;
/** Time at one place that the sentence states, and the distance within which it is one place, in heights. */
const STAY = { ms: 5_000, heights: 0.6 } as const;
/** Distance of a box from the edge at which a thing comes in or goes out, fractions of the frame. */
const EDGE = 0.03;
/** Least part of a step of half its height that leads across the edge: others walk along it (set). */
const ACROSS = 0.5;
/** Height of a box, in those of the thing, above which it has other things in it (set). */
const HIGHER = 2.5;
/** Share of the colour votes that a colour needs. */
const LEAST_COLOUR = 0.4;

/** Whether a track is a visit. An object that stays at one place is a change alone: it does not come by itself. */
export const isVisit = (track: VisitTrack): boolean =>
  track.frames >= VISIT_FRAMES && (mostVoted(track.classes) !== 'object' || hasMoved(track)) && isNamed(track);

/** Whether a track that ended before it was a visit counts: a thing that was there had come before. */
export const isPassage = (track: VisitTrack): boolean =>
  !track.there && isNamed(track) && mostVoted(track.classes) !== 'object' && track.frames < VISIT_FRAMES;

const isNamed = ({ nouns }: VisitTrack): boolean => (mostVoted(nouns) ?? SOMETHING) !== SOMETHING;

/** @param length of the way, fractions of the frame */
const hasMoved = ({ path, box }: VisitTrack, length = box.height): boolean =>
  path.some((point) => distance(boxOf(point), box, 1) > length);

/** Visits that are still open, as records: of a recording that has ended, and for listings. */
export const openVisits = ({ tracks }: VisitsState, camera: string, end: VisitEnd | null = null): Visit[] =>
  tracks.filter(({ opened }) => opened).map((track) => visitOf(track, camera, end));

/** @param end null: the visit is open */
export function visitOf(track: VisitTrack, camera: string, end: VisitEnd | null): Visit {
  const content = statementOf(track, end);
  const { missedSince } = track;
  const { comparison, side, at, box } = track.best;
  return {
    id: track.id,
    camera,
    kind: track.opened ? 'visit' : 'passage',
    status: end === null ? 'open' : 'ended',
    caption: writeVisit(content),
    content,
    identity: track.uncertain ? 'uncertain' : 'certain',
    first_seen: isoTime(track.begin),
    there_before: track.there,
    last_seen: isoTime(track.last),
    gone: end === 'gone' && missedSince !== null ? { after: isoTime(track.last), before: isoTime(missedSince) } : null,
    end,
    frames: track.frames,
    path: track.path.map((point) => ({ at: isoTime(point[0]), box: boxOf(point) })),
    best: { comparison, side, at: isoTime(at), box },
    changes: track.objects.map(({ change, value }) => ({ id: change, object: value })),
    ...(track.alert === undefined ? {} : { alert: track.alert }),
  };
}

/**
 * An uncertain visit with the minutes of its first and last frame in its sentence; any other one unchanged.
 * @param timeZone IANA name
 */
export function inMinutes(visit: Visit, timeZone: string): Visit {
  const { came, went } = visit.content;
  if (came.how !== 'uncertain' && went.how !== 'uncertain') return visit;
  const minuteOf = (time: string) => isoTimeIn(Date.parse(time), timeZone).slice(11, 16);
  const content = { ...visit.content, between: { from: minuteOf(visit.first_seen), to: minuteOf(visit.last_seen) } };
  return { ...visit, caption: writeVisit(content), content };
}

/** A visit whose sentence states no minutes: its times are those of no clock. */
export function withoutMinutes(visit: Visit): Visit {
  const { between, ...content } = visit.content;
  return between === undefined ? visit : { ...visit, caption: writeVisit(content), content };
}

function statementOf(track: VisitTrack, end: VisitEnd | null): VisitStatement {
  const { path, there, begin, last, box, uncertain, missedSince } = track;
  const [first = box, second = first] = path.slice(0, 2).map(boxOf);
  const [final = box, previous = final] = path.slice(-2).reverse().map(boxOf);
  // A thing that stays at the edge may have been put there.
  const moves = hasMoved(track, box.width);
  const heights = path.map(([, , , , height]) => height).sort((a, b) => a - b);
  const isOne = ({ height }: Box) => height <= HIGHER * (heights[heights.length >> 1] as number);
  const cameAt = moves && !there && isOne(first) ? edgeOf(first, second) : null;
  const wentAt = moves && end === 'gone' && isOne(final) ? edgeOf(final, previous) : null;
  return {
    thing: thingOf(track),
    came: {
      how: there ? 'there' : cameAt !== null ? 'edge' : uncertain ? 'uncertain' : 'appeared',
      edge: cameAt,
      place: thirdOf(first),
    },
    stayed: uncertain ? null : longestStay(track),
    // After a meeting the way goes on as that of one of several.
    went: uncertain
      ? { how: 'uncertain', edge: null, place: null }
      : {
          how:
            end === null
              ? 'still'
              : end === 'unseen' && missedSince === null
                ? 'unseen'
                : wentAt === null
                  ? 'gone'
                  : 'edge',
          edge: wentAt,
          place: thirdOf(final),
        },
    objects: track.objects.map(({ thing, value }) => ({ thing, value })),
    seconds: (last - begin) / 1000,
  };
}

function thingOf({ nouns, tints, counts, frames }: VisitTrack): Thing {
  const colour = mostVoted(tints);
  const all = Object.values(tints).reduce((sum, votes) => sum + votes, 0);
  const isClear = colour !== undefined && (tints[colour] ?? 0) >= LEAST_COLOUR * Math.max(all, frames / 3);
  const count = Number(mostVoted(counts) ?? 1);
  return {
    noun: mostVoted(nouns) ?? SOMETHING,
    colour: isClear ? colour : null,
    count: count >= 4 ? null : count,
    definite: false,
  };
}

/**
 * The edge that a box is at, or leaves the frame by with one step more, from the box before it; the nearest one in a
 * corner. Between two frames a thing may go from well inside the frame to outside.
 */
function edgeOf({ x, y, width, height }: Box, before: Box): Edge | null {
  const [dx, dy] = [x - before.x, y - before.y];
  const gaps = {
    left: Math.min(x - EDGE, x + dx),
    right: 1 - Math.max(x + width + EDGE, x + width + dx),
    top: Math.min(y - EDGE, y + dy),
    bottom: 1 - Math.max(y + height + EDGE, y + height + dy),
  };
  const [edge, gap] = (Object.entries(gaps) as [Edge, number][]).reduce((a, b) => (b[1] < a[1] ? b : a));
  const across = Math.abs(edge === 'left' || edge === 'right' ? dx : dy);
  const step = Math.hypot(dx, dy);
  return gap <= 0 && (step < height / 2 || across >= ACROSS * step) ? edge : null;
}

function longestStay({ path }: VisitTrack): VisitStatement['stayed'] {
  let best: { readonly ms: number; readonly box: Box } | null = null;
  for (const [i, point] of path.entries()) {
    const from = boxOf(point);
    const beyond = path.findIndex((next, k) => k > i && distance(from, boxOf(next), 1) > STAY.heights * from.height);
    const stay = path.slice(i, beyond < 0 ? path.length : beyond);
    const ms = (stay.at(-1) as PathPoint)[0] - point[0];
    // At its first point the thing may still be on its way to the place where it stays.
    const box = boxOf(stay[stay.length >> 1] as PathPoint);
    if (ms >= STAY.ms && (best === null || ms > best.ms)) best = { ms, box };
  }
  return best === null ? null : { place: thirdOf(best.box), seconds: best.ms / 1000 };
}
