/** Parts of the answer about one frame of a camera. */
import { counted } from '../../base/counted.js';
import { isoTime } from '../../base/wall-clock.js';
import type { CameraFrame, CameraNote } from '../../schemas/camera-frame.js';
import type { CameraEvent, ChangeUpdate } from '../../schemas/change.js';
import type { Finding } from '../../schemas/comparison.js';
import { compareSeverity } from '../../schemas/kinds.js';
import { resetBaseline } from '../changes/advance.js';
import type { ChangeRules } from '../changes/rules.js';
import { isOnLens } from '../changes/scene-evidence.js';
import type { Observation, Track, TrackerState } from '../changes/state.js';
import type { CameraSettings } from '../settings/settings.js';
import type { BaselineEvent, CameraState, UnseenSpan } from '../state/state.js';

/** Weight of a new interval between frames in the exponential moving average. */
const INTERVAL_WEIGHT = 1 / 8;

export const isBaselineEvent = (event: CameraEvent | BaselineEvent): event is BaselineEvent =>
  event.type === 'baseline.set' || event.type === 'baseline.reset';

export const isChangeEvent = (event: CameraEvent | BaselineEvent): event is CameraEvent => !isBaselineEvent(event);

/** @param by orders: a person or the settings replaced "before"; otherwise the light whose background begins */
export const resetIf = (
  reset: boolean,
  state: TrackerState,
  at: number,
  by: 'orders' | NonNullable<Observation['light']> | undefined,
) => (reset ? resetBaseline(state, at, by === 'orders', by === 'orders' ? undefined : by) : { state, changes: [] });

/** The pending and open tracks, as the baseline needs them (FrameOutcome), and whether there are any. */
export function undecidedOf(tracks: readonly Track[], rules: ChangeRules) {
  const undecided = tracks.filter(({ stage }) => stage !== 'ended');
  return {
    any: undecided.length > 0,
    pending: undecided.some((track) => track.stage === 'pending' && !isOnLens(track, rules)),
    ending: undecided.some(({ stage, missed }) => stage === 'open' && missed > 0),
    undecided: undecided.flatMap(({ regions }) => regions.map(({ box }) => box)),
  };
}

/** @param at capture time of "before", epoch ms; null if unknown */
export const describeBefore = ({ before }: CameraSettings, at: number | null): CameraFrame['before'] => ({
  mode: before,
  captured_at: at === null ? null : isoTime(at),
});

/** The severity of a comparison is the highest among the changes that it shows. */
export function withSeverity(finding: Finding, changes: readonly ChangeUpdate[]): Finding {
  const [highest] = changes
    // A settled change that is only seen again is no part of this frame's difference.
    .filter(({ change, event }) => change.status !== 'reverted' && (event !== null || change.settled_at === null))
    .map(({ change }) => change.severity)
    .sort((a, b) => compareSeverity(b, a));
  return highest === undefined ? finding : { ...finding, severity: highest };
}

/** Moving average of the time between two frames without the gaps. @returns ms; null before the second frame */
export function typicalInterval(
  { last, intervalMs }: Pick<CameraState, 'intervalMs'> & { readonly last: { readonly at: number } | null },
  at: number,
  gapMs: number,
): number | null {
  if (last === null || at <= last.at || at - last.at > gapMs) return intervalMs;
  return intervalMs === null ? at - last.at : intervalMs + INTERVAL_WEIGHT * (at - last.at - intervalMs);
}

export function gapNotes({ last }: Pick<CameraState, 'last'>, at: number, gapSeconds: number): CameraNote[] {
  return gapSpans({ last }, at, gapSeconds).map(({ from }) => {
    const seconds = Math.round((at - from) / 1000);
    return { code: 'gap', detail: `no frame came for ${seconds} s before this one` };
  });
}

/** @returns the span without frames that ends with this one, if it is longer than `gap_s` */
export function gapSpans({ last }: Pick<CameraState, 'last'>, at: number, gapSeconds: number): UnseenSpan[] {
  if (last === null || Math.round((at - last.at) / 1000) <= gapSeconds) return [];
  return [{ reason: 'gap', from: last.at, until: at }];
}

export function excludedNotes(count: number): CameraNote[] {
  if (count === 0) return [];
  const detail = `${counted(count, 'changed region does', 'changed regions do')} not count by the camera's zones and areas`;
  return [{ code: 'regions_left_out', detail }];
}

/**
 * Finding of a frame without a "before": no change was seen, and the sentence is not the model's.
 * @param skipped the frame has another size than the camera's frames
 */
export function notCompared(skipped: boolean): Finding {
  const caption = skipped
    ? 'This frame is not compared because it has another size.'
    : 'There is nothing to compare this frame with yet.';
  return {
    verdict: 'none',
    kind: 'none',
    nuisance: [],
    caption,
    caption_score: 1,
    words: caption.split(' ').map((text) => ({ text, score: 1 })),
    confidence: 0,
    severity: 'info',
    regions: [],
    model: null,
  };
}
