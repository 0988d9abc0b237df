/**
 * State and observations of the change tracker. The state is plain JSON: it is saved with each comparison and read
 * before the next one, by `stores/cameras/camera-state.ts`.
 */
import type { Box } from '../../base/images.js';
import type { Caption } from '../../language/write.js';
import type { AlertIntent, ChangeRegion, ChangeUpdate, FoundChange } from '../../schemas/change.js';
import type { Fact } from '../../schemas/comparison.js';
import type { ChangeKind, KINDS, Severity, StatementKind, VERDICTS } from '../../schemas/kinds.js';
import type { Light } from '../settings/light.js';

/** One finished comparison of the camera after zones, thresholds and areas were applied. */
export interface Observation {
  readonly comparisonId: string;
  /** capture time, epoch ms; never earlier than that of the observation before */
  readonly at: number;
  /** number of the frame within its camera; it distinguishes two frames of the same capture time */
  readonly frame: number;
  readonly verdict: (typeof VERDICTS)[number];
  readonly kind: (typeof KINDS)[number];
  /** 0..1 */
  readonly confidence: number;
  readonly caption: Caption;
  /** in descending order of score */
  readonly regions: readonly ChangeRegion[];
  /** null if the model states nothing about single locations */
  readonly statements: readonly ObservedStatement[] | null;
  /** parts of the frame that show nothing of the scene; absent: the frame is whole */
  readonly lost?: readonly Box[];
  /** parts of the view behind something on the lens; absent: there is none */
  readonly onLens?: readonly Box[];
  /** what differs and does not count by zones and areas; absent: all counts */
  readonly uncounted?: readonly Box[];
  /** of the probability of a change, 0..1; absent: that of the bundle */
  readonly threshold?: number;
  /** absent if the model names nothing */
  readonly things?: readonly ObservedThing[];
  /** the picture of the observation before: the time between the two proves nothing of what stays */
  readonly repeats?: boolean;
  /** of the frame, and the others that have a background; absent: "before" is no background */
  readonly light?: { readonly now: Light; readonly others: readonly Light[] };
  /** the view lies so far from that of "before" that a background model takes nothing of it */
  readonly shifted?: boolean;
  /** as the visits of the camera follow them; absent: none are followed */
  readonly inView?: readonly ThingInView[];
}

/** A thing that is in view, or was in the last few frames. */
export interface ThingInView {
  /** in the last frame that shows it */
  readonly box: Box;
  /** by most of the frames that named it; null: none did, or this frame does not show it apart from others */
  readonly noun: string | null;
  /** where "before" shows it */
  readonly from: readonly Box[];
}

export interface ObservedThing {
  /** the most probable of person, vehicle, animal and object */
  readonly class: string;
  /** probability that it is an object, 0..1; 0 if another class is more probable */
  readonly object: number;
  /** as its fact states them */
  readonly kind: Fact['kind'];
  readonly nouns: NonNullable<Fact['nouns']>;
  readonly colours: NonNullable<Fact['colours']>;
  /** members of `regions` of the observation */
  readonly regions: readonly ChangeRegion[];
}

export interface PersonSighting {
  readonly comparison: string;
  /** capture time, epoch ms */
  readonly at: number;
  readonly box: Box;
}

/** A thing that has not moved since the first frame that showed it here. */
export interface Still {
  readonly kind: 'appear' | 'disappear';
  /** its outline in that frame */
  readonly regions: readonly ChangeRegion[];
  /** capture times of that frame and of the last one that proves it, epoch ms */
  readonly since: number;
  readonly at: number;
  /** time between observations in a row that prove it, ms */
  readonly ms: number;
  /** frames that name it, and the sum of their probabilities that it is an object */
  readonly frames: number;
  readonly object: number;
  /** the frame in which it is most probably an object */
  readonly best: {
    readonly comparisonId: string;
    readonly caption: Caption;
    readonly probability: number;
    /** of that comparison, as the regions */
    readonly confidence: number;
    readonly regions: readonly ChangeRegion[];
  };
  /** the person beside it when it came or went; null: no person was near */
  readonly owner: PersonSighting | null;
}

export interface ObservedStatement {
  readonly caption: Caption;
  readonly kind: StatementKind;
  /** members of `regions` of the observation */
  readonly regions: readonly ChangeRegion[];
}

/** Regions of one observation that belong to one thing. The tracker associates locations with tracks. */
export interface Location {
  readonly kind: ChangeKind;
  readonly regions: readonly ChangeRegion[];
  readonly caption: Caption;
  /** whether the comparison states it; otherwise it is a plain statement */
  readonly stated: boolean;
}

/** The comparison that gives a change its caption and pictures. */
interface CaptionSource {
  readonly comparisonId: string;
  readonly caption: Caption;
  readonly confidence: number;
}

/** The frame that shows a track of one kind best. */
export interface Sighting extends CaptionSource {
  readonly stated: boolean;
  /** the regions of the location that fit the kind */
  readonly regions: readonly ChangeRegion[];
}

