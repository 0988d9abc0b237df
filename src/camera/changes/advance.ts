/**
 * Reducer of a camera's changes: one observation takes the state to the next one, and yields the altered changes and
 * the alerts to send. It is pure: equal observations give equal changes, ids and alerts, whichever worker runs a step
 * and however often. One step does, in this order:
 *
 *   association    the tracker assigns the frame's locations to tracks, and counts sightings and absences (tracker.ts)
 *   end            a track that too many frames in a row did not show ends; an open change reverts
 *   confirmation   a pending track that enough frames in a row showed opens a change, if it lies in the scene; what
 *                  stays on the lens becomes part of "before" (scene-evidence.ts)
 *   escalation     an open change that is seen again persists; its severity may rise
 *   left objects   a change whose object has stayed for long escalates, also if it has settled (left-objects.ts)
 *   cool-down      a change that is due gives an alert, or is suppressed and counted (cool-down.ts)
 *   settling       a change that has stayed long enough becomes part of "before"
 */
import { isoTime } from '../../base/wall-clock.js';
import type { AlertIntent, CameraEvent, ChangeUpdate, FoundChange } from '../../schemas/change.js';
import { type ChangeEventType, compareSeverity, type Severity } from '../../schemas/kinds.js';
import { lastRegions } from '../../schemas/shown-change.js';
import { leftChange, openedChange, persistingChange, revertedChange, settledChange } from './change-record.js';
import { applyDelivery, decideAlert, type NumberedCooldowns, revertedAlert } from './cool-down.js';
import { isLeft, peopleOf, staySettled } from './left-objects.js';
import { isLost, isMostlyBehind, isSameLocation } from './locations.js';
import type { ChangeRules } from './rules.js';
import { isInScene } from './scene-evidence.js';
import { isWatching } from './schedule.js';
import { goneFrom, settledOf, shownAnew } from './settled.js';
import type { Observation, OpenTrack, PersonSighting, Settled, Track, TrackerState, Transition } from './state.js';
import { isExcluded, type TrackUpdate, updateTracks } from './tracker.js';

/** Bound of the state's size. Beyond it the oldest settled change stays settled permanently. */
const MAX_SETTLED = 64;
/** A settled change is reported again at most this often, because each report is a write per change. */
const SETTLED_SEEN_MS = 10_000;

/**
 * @param observation not earlier than the last one
 * @throws RangeError if it is earlier: the caller keeps the order
 */
export function advance(state: TrackerState, observation: Observation, rules: ChangeRules): Transition {
  const { at } = observation;
  if (state.at !== null && at < state.at) {
    throw new RangeError(`the observation at ${at} follows one at ${state.at}: expected ascending times`);
  }
  const people = peopleOf(state, observation, rules);
  const step = new Step(state, observation, rules, people);
  for (const update of updateTracks(state, observation, rules, people)) step.takeTrack(update);
  return step.finish();
}

/** The state after acknowledgements and delivery outcomes. An event of an unknown id has no effect. */
export function applyEvents(state: TrackerState, events: readonly CameraEvent[]): TrackerState {
  let { tracks, settled, cooldowns } = state;
  for (const event of events) {
    if ('changeId' in event) {
      const { changeId } = event;
      const marks =
        event.type === 'change.normal' ? { normal: true } : { acknowledged: event.type === 'change.acknowledged' };
      tracks = tracks.map((track) => (track.id === changeId ? { ...track, ...marks } : track));
      // A settled change is normal already.
      if (event.type !== 'change.normal') {
        settled = settled.map((one) => (one.change.id === changeId ? { ...one, ...marks } : one));
      }
    } else {
      cooldowns = applyDelivery(cooldowns, event);
    }
  }
  return { ...state, tracks, settled, cooldowns };
}

/**
 * The state after "before" was replaced: whether a tracked thing is still there cannot be seen against the new
 * "before". Pending tracks are dropped, and open changes settle without an alert. A settled change can revert later
 * only if the last frame that could show it did; a settled tampering cannot, because the next blocked lens would be
 * taken for its end.
 *
 * @param at capture time of the frame that begins the new "before", epoch ms
 * @param light of that frame
 * @param isOrdered a person or the settings replaced it, by a picture that may not show the things
 */
export function resetBaseline(
  state: TrackerState,
  at: number,
  isOrdered: boolean,
  light?: Observation['light'],
): { state: TrackerState; changes: ChangeUpdate[] } {
  const open = state.tracks.filter((track) => track.stage === 'open');
  const kept = isOrdered ? shownAnew(state) : state;
  const settled = open
    .filter(({ change, missed }) => missed === 0 && change.kind !== 'tamper')
    .map((track) => settledOf(track, at, light?.others))
    .map((one): Settled => (isOrdered ? { ...one, still: null, unproven: true } : one));
  return {
    state: { ...kept, tracks: [], settled: bounded([...kept.settled, ...settled]) },
    changes: open.map(({ change }) => ({ change: settledChange(change, at), event: 'change.settled' })),
  };
}

