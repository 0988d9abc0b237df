/**
 * The life of a camera's changes: a pure step from one observation to the next. The same observations give the same changes and alerts,
 * whatever worker takes them and however often a step is taken again.
 *
 *   seen -> pending -> opened -> persisting -> reverted
 *                                          \-> settled: part of what is normal, until the opposite is seen there
 */
import {
  type AlertIntent,
  type CameraEvent,
  type ChangeEventType,
  type ChangeUpdate,
  compareSeverity,
  type FoundChange,
} from '../schemas/change.js';
import { applyDelivery, decideAlert } from './cool-down.js';
import { derivedId } from './identity.js';
import type { ChangeRules } from './rules.js';
import { isWatching } from './schedule.js';
import { severityOf } from './severity.js';
import type { Observation, Track, TrackerState, Transition } from './state.js';
import { follow, kindOf, type TrackUpdate, zoneOf } from './tracks.js';

/** Settled changes that the opposite is looked for; older ones stay as they are. */
export const MAX_SETTLED = 64;

/** The state with what has become known since. Unknown ids are passed over: what they were about has ended. */
export function applyEvents(state: TrackerState, news: readonly CameraEvent[]): TrackerState {
  let { tracks, settled, quiet } = state;
  for (const one of news) {
    if (one.type === 'change.acknowledged') {
      const acknowledged = true;
      tracks = tracks.map((track) => (track.id === one.changeId ? { ...track, acknowledged } : track));
      settled = settled.map((kept) => (kept.change.id === one.changeId ? { ...kept, acknowledged } : kept));
    } else {
      quiet = applyDelivery(quiet, one);
    }
  }
  return { ...state, tracks, settled, quiet };
}

/**
 * Where "before" is another one from now on, nothing says any more whether what was followed is still there: what was pending is dropped,
 * and a change ends without an alert, as part of what is normal from `at` on. Its going is looked for only where the last frame that could
 * tell showed it; of a lens that was blocked nothing is remembered, or the next blocked one would be taken for its end.
 *
 * @param at epoch ms, of the frame that begins anew
 */
export function resetBaseline(state: TrackerState, at: number): Pick<Transition, 'state' | 'changes'> {
  const ended = state.tracks.flatMap(({ change, stage, missed, acknowledged }) =>
    stage !== 'open' || change === null
      ? []
      : [{ change: { ...change, settled_at: iso(at) }, acknowledged, missed }],
  );
  const remembered = ended.filter(({ change, missed }) => missed === 0 && change.kind !== 'tamper');
  return {
    state: {
      ...state,
      tracks: [],
      settled: bounded([
        ...state.settled,
        ...remembered.map(({ change, acknowledged }) => ({ change, acknowledged })),
      ]),
    },
    changes: ended.map(({ change }) => ({ change, event: 'change.settled' })),
  };
}

/**
 * @param observation not taken before the last one
 * @throws RangeError where it was: the caller keeps the order.
 */
export function advance(state: TrackerState, observation: Observation, rules: ChangeRules): Transition {
  const { at } = observation;
  if (state.at !== null && at < state.at) {
    throw new RangeError(
      `observation of ${at} after one of ${state.at}: expected them in the order of their time`,
    );
  }
  const step = new Step(state, observation, rules);
  for (const followed of follow(state, observation, rules)) step.take(followed);
  return step.finish();
}

const iso = (at: number): string => new Date(at).toISOString();
const bounded = (settled: TrackerState['settled']) => settled.slice(-MAX_SETTLED);

/** One call of `advance`: collects what it makes. */
class Step {
  readonly #tracks: Track[] = [];
  readonly #changes: ChangeUpdate[] = [];
  readonly #alerts: AlertIntent[] = [];
  readonly #absorb: Transition['absorb'][number][] = [];
  #settled: TrackerState['settled'];
  #quiet: TrackerState['quiet'];
  #serial: number;
  readonly #watching: boolean;

  constructor(
    state: TrackerState,
    private readonly observation: Observation,
    private readonly rules: ChangeRules,
  ) {
    this.#settled = state.settled;
    this.#quiet = state.quiet;
    this.#serial = state.serial;
    this.#watching = rules.alerting && isWatching(observation.at, rules);
  }

  take({ track, seen }: TrackUpdate): void {
    if (track.missed + (track.hidden ?? 0) >= this.rules.confirmFrames) this.#end(track);
    else if (track.stage === 'pending' && seen && this.#isConfirmed(track)) this.#confirmed(track);
    else if (track.stage === 'open' && seen) this.#persist(track);
    else this.#tracks.push(track);
  }

  finish(): Transition {
    const settling = this.#settling();
    for (const track of settling) this.#settle(track);
    const left = this.#tracks.filter((track) => !settling.includes(track));
    const hold = left.some(({ stage }) => stage !== 'resolved');
    const moves = this.rules.before === 'previous' && !hold;
    return {
      state: {
        v: 1,
        at: this.observation.at,
        // The frame that is the next "before" has all that was resolved in it.
        tracks: moves
          ? []
          : [...left, ...settling.map((track) => ({ ...track, stage: 'resolved' as const }))],
        settled: bounded(this.#settled),
        quiet: this.#quiet,
        serial: this.#serial,
      },
      changes: this.#changes,
      alerts: this.#alerts,
      hold,
      absorb: this.#absorb,
    };
  }

  #isConfirmed({ seen, firstSeen }: Track): boolean {
    const { confirmFrames, persistMs } = this.rules;
    return seen >= confirmFrames && this.observation.at - firstSeen >= persistMs;
  }

  #confirmed(track: Track): void {
    if (track.settled === null) this.#open(track);
    else this.#resolve(track, track.settled);
  }