/** The sentence of a rule, and the frames that name the thing with the sum of its probabilities in them. */
export interface JudgedSentence {
  readonly when: string;
  readonly frames: number;
  readonly sum: number;
}

interface TrackFields {
  /** id of the change that the track becomes */
  readonly id: string;
  /** capture time, epoch ms */
  readonly firstSeen: number;
  readonly firstComparison: string;
  /** frames that showed it; while pending, the count restarts with every frame that shows its absence */
  readonly seen: number;
  /**
   * frames in a row that show its absence; while pending, only a confirmed row of sightings sets the count back to 0
   */
  readonly missed: number;
  /** capture time of the first of the missed frames, epoch ms */
  readonly missedSince: number | null;
  /** frames in a row that could not show it, counted while pending */
  readonly hidden: number;
  readonly regions: readonly ChangeRegion[];
  /** number of frames per kind */
  readonly kinds: Readonly<Partial<Record<ChangeKind, number>>>;
  readonly best: CaptionSource;
  /** of the last observation that showed it, as there */
  readonly threshold?: number;
  /** per kind, until it opens */
  readonly sightings: Readonly<Partial<Record<ChangeKind, Sighting>>>;
  /**
   * the settled change that this track undoes (the thing is gone) or repeats (the background model does not have it
   * yet)
   */
  readonly settled: { readonly id: string; readonly relation: 'undoes' | 'repeats' } | null;
  /** highest severity for which an alert was made or suppressed; null before the first one */
  readonly lastAlerted: Severity | null;
  readonly acknowledged: boolean;
  /** null: it moves, or nothing names it */
  readonly still: Still | null;
  /** sum of the log-odds that it lies in the scene, of its frames; absent: the bundle does not separate the lens */
  readonly scene?: number;
  /** absent: there are no rules with a sentence, or no frame named it */
  readonly judged?: readonly JudgedSentence[];
  /** true: a person says that it is normal, so that it settles with the next frame that shows it */
  readonly normal?: boolean;
}

/**
 * A location followed from frame to frame. pending: not confirmed; open: a change; ended: the change has ended or
 * settled, and the track remains until "before" shows the same, so that the location is not taken for a new change.
 */
export type Track = TrackFields &
  (
    | { readonly stage: 'pending'; readonly change: null }
    | { readonly stage: 'open'; readonly change: FoundChange }
    | { readonly stage: 'ended'; readonly change: FoundChange | null }
  );
export type OpenTrack = Extract<Track, { stage: 'open' }>;

/** A change that has become part of "before". */
export interface Settled {
  /** its `last_seen` goes on with every frame that proves it */
  readonly change: FoundChange;
  /** the latest `last_seen` that a step has reported, epoch ms */
  readonly reportedAt: number;
  readonly acknowledged: boolean;
  /** as those of its track */
  readonly still: Still | null;
  readonly lastAlerted: Severity | null;
  /** true: "before" was replaced by a picture that may not show it, so that an equal frame proves nothing about it */
  readonly unproven?: boolean;
  /** lights whose background does not show it; absent: there was none when it settled */
  readonly notIn?: readonly Light[];
  /** it has reverted, and the backgrounds of these lights may still show it; absent: it has not */
  readonly goneIn?: readonly Light[];
}

/** Cool-down of one location, zone and kind. */
export interface Cooldown {
  /** camera/zone/kind/serial number */
  readonly key: string;
  readonly zone: string | null;
  readonly kind: ChangeKind;
  readonly regions: readonly ChangeRegion[];
  /** the last alert of the location, its capture time (epoch ms) and its severity */
  readonly alertId: string;
  readonly at: number;
  readonly severity: Severity;
  /** 'under way' counts as delivered; 'failed' means that alerts are allowed again */
  readonly delivery: 'under way' | 'delivered' | 'failed';
  /** alerts suppressed or lost since the last one; the next alert carries the count */
  readonly suppressed: number;
}

export interface TrackerState {
  /** capture time of the last observation, epoch ms */
  readonly at: number | null;
  readonly tracks: readonly Track[];
  /** in the order in which they settled */
  readonly settled: readonly Settled[];
  /** in the order of their last alert */
  readonly cooldowns: readonly Cooldown[];
  /** serial number of the newest cool-down */
  readonly serial: number;
  /** people of the last seconds, who may own what comes or goes */
  readonly people: readonly PersonSighting[];
}

export const initialTrackerState = (): TrackerState => ({
  at: null,
  tracks: [],
  settled: [],
  cooldowns: [],
  serial: 0,
  people: [],
});

export interface Transition {
  readonly state: TrackerState;
  /** changes that the observation created or altered */
  readonly changes: readonly ChangeUpdate[];
  readonly alerts: readonly AlertIntent[];
  /** number of alerts that a cool-down suppressed */
  readonly suppressed: number;
  /** The next frame must be compared with the same "before", because a track is pending or open. */
  readonly hold: boolean;
  /** Regions that are normal from now on: the background model copies them from this frame. */
  readonly absorb: readonly ChangeRegion[];
}
