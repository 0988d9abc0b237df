/**
 * Association of tracks with the things of a frame: the assignment of least total cost (the Hungarian method), where a
 * track may also get nothing. At a frame per second or less a thing jumps over its own length, so that its colours and
 * its size count more than its place; the place only has to be within reach. Pure.
 */
import munkres from 'munkres';
import type { Box } from '../../base/images.js';
import type { VisitThing, VisitTrack } from './state.js';
import { centreOf, distance, mostVoted } from './values.js';

/**
 * Spread of a thing's place around the predicted one, in its heights: at once, and per second. Walking people go about
 * half their height per second. A thing is out of reach at three spreads.
 */
const SPREAD = { person: [0.3, 0.35], animal: [0.4, 0.8], vehicle: [0.5, 1.5], object: [0.2, 0.1] } as const;
const REACH = 3;
/**
 * Parts of the cost, which adds up like the logarithm of a likelihood. Measured on the people of the replay (`npm run
 * bench -- visits`, mode `memory`): the colours of a person differ by 0.23 from one second to the next (median; 0.42 at
 * 90 %), those of two people by 0.49 (0.31 at 10 %).
 */
const WEIGHT = { place: 0.5, colours: 10, size: 2, name: 3, missed: 1 } as const;
/** Cost above which a track gets no thing; of one whose place does not differ, half as much: 2.5 to 3.5 are equal. */
export const LIMIT = { first: 7, second: 5, standing: 3.5 } as const;
/** Distance of the colours of one thing at two times, at 90 % of them. */
const ALIKE = 0.42;
/** Score of a region from which it counts in the first round; ByteTrack's idea: weak ones may only continue a track. */
export const STRONG = 0.75;
/** Prediction of a place by the velocity, s; after that the thing may have turned. */
const PREDICTED_S = 2;

/** The box of a track at a time, moved by its velocity. */
export function predicted({ box, velocity: [vx, vy], last, merged }: VisitTrack, at: number, aspect: number): Box {
  const seconds = merged > 0 ? 0 : Math.min((at - last) / 1000, PREDICTED_S);
  return { ...box, x: box.x + (vx / aspect) * seconds, y: box.y + vy * seconds };
}

/** Whether the middle of a place is out of view. */
export function isOutside(place: Box): boolean {
  return centreOf(place).some((value) => value < 0 || value > 1);
}

/** Mean over the bands of the share that two things do not have in common, 0..1. Bands without pixels do not count. */
function colourDistance(a: readonly number[], b: readonly number[], bands = 3): number {
  const size = a.length / bands;
  let [sum, counted] = [0, 0];
  for (let band = 0; band < bands; band++) {
    let [shared, all] = [0, 0];
    for (let i = band * size; i < (band + 1) * size; i++) {
      shared += Math.min(a[i] ?? 0, b[i] ?? 0);
      all += ((a[i] ?? 0) + (b[i] ?? 0)) / 2;
    }
    if (all < 1) continue;
    sum += 1 - shared / all;
    counted++;
  }
  return counted === 0 ? 0.5 : sum / counted;
}

/** Whether the colours of two tracks are as similar as those of one thing at two times. */
export const looksAlike = (a: VisitTrack, b: VisitTrack): boolean => colourDistance(a.colours, b.colours) < ALIKE;

/** Cost of taking a thing for the track; infinite if it is out of reach. */
function costOf(track: VisitTrack, thing: VisitThing, at: number, aspect: number): number {
  const seconds = (at - track.last) / 1000;
  const kind = (mostVoted(track.classes) ?? 'person') as keyof typeof SPREAD;
  const [least, perSecond] = SPREAD[kind] ?? SPREAD.person;
  const spread = Math.max(track.box.height, thing.box.height) * (least + perSecond * seconds);
  const place = predicted(track, at, aspect);
  // It went on after the last frame that shows it, and left the view.
  if (track.missed > 0 && isOutside(place)) return Number.POSITIVE_INFINITY;
  const away = distance(place, thing.box, aspect) / spread;
  if (away > REACH) return Number.POSITIVE_INFINITY;
  const size = Math.abs(Math.log2(track.box.height / thing.box.height));
  const differs = thing.name !== null && thing.name.class !== kind ? thing.name.classProbability : 0;
  return (
    WEIGHT.place * away ** 2 +
    WEIGHT.colours * colourDistance(track.colours, thing.colours) +
    WEIGHT.size * Math.min(size, 2) +
    WEIGHT.name * differs +
    WEIGHT.missed * track.missed
  );
}

/** A track, and the thing that it has in this frame. */
export interface Match {
  readonly track: VisitTrack;
  readonly thing: VisitThing;
  /** whether another pairing costs nearly as much */
  readonly close: boolean;
}

/**
 * @param limit of the cost in both rounds; default: LIMIT.first and LIMIT.second
 * @returns matches of two rounds: strong things first, then the others for the tracks that are left
 */
export function matchThings(
  tracks: readonly VisitTrack[],
  things: readonly VisitThing[],
  at: number,
  aspect: number,
  limit?: number,
): Match[] {
  const strong = things.filter(({ score }) => score >= STRONG);
  const first = assign(tracks, strong, at, aspect, limit ?? LIMIT.first);
  const left = tracks.filter((track) => !first.some((match) => match.track === track));
  const others = things.filter((thing) => !first.some((match) => match.thing === thing));
  return [...first, ...assign(left, others, at, aspect, limit ?? LIMIT.second)];
}

/** Difference of two costs that distinguishes two things (set, not fitted). */
const DISTINCT = 1;

function assign(
  tracks: readonly VisitTrack[],
  things: readonly VisitThing[],
  at: number,
  aspect: number,
  limit: number,
): Match[] {
  if (tracks.length === 0 || things.length === 0) return [];
  const costs = tracks.map((track) => things.map((thing) => costOf(track, thing, at, aspect)));
  // A column per track for "nothing", at the limit; the method takes no infinite row.
  const matrix = costs.map((row) => [...row.map((cost) => Math.min(cost, 1e3)), ...tracks.map(() => limit)]);
  const costAt = (i: number, j: number): number => costs[i]?.[j] ?? Number.POSITIVE_INFINITY;
  const pairs = munkres(matrix).filter(([i, j]) => costAt(i, j) <= limit);
  const [taken, given] = [new Map(pairs), new Map(pairs.map(([i, j]) => [j, i]))];
  /** Least additional cost of another pairing: with nothing or a free thing, of a track that has none, or exchanged. */
  const distinction = (i: number, j: number): number =>
    Math.min(
      limit - costAt(i, j),
      ...things.flatMap((_, l) => (given.has(l) ? [] : costAt(i, l) - costAt(i, j))),
      ...tracks.flatMap((_, k) => {
        const l = taken.get(k);
        if (k === i || costAt(k, j) > limit) return [];
        if (l === undefined) return costAt(k, j) - costAt(i, j);
        return costAt(i, l) > limit ? [] : costAt(i, l) + costAt(k, j) - costAt(i, j) - costAt(k, l);
      }),
    );
  return pairs.map(([i, j]) => ({
    track: tracks[i] as VisitTrack,
    thing: things[j] as VisitThing,
    close: distinction(i, j) < DISTINCT,
  }));
}