/** Drops the changes before a gap: a thing that goes after it may be another one than the thing that came before. */
export const forgetSettled = (state: TrackerState): TrackerState => ({ ...state, settled: [] });

/** Drops first the changes that have ended, which only keep another light from reporting the end again. */
function bounded(settled: readonly Settled[]): readonly Settled[] {
  if (settled.length <= MAX_SETTLED) return settled;
  const isGone = ({ goneIn }: Settled) => goneIn !== undefined;
  return [...settled.filter(isGone), ...settled.filter((one) => !isGone(one))].slice(-MAX_SETTLED);
}

/** One call of `advance`: collects the parts of its transition. */
class Step {
  readonly #tracks: Track[] = [];
  readonly #changes: ChangeUpdate[] = [];
  readonly #alerts: AlertIntent[] = [];
  #suppressed = 0;
  readonly #absorb: Transition['absorb'][number][] = [];
  #settled: readonly Settled[];
  #cooldowns: NumberedCooldowns;
  readonly #alerting: boolean;

  readonly #last: number | null;

  constructor(
    { settled, cooldowns, serial, at }: TrackerState,
    private readonly observation: Observation,
    private readonly rules: ChangeRules,
    private readonly people: readonly PersonSighting[],
  ) {
    this.#settled = settled;
    this.#last = at;
    this.#cooldowns = { cooldowns, serial };
    this.#alerting = rules.alerting && isWatching(observation.at, rules);
  }

  takeTrack({ track, seen }: TrackUpdate): void {
    if (track.missed + track.hidden >= this.rules.confirmFrames) this.#end(track);
    else if (track.stage === 'pending' && seen && this.#isConfirmed(track)) {
      if (isInScene(track)) this.#confirm(track);
      else this.#keepOnLens(track);
    } else if (track.stage === 'open' && seen) this.#persist(track);
    else this.#tracks.push(track);
  }

  finish(): Transition {
    this.#settled = this.#settled.map((one) => this.#watchSettled(one));
    const settling = this.#settlingTracks();
    for (const track of settling) this.#settle(track);
    const left = this.#tracks.filter((track) => !settling.some((one) => one === track));
    // A damaged frame never becomes "before".
    const hold = this.observation.lost !== undefined || left.some(({ stage }) => stage !== 'ended');
    const ended = settling.map((track) => ({ ...track, stage: 'ended' as const }));
    const { at, repeats } = this.observation;
    return {
      state: {
        at: repeats ? this.#last : at,
        // The next frame is compared with this one, which shows all ended locations.
        tracks: this.rules.before === 'previous' && !hold ? [] : [...left, ...ended],
        settled: bounded(this.#settled),
        ...this.#cooldowns,
        people: this.people,
      },
      changes: this.#changes,
      alerts: this.#alerts,
      suppressed: this.#suppressed,
      hold,
      absorb: this.#absorb,
    };
  }

  #isConfirmed({ seen, firstSeen }: Track): boolean {
    const { confirmFrames, persistMs } = this.rules;
    return seen >= confirmFrames && this.observation.at - firstSeen >= persistMs;
  }

