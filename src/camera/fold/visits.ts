/** The visits of a camera in the fold of its frames: their facts, from the evidence. Pure. */
import type { Box } from '../../base/images.js';
import type { ChangeUpdate } from '../../schemas/change.js';
import type { Finding } from '../../schemas/comparison.js';
import { compareSeverity } from '../../schemas/kinds.js';
import type { VisitEvent } from '../../schemas/visit.js';
import type { ChangeRules } from '../changes/rules.js';
import { inWindows, isWatching } from '../changes/schedule.js';
import type { Observation } from '../changes/state.js';
import type { StoredCamera } from '../settings/camera.js';
import { zoneOf } from '../settings/zones.js';
import type { CameraState } from '../state/state.js';
import { viewOf, visitThings } from '../visits/facts.js';
import { absorbPlaces, foldVisits } from '../visits/fold.js';
import { linkObjects } from '../visits/links.js';
import { alertVisits, type VisitRule } from '../visits/rules.js';
import type { VisitsState } from '../visits/state.js';
import { inMinutes } from '../visits/visit.js';
import type { FrameEvidence } from './evidence.js';

interface FrameOfCamera {
  readonly camera: Pick<StoredCamera, 'id' | 'settings'>;
  /** capture time, epoch ms */
  readonly at: number;
  readonly comparisonId: string;
  readonly rules: ChangeRules;
}

interface AbsorbedPlaces extends Pick<Observation, 'light'> {
  readonly absorbed: readonly Box[];
}

interface FollowedVisits {
  readonly state: VisitsState;
  readonly events: readonly VisitEvent[];
}

/**
 * The visits after a frame, before its changes are known.
 * @param parts.finding that counts by threshold, zones and areas
 * @param parts.restart the baseline began again with this frame, or the camera is reported as stuck, or as back
 * @param parts.uncounted something differs that the threshold does not count any more
 * @param parts.repeats the frame is the picture of the frame before it
 */
export function followVisits(
  previous: CameraState,
  { baseline, examined, finding: found, seen }: FrameEvidence,
  { camera, at, comparisonId }: FrameOfCamera,
  parts: { finding: Finding | null; restart: boolean; repeats: boolean; uncounted: boolean },
): FollowedVisits {
  const { before } = baseline;
  const { finding, restart, repeats } = parts;
  const size = previous.size;
  const view = repeats ? 'repeats' : parts.uncounted ? 'hidden' : viewOf(finding, examined);
  return foldVisits(
    previous.visits,
    {
      at,
      camera: camera.id,
      comparison: comparisonId,
      number: previous.frames,
      restart,
      view,
      ...(finding?.on_lens === undefined ? {} : { onLens: finding.on_lens }),
      ...(finding?.uncounted === undefined ? {} : { uncounted: finding.uncounted }),
      before:
        before === null
          ? null
          : { key: before.frame.sha256, at: before.at, isLearned: camera.settings.before === 'memory' },
      ...(baseline.candidate.kind === 'background' ? { light: baseline.candidate.light } : {}),
      aspect: size === null ? 1 : size.width / size.height,
      things: view === 'shows' && finding !== null ? visitThings(finding, found?.regions ?? [], seen) : [],
    },
    { gapMs: camera.settings.gap_s * 1000 },
  );
}

/**
 * The visits with the changes of the frame: linked with objects, and alerted.
 * @param parts.absorbed places of changes that count as part of the scene: a learned "before" shows them from the next
 *   frame on
 */
export function concludeVisits(
  { state, events }: FollowedVisits,
  { camera, at, rules }: FrameOfCamera,
  { absorbed, light, updates }: AbsorbedPlaces & { readonly updates: readonly ChangeUpdate[] },
): FollowedVisits {
  const isLearned = camera.settings.before === 'memory';
  const linked = linkObjects(isLearned ? absorbPlaces(state, absorbed, light) : state, updates);
  const alerted = alertVisits(linked.state, events, {
    camera: camera.id,
    at,
    rules: visitRules(rules, camera.settings),
    isAlerted: (severity) =>
      rules.alerting && isWatching(at, rules) && compareSeverity(severity, rules.minSeverity) >= 0,
  });
  const timeZone = rules.schedule?.timezone ?? 'UTC';
  return {
    state: alerted.state,
    events: [...events, ...linked.events, ...alerted.events].map((event) => {
      return { ...event, visit: inMinutes(event.visit, timeZone) };
    }),
  };
}

/** The severity rules of a camera whose sentences are about visits. */
const visitRules = (
  { severity, visitSentences, schedule }: ChangeRules,
  { zones }: StoredCamera['settings'],
): VisitRule[] =>
  severity.flatMap((rule): VisitRule[] => {
    const said = visitSentences.find(({ text }) => text === rule.when)?.said;
    if (said === undefined || rule.when === undefined) return [];
    const isIn = (zone: string | undefined) =>
      (rule.zone === undefined || zone === rule.zone) && (said.zones === null || said.zones.includes(zone ?? ''));
    return [
      {
        when: rule.when,
        said,
        severity: rule.severity,
        isInside: (box) => isIn(zoneOf(box, zones, ['include'])?.id),
        isDuring: (at) => rule.during === undefined || inWindows(at, schedule?.timezone ?? 'UTC', rule.during),
      },
    ];
  });