  #open(track: Track): void {
    const { at, comparisonId } = this.observation;
    const kind = kindOf(track);
    const change: FoundChange = {
      id: track.id,
      camera: this.rules.camera,
      zone: zoneOf(track.regions),
      kind,
      caption: track.best.caption,
      confidence: track.best.confidence,
      status: 'opened',
      severity: severityOf({ kind, regions: track.regions }, at, this.rules),
      first_seen: iso(track.firstSeen),
      confirmed_at: iso(at),
      last_seen: iso(at),
      settled_at: null,
      reverted_at: null,
      alerted_at: null,
      suppressed_count: 0,
      regions: [...track.regions],
      comparisons: { first: track.firstComparison, best: track.best.comparisonId, last: comparisonId },
    };
    this.#decideAlert({ ...track, stage: 'open', change }, change, 'change.opened');
  }

  /** What it shows is no new change: the end of one that had settled, or that one in a light in which it was not learned yet. */
  #resolve(track: Track, { id, relation }: NonNullable<Track['settled']>): void {
    const settled = this.#settled.find(({ change }) => change.id === id);
    if (settled !== undefined && relation === 'undoes') {
      this.#settled = this.#settled.filter((one) => one !== settled);
      this.#revert(settled.change, track.firstSeen, settled.acknowledged);
    }
    this.#absorb.push(...track.regions);
    this.#tracks.push({ ...track, stage: 'resolved' });
  }

  #persist(track: Track): void {
    const { change } = track;
    if (change === null) throw new Error(`open track ${track.id} has no change`);
    const { at, comparisonId } = this.observation;
    const now = severityOf({ kind: change.kind, regions: track.regions }, at, this.rules);
    const escalated = compareSeverity(now, change.severity) > 0;
    const seenAgain: FoundChange = {
      ...change,
      status: 'persisting',
      severity: escalated ? now : change.severity,
      last_seen: iso(at),
      regions: [...track.regions],
      comparisons: { ...change.comparisons, last: comparisonId },
    };
    const event = escalated ? 'change.escalated' : change.status === 'opened' ? 'change.persisting' : null;
    this.#decideAlert(track, seenAgain, event);
  }

  /** Alerts of what nobody was told yet, at this severity; keeps the track. */
  #decideAlert(track: Track, change: FoundChange, event: ChangeEventType | null): void {
    const { told } = track;
    const due =
      this.#watching &&
      !track.acknowledged &&
      compareSeverity(change.severity, this.rules.minSeverity) >= 0 &&
      (told === null || compareSeverity(change.severity, told) > 0);
    if (!due) {
      this.#changes.push({ change, event });
      this.#tracks.push({ ...track, change });
      return;
    }
    const type = told === null ? 'change.opened' : 'change.escalated';
    const known = { quiet: this.#quiet, serial: this.#serial };
    const { quiet, serial, alert } = decideAlert(type, change, this.observation.at, known, this.rules);
    this.#quiet = quiet;
    this.#serial = serial;
    if (alert !== null) this.#alerts.push(alert);
    const after = alert?.change ?? change;
    this.#changes.push({ change: after, event });
    this.#tracks.push({ ...track, change: after, told: change.severity });
  }

  #end({ stage, change, missedSince, acknowledged }: Track): void {
    if (stage === 'open' && change !== null) {
      this.#revert(change, missedSince ?? this.observation.at, acknowledged);
    }
  }

  #revert(change: FoundChange, since: number, acknowledged: boolean): void {
    const reverted: FoundChange = { ...change, status: 'reverted', reverted_at: iso(since) };
    this.#changes.push({ change: reverted, event: 'change.reverted' });
    // Only those who heard that it came need to hear that it went.
    if (reverted.alerted_at === null || acknowledged || !this.#watching) return;
    const { at } = this.observation;
    this.#alerts.push({
      id: derivedId('alr', at, `${change.id}\nchange.reverted`),
      type: 'change.reverted',
      change: reverted,
      suppressedCount: 0,
      cooldownKey: null,
      at,
    });
  }

  /** Those that have stayed long enough, where "before" can take them over. */
  #settling(): Track[] {
    const { before, settleMs } = this.rules;
    const { at } = this.observation;
    const stayed = ({ stage, firstSeen, missed, change }: Track): boolean => {
      if (stage !== 'open' || change === null || missed > 0) return false;
      const limit = change.kind === 'tamper' ? settleMs.tamper : settleMs.scene;
      return limit !== null && at - firstSeen >= limit;
    };
    const active = this.#tracks.filter(({ stage }) => stage !== 'resolved');
    // The frame before is taken over as a whole, or not at all; of a background only what this frame shows.
    if (before === 'previous') return active.every(stayed) ? active : [];
    return active.filter((track) => stayed(track) && track.change?.last_seen === iso(at));
  }

  #settle({ change, regions, acknowledged }: Track): void {
    if (change === null) return;
    const settled = { ...change, settled_at: iso(this.observation.at) };
    this.#settled = [...this.#settled, { change: settled, acknowledged }];
    this.#absorb.push(...regions);
    this.#changes.push({ change: settled, event: 'change.settled' });
  }
}