  /** A thing that stays on the lens becomes part of "before" without a change. */
  #keepOnLens(track: Track): void {
    const { scene: limit } = this.rules.settleMs;
    const settles = limit !== null && this.observation.at - track.firstSeen >= limit;
    if (settles) this.#absorb.push(...track.regions);
    this.#tracks.push(settles ? { ...track, stage: 'ended' } : track);
  }

  /** A confirmed track is a new change, unless it undoes or repeats a settled one. */
  #confirm(track: Track): void {
    if (track.settled === null) {
      const change = openedChange(track, this.observation, this.rules);
      this.#record({ ...track, stage: 'open', change }, 'change.opened');
      return;
    }
    const { id, relation } = track.settled;
    const settled = this.#settled.find(({ change }) => change.id === id);
    if (settled !== undefined && relation === 'undoes') {
      this.#settled = this.#settled.flatMap((one) => (one === settled ? goneFrom(one, this.observation) : [one]));
      if (settled.goneIn === undefined) this.#revert(settled, track.firstSeen);
    } else if (settled?.notIn !== undefined) {
      const notIn = settled.notIn.filter((light) => light !== this.observation.light?.now);
      this.#settled = this.#settled.map((one) => (one === settled ? { ...one, notIn } : one));
    }
    this.#absorb.push(...track.regions);
    this.#tracks.push({ ...track, stage: 'ended' });
  }

  #persist(track: OpenTrack): void {
    const { change, escalated } = persistingChange(track, this.observation, this.rules);
    const first = track.change.status === 'opened' ? 'change.persisting' : null;
    const left = isLeft(change, track.still, this.rules);
    const next = left ? leftChange(change, track.still, this.observation.at, this.rules) : change;
    this.#record({ ...track, change: next }, escalated || left ? 'change.escalated' : first);
  }

  /** A settled change whose thing this frame proves to be as it was; it may count as left or removed now. */
  #watchSettled(settled: Settled): Settled {
    const { at, verdict, lost, onLens, uncounted, repeats, light } = this.observation;
    if (settled.goneIn !== undefined || settled.notIn?.some((one) => one === light?.now)) return settled;
    const outlines = lastRegions(settled.change);
    const isCovered = this.#tracks.some((track) => track.stage !== 'ended' && isSameLocation(track.regions, outlines));
    const isHidden = [onLens, uncounted].some((parts) => isMostlyBehind(outlines, parts)) || isLost(outlines, lost);
    const isProof = settled.unproven !== true && (verdict === 'none' || verdict === 'change');
    if (isCovered || isHidden || !isProof) return settled;
    const still = settled.still && !repeats ? staySettled(settled.still, at, this.#last) : settled.still;
    const change = { ...settled.change, last_seen: isoTime(at) };
    const { reportedAt } = settled;
    if (isLeft(change, still, this.rules)) {
      const left = leftChange(change, still, at, this.rules);
      const alerted = this.#alertIfDue(left, settled.lastAlerted, settled.acknowledged);
      this.#changes.push({ change: alerted.change, event: 'change.escalated' });
      return { ...settled, still, ...alerted, reportedAt: at };
    }
    const reports = at - reportedAt >= SETTLED_SEEN_MS;
    if (reports) this.#changes.push({ change, event: null });
    return { ...settled, still, change, reportedAt: reports ? at : reportedAt };
  }

  /** Keeps the track with its change, and decides the alert if one is due at this severity. */
  #record(track: OpenTrack, event: ChangeEventType | null): void {
    const alerted = this.#alertIfDue(track.change, track.lastAlerted, track.acknowledged);
    this.#changes.push({ change: alerted.change, event });
    this.#tracks.push({ ...track, ...alerted });
  }

  /** @param lastAlerted severity of its last alert; null: there was none */
  #alertIfDue(change: FoundChange, lastAlerted: Severity | null, acknowledged: boolean) {
    const due =
      this.#alerting &&
      !acknowledged &&
      compareSeverity(change.severity, this.rules.minSeverity) >= 0 &&
      (lastAlerted === null || compareSeverity(change.severity, lastAlerted) > 0);
    if (!due) return { change, lastAlerted };
    const type = lastAlerted === null ? 'change.opened' : 'change.escalated';
    const decision = decideAlert(type, change, this.observation.at, this.#cooldowns, this.rules);
    this.#cooldowns = decision.next;
    if (decision.alert === null) this.#suppressed++;
    else this.#alerts.push(decision.alert);
    return { change: decision.alert?.change ?? change, lastAlerted: change.severity };
  }

  #end(track: Track): void {
    if (track.stage === 'open') this.#revert(track, track.missedSince ?? this.observation.at);
  }

  #revert({ change, acknowledged }: Pick<Settled, 'change' | 'acknowledged'>, since: number): void {
    const reverted = revertedChange(change, since);
    this.#changes.push({ change: reverted, event: 'change.reverted' });
    // The end of a change is alerted only if its beginning was.
    if (reverted.alerted_at === null || acknowledged || !this.#alerting) return;
    this.#alerts.push(revertedAlert(reverted, this.observation.at));
  }

  /** Open tracks that stayed for the settling time and that "before" can take over with this frame. */
  #settlingTracks(): OpenTrack[] {
    const { before, settleMs } = this.rules;
    const { at, lost, shifted } = this.observation;
    // "before" takes nothing of such frames.
    if (lost !== undefined || shifted === true) return [];
    const isDue = (track: Track): track is OpenTrack => {
      if (track.stage !== 'open' || track.missed > 0) return false;
      if (track.normal === true) return true;
      const limit = track.change.kind === 'tamper' ? settleMs.tamper : settleMs.scene;
      return limit !== null && at - track.firstSeen >= limit;
    };
    const undecided = this.#tracks.filter(({ stage }) => stage !== 'ended');
    // A previous frame is replaced as a whole; a background model takes over only what this frame shows.
    if (before === 'previous') return undecided.every(isDue) ? undecided : [];
    const isShown = (track: OpenTrack) => track.change.last_seen === isoTime(at) || isExcluded(track, this.observation);
    return undecided.filter(isDue).filter(isShown);
  }

  #settle(track: OpenTrack): void {
    const settled = settledOf(track, this.observation.at, this.observation.light?.others);
    this.#settled = [...this.#settled, settled];
    this.#absorb.push(...track.regions);
    this.#changes.push({ change: settled.change, event: 'change.settled' });
  }
}
