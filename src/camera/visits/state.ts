/**
 * State of the visits of one camera, and the facts of a frame that it is folded from. Plain JSON: times are capture
 * times in epoch ms, boxes are fractions of the frame.
 */
import type { Box, Side } from '../../base/images.js';
import type { ObjectKind } from '../../schemas/kinds.js';
import type { Thing } from '../../schemas/statement.js';
import type { Visit } from '../../schemas/visit.js';

/** A thing that one frame of a comparison shows. */
export interface VisitThing {
  readonly side: Side;
  readonly box: Box;
  /** as SeenThing.colours */
  readonly colours: readonly number[];
  /** the region's, 0..1 */
  readonly score: number;
  /** from the namer; null: it named nothing here */
  readonly name: {
    readonly noun: string;
    readonly nounProbability: number;
    /** null: no colour is probable enough */
    readonly colour: string | null;
    readonly colourProbability: number;
    /** person, vehicle, animal or object */
    readonly class: string;
    readonly classProbability: number;
    readonly count: number;
  } | null;
}

/** A frame as the visits read it. */
export interface VisitFrame {
  /** capture time */
  readonly at: number;
  readonly camera: string;
  readonly comparison: string;
  /** number of the frame within its camera; ids derive from it */
  readonly number: number;
  /**
   * "before" of the comparison: its content, the time that it shows, and whether it was learned, so that it shows a
   * thing of that time only if the thing was absorbed; null: there was none
   */
  readonly before: { readonly key: string; readonly at: number | null; readonly isLearned?: boolean } | null;
  /** width of the frame divided by its height */
  readonly aspect: number;
  /** of both sides, the strongest first */
  readonly things: readonly VisitThing[];
  /**
   * shows: the things are all that differs. equals: it equals the frame before it except for noise. repeats: it is the
   * same picture. hidden: it shows nothing of the scene (weather, tampering, no comparison).
   */
  readonly view: 'shows' | 'equals' | 'repeats' | 'hidden';
  /** parts of the view behind something on the lens; absent: there is none */
  readonly onLens?: readonly Box[];
  /** what differs and does not count by zones and areas; absent: all counts */
  readonly uncounted?: readonly Box[];
  /** of the frame; absent: "before" is no background */
  readonly light?: string;
  /** whether all tracks end: the baseline began again, or the camera is stuck, or is back */
  readonly restart: boolean;
}

export interface VisitSettings {
  /** pause that ends all tracks, ms */
  readonly gapMs: number;
}

/** Sums of the probabilities of the words for a thing, over the frames that named it. */
export type Votes = Readonly<Record<string, number>>;

/** A place at which a frame shows a thing: capture time, and the box as x, y, width and height. */
export type PathPoint = readonly [at: number, x: number, y: number, width: number, height: number];

/** The frame that shows a thing best. `side`: which frame of the comparison it is. */
interface BestFrame {
  readonly comparison: string;
  readonly side: Side;
  readonly at: number;
  readonly box: Box;
  readonly quality: number;
}

/** A thing followed from frame to frame. */
export interface VisitTrack {
  readonly id: string;
  /** capture time of the first frame that shows it, and of the last one */
  readonly begin: number;
  readonly last: number;
  /** number of frames that show it apart from other things, or as one of several */
  readonly frames: number;
  /** in the last frame that shows it */
  readonly box: Box;
  /** of the centre, fractions of the frame's height per second */
  readonly velocity: readonly [x: number, y: number];
  /** mean colours, in per cent */
  readonly colours: readonly number[];
  readonly nouns: Votes;
  readonly tints: Votes;
  readonly classes: Votes;
  /** frames per number of things */
  readonly counts: Votes;
  /** at most 32 points */
  readonly path: readonly PathPoint[];
  /** it was in view in the first frame */
  readonly there: boolean;
  /** where "before" shows it; null: it does not */
  readonly inBefore: Box | null;
  /** lights whose background does not show it there; absent: there was none when it became part of "before" */
  readonly notIn?: readonly string[];
  /** capture time of the last frame, quiet ones excluded, that shows it apart from other things */
  readonly apart: number;
  /** frames in a row in which it was one thing with another track */
  readonly merged: number;
  /** frames in a row that do not show it, and the capture time of the first of them */
  readonly missed: number;
  readonly missedSince: number | null;
  readonly uncertain: boolean;
  readonly best: BestFrame;
  readonly opened: boolean;
  /** by the rule that decided last; absent: none has alerted it */
  readonly alert?: NonNullable<Visit['alert']>;
  /** changes of objects that were left or removed beside it */
  readonly objects: readonly { readonly change: string; readonly thing: Thing; readonly value: ObjectKind }[];
}

/** A place that a thing has left. `at`: capture time of the first frame that shows it. */
export interface Vacated extends Box {
  readonly at: number;
}

export interface VisitsState {
  readonly v: 1;
  /** of the last frame; null before the first one */
  readonly at: number | null;
  /** of the last frame that was not equal to its predecessor */
  readonly lookedAt: number | null;
  /** "before" of the last comparison */
  readonly before: {
    readonly key: string;
    readonly at: number | null;
    /** places that things have left since then: it still shows them there */
    readonly vacated: readonly Vacated[];
  } | null;
  readonly aspect: number;
  readonly tracks: readonly VisitTrack[];
  /** visits that ended lately, which may have left an object that counts as left later, and the objects' own tracks */
  readonly ended: readonly EndedVisit[];
}

export interface EndedVisit {
  readonly track: VisitTrack;
  readonly end: VisitEnd;
}
export type VisitEnd = NonNullable<Visit['end']>;

export const initialVisitsState = (): VisitsState => ({
  v: 1,
  at: null,
  lookedAt: null,
  before: null,
  aspect: 1,
  tracks: [],
  ended: [],
});
