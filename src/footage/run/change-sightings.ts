/**
 * Sightings of the changes of a recording. A change is shown by one sighting: a comparison gives its sentence,
 * confidence, regions, outlines, both pictures, and the time and file of its frame. An output gets them as one value,
 * so that it cannot draw the outline of one frame on another.
 */
import type { Settled, Track, TrackerState } from '../../camera/changes/state.js';
import type { HeatmapData } from '../../heatmaps/data.js';
import type { FoundChange } from '../../schemas/change.js';
import type { Finding } from '../../schemas/comparison.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import type { FootageChange, Moment, Outline, ShownSighting } from '../records.js';
import type { Checkpoint, ComparedFrames } from './checkpoint.js';
import { outlinesOf } from './outlines.js';
import { castVotes, type Votes, withBestSentence } from './votes.js';

export const sightingOf = (change: FootageChange): ShownSighting => {
  const { caption, confidence, regions, pictures, outlines, pictured } = change;
  return {
    caption,
    confidence,
    regions,
    pictures,
    ...(outlines === undefined ? {} : { outlines }),
    ...(pictured === undefined ? {} : { pictured }),
  };
};

/** A change without kept frames. */
export const withoutPictures = ({ caption, confidence, regions }: FoundChange): ShownSighting => ({
  caption,
  confidence,
  regions,
  pictures: { before: null, after: null },
});

type SightingState = Pick<Checkpoint, 'compared' | 'votes' | 'shown'>;

export interface SeenFrame {
  readonly comparison: string;
  readonly moment: Moment;
  readonly finding: Finding;
  /** null: it was quiet, or had nothing to be compared with */
  readonly compared: {
    readonly before: StoredFrameRef;
    readonly after: StoredFrameRef;
    readonly heatmaps: Pick<HeatmapData, 'before' | 'after'> | null;
  } | null;
  /** of a quiet frame: the comparison of the examined frame that it equals */
  readonly equals: string | undefined;
}

export class ChangeSightings {
  #compared: SightingState['compared'];
  #votes: Votes;
  /** by the id of the change */
  #shown: SightingState['shown'];
  /** votes of the tracks that resolved with the last frame, too */
  #lastVotes: Votes;

  constructor({ compared, votes, shown }: SightingState) {
    this.#compared = compared;
    this.#votes = votes;
    this.#lastVotes = votes;
    this.#shown = shown;
  }

  get state(): SightingState {
    return { compared: this.#compared, votes: this.#votes, shown: this.#shown };
  }

  /** @param tracks after the frame */
  see({ comparison, moment, finding, compared, equals }: SeenFrame, tracks: readonly Track[]): void {
    const known = equals === undefined ? undefined : this.#compared[equals];
    if (compared !== null) {
      const { before, after, heatmaps } = compared;
      const outlines = heatmaps === null ? [] : outlinesOf(heatmaps, finding.regions);
      this.#compared = { ...this.#compared, [comparison]: { before, after, outlines, moment } };
    } else if (known !== undefined) {
      this.#compared = { ...this.#compared, [comparison]: known };
    }
    const votes = castVotes(this.#votes, tracks, compared === null ? null : finding, comparison);
    this.#lastVotes = { ...this.#votes, ...votes };
    this.#votes = votes;
  }

  /**
   * The sighting that shows a change after this update: the one of the best sentence, or the one before if the frames
   * of that sentence are not kept any more.
   * @returns with the frames of its pictures if they are to be written
   */
  show(change: FoundChange): { readonly shown: ShownSighting; readonly frames: ComparedFrames | undefined } {
    const votes = this.#lastVotes[change.id];
    const earlier = this.#shown[change.id];
    // A settled change gets no more votes: its sentence stays, unless it turns out to be an object.
    if (earlier !== undefined && votes === undefined && change.object === undefined) {
      return { shown: earlier, frames: undefined };
    }
    const { caption, confidence, regions, comparisons } = withBestSentence(change, votes);
    const frames = this.#compared[comparisons.best];
    if (frames === undefined) return { shown: earlier ?? withoutPictures(change), frames };
    const outlines = frames.outlines.filter((outline) => touches(outline, regions));
    const shown: ShownSighting = {
      caption,
      confidence,
      regions,
      pictures: { before: `pictures/${change.id}-before.jpg`, after: `pictures/${change.id}-after.jpg` },
      ...(outlines.length === 0 ? {} : { outlines }),
      pictured: frames.moment,
    };
    this.#shown = { ...this.#shown, [change.id]: shown };
    return { shown, frames };
  }

  /** @returns the frames of a comparison that a change or a visit refers to */
  framesOf = (comparison: string): ComparedFrames | undefined => this.#compared[comparison];

  /** @returns the sighting of a change that was shown before */
  shownOf = (id: string): ShownSighting | undefined => this.#shown[id];

  /**
   * Drops what no tracked or settled change refers to.
   * @param examined the comparison of the last examined frame
   * @param mayBeLeft whether settled changes may turn out to be objects that were left
   * @param visits comparisons that the visits refer to
   */
  forget(
    { tracks, settled }: TrackerState,
    examined: string | undefined,
    mayBeLeft: boolean,
    visits: readonly string[],
  ): void {
    const wanted = new Set([
      examined,
      ...visits,
      ...tracks.flatMap((track) => [...comparisonsOf(track), ...(this.#votes[track.id] ?? []).map(comparisonOfVote)]),
      ...(mayBeLeft ? settled.map(comparisonOfObject) : []),
    ]);
    const ids = new Set([...tracks.map(({ id }) => id), ...settled.map(({ change }) => change.id)]);
    this.#compared = Object.fromEntries(Object.entries(this.#compared).filter(([id]) => wanted.has(id)));
    this.#shown = Object.fromEntries(Object.entries(this.#shown).filter(([id]) => ids.has(id)));
    this.#lastVotes = this.#votes;
  }
}

const comparisonOfVote = ({ best }: Votes[string][number]): string => best.comparison;
const comparisonOfObject = ({ change, still }: Settled): string | undefined =>
  change.object === undefined ? still?.best.comparisonId : undefined;

const comparisonsOf = ({ best, change, sightings, still }: Track): (string | undefined)[] => [
  best.comparisonId,
  ...Object.values(sightings).map(({ comparisonId }) => comparisonId),
  change?.comparisons.best,
  still?.best.comparisonId,
];

/** Whether a contour belongs to one of the regions: other things may have changed in the same frames. */
const touches = ({ side, points }: Outline, regions: FootageChange['regions']): boolean =>
  regions.some(
    ({ side: other, box }) =>
      side === other &&
      points.some(([x, y]) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height),
  );
