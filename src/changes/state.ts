/** What is remembered of a camera between two frames. Plain JSON: it is saved with each comparison and read before the next. */
import type {
  AlertIntent,
  ChangeKind,
  ChangeRegion,
  ChangeUpdate,
  FoundChange,
  Severity,
} from '../schemas/change.js';
import type { KINDS, VERDICTS } from '../schemas/comparison.js';

/** One finished comparison of the camera, with the regions that count: zones, thresholds and areas have been applied. */
export interface Observation {
  readonly comparisonId: string;
  /** epoch ms: when the frame was taken; never earlier than the observation before */
  readonly at: number;
  /** which of the camera's frames it is: no two observations of a camera have the same, those of one moment neither */
  readonly frame: number;
  readonly verdict: (typeof VERDICTS)[number];
  readonly kind: (typeof KINDS)[number];
  readonly confidence: number;
  readonly caption: string;
  /** the strongest first */
  readonly regions: readonly ChangeRegion[];
}

/** A place of an observation that differs: what a track is matched with. */
export interface Location {
  readonly kind: ChangeKind;
  readonly regions: readonly ChangeRegion[];
}

/** The observation that gave a change its caption and pictures. */
export interface CaptionSource {
  readonly comparisonId: string;
  readonly caption: string;
  readonly confidence: number;
}

/** A place that differs, from frame to frame. */
export interface Track {
  /**
   * pending: not confirmed yet; open: a change; resolved: its change has ended or settled, and the place is followed only until the anchor
   * has taken it over, so that it does not count as new.
   */
  readonly stage: 'pending' | 'open' | 'resolved';
  /** identity of the change it becomes */
  readonly id: string;
  readonly firstSeen: number;
  readonly firstComparison: string;
  /** frames that showed it; while it is pending, since the last one that said it is absent */
  readonly seen: number;
  /** frames in a row without it, up to now, and the time of the first of them; while it is pending, since so many in a row showed it */
  readonly missed: number;
  readonly missedSince: number | null;
  /** of a pending one: frames in a row, up to now, that could not tell; states from before this have none */
  readonly hidden?: number;
  readonly regions: readonly ChangeRegion[];
  /** how often each kind was seen */
  readonly kinds: Readonly<Partial<Record<ChangeKind, number>>>;
  readonly best: CaptionSource;
  /** the settled change that it takes back, or shows once more */
  readonly settled: { readonly id: string; readonly relation: 'undoes' | 'repeats' } | null;
  /** null while pending */
  readonly change: FoundChange | null;
  /** the highest severity that was alerted, or kept quiet by a cool-down; null where neither was */
  readonly told: Severity | null;
  /** a person knows */
  readonly acknowledged: boolean;
}

/** A change that has become part of what is normal. */
export interface Settled {
  readonly change: FoundChange;
  readonly acknowledged: boolean;
}

/** A place that was alerted a while ago. */
export interface Cooldown {
  /** the cool-down's key: camera, zone, kind and the place as a serial number */
  readonly key: string;
  readonly zone: string | null;
  readonly kind: ChangeKind;
  readonly regions: readonly ChangeRegion[];
  /** of its last alert */
  readonly alertId: string;
  readonly at: number;
  readonly severity: Severity;
  /** under way: counts as delivered until it is known to have failed; failed: no cool-down */
  readonly delivery: 'under way' | 'delivered' | 'failed';
  /** alerts kept quiet since, or lost with a failed delivery: told with the next */
  readonly suppressed: number;
}

export interface TrackerState {
  readonly v: 1;
  /** of the last observation, epoch ms */
  readonly at: number | null;
  readonly tracks: readonly Track[];
  /** what is part of what is normal now, the oldest first */
  readonly settled: readonly Settled[];
  readonly quiet: readonly Cooldown[];
  /** numbers the cool-down's keys */
  readonly serial: number;
}

export const initialTrackerState = (): TrackerState => ({
  v: 1,
  at: null,
  tracks: [],
  settled: [],
  quiet: [],
  serial: 0,
});

export interface Transition {
  readonly state: TrackerState;
  /** the changes that this observation made or altered */
  readonly changes: readonly ChangeUpdate[];
  readonly alerts: readonly AlertIntent[];
  /** Compare the next frame with the same "before": something that it shows is not decided, or has not settled. */
  readonly hold: boolean;
  /** Places at which what is seen now is normal from now on: the learned background takes them from this frame. */
  readonly absorb: readonly ChangeRegion[];
}
