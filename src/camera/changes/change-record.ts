/** Records of a change (`FoundChange`) when it opens, is seen again, settles or reverts. */
import { isoTime } from '../../base/wall-clock.js';
import { endedSentence } from '../../language/ended.js';
import { statementOf } from '../../language/read-clauses.js';
import { type Caption, write } from '../../language/write.js';
import type { ChangeRegion, FoundChange } from '../../schemas/change.js';
import { CHANGE_KINDS, type ChangeKind, compareSeverity } from '../../schemas/kinds.js';
import { lastRegions } from '../../schemas/shown-change.js';
import { fittingRegions, leftCaption, sightingOf } from './captions.js';
import { captionInView } from './in-view.js';
import { objectOf } from './left-objects.js';
import { namePlaces, zoneOfRegions } from './place-names.js';
import { meansOf } from './rule-sentences.js';
import type { ChangeRules } from './rules.js';
import { severityOf } from './severity.js';
import type { Observation, OpenTrack, Still, Track } from './state.js';

export function openedChange(track: Track, observation: Observation, rules: ChangeRules): FoundChange {
  const { at, comparisonId } = observation;
  const kind = kindOf(track);
  const best = sightingOf(track, kind);
  const { regions } = best;
  const last = fittingRegions(kind, track.regions) ?? regions;
  const stated = captionInView(best.caption, kind, last, observation.inView);
  const { caption, model, content } = sentencesOf(stated, kind, regions, rules);
  const judged = meansOf(track.judged);
  return {
    id: track.id,
    camera: rules.camera,
    zone: zoneOfRegions(regions),
    kind,
    caption,
    ...(caption === model ? {} : { model_caption: model }),
    ...(content === null ? {} : { content }),
    ...(judged === undefined ? {} : { judged }),
    confidence: best.confidence,
    status: 'opened',
    severity: severityOf({ kind, regions: last, judged }, at, rules),
    first_seen: isoTime(track.firstSeen),
    confirmed_at: isoTime(at),
    last_seen: isoTime(at),
    settled_at: null,
    reverted_at: null,
    alerted_at: null,
    suppressed_count: 0,
    regions: [...regions],
    ...lastRegionsOf(last, regions),
    comparisons: { first: track.firstComparison, best: best.comparisonId, last: comparisonId },
  };
}

/** The severity rises with the regions and the time of day (escalation) and never falls. */
export function persistingChange(
  { change, regions: outlines, judged: sentences }: OpenTrack,
  { at, comparisonId }: Observation,
  rules: ChangeRules,
): { change: FoundChange; escalated: boolean } {
  const regions = fittingRegions(change.kind, outlines) ?? lastRegions(change);
  const { judged: _former, last_regions: _last, ...rest } = change;
  const judged = meansOf(sentences);
  const severity = severityOf({ kind: change.kind, regions, object: change.object?.value, judged }, at, rules);
  const escalated = compareSeverity(severity, change.severity) > 0;
  const persisting: FoundChange = {
    ...rest,
    ...(judged === undefined ? {} : { judged }),
    status: 'persisting',
    severity: escalated ? severity : change.severity,
    last_seen: isoTime(at),
    ...lastRegionsOf(regions, change.regions),
    comparisons: { ...change.comparisons, last: comparisonId },
  };
  return { change: persisting, escalated };
}

/** @param shown the regions in the frames of the best comparison */
const lastRegionsOf = (last: readonly ChangeRegion[], shown: readonly ChangeRegion[]) =>
  JSON.stringify(last) === JSON.stringify(shown) ? {} : { last_regions: [...last] };

/**
 * The change as an object that was left or removed: in the words, frames and regions of the comparison that shows the
 * object best, because the person who brought it may have been there first.
 * @param at capture time of the observation, epoch ms
 */
export function leftChange(change: FoundChange, still: Still, at: number, rules: ChangeRules): FoundChange {
  const object = objectOf(still, at);
  const { model_caption: _former, content: _stated, last_regions: _last, ...rest } = change;
  const { judged } = change;
  const { kind, best } = still;
  const regions = fittingRegions(kind, best.regions ?? change.regions) ?? change.regions;
  const { caption, model, content } = sentencesOf(leftCaption(best.caption, kind), kind, regions, rules);
  const severity = severityOf({ kind, regions, object: object.value, judged }, at, rules);
  return {
    ...rest,
    kind,
    object,
    caption,
    ...(caption === model ? {} : { model_caption: model }),
    ...(content === null ? {} : { content }),
    confidence: best.confidence ?? change.confidence,
    severity: compareSeverity(severity, change.severity) > 0 ? severity : change.severity,
    regions: [...regions],
    ...lastRegionsOf(fittingRegions(kind, still.regions) ?? regions, regions),
    comparisons: { ...change.comparisons, best: best.comparisonId },
  };
}

/** @param at capture time from which the change is part of "before", epoch ms */
export const settledChange = (change: FoundChange, at: number): FoundChange => ({
  ...change,
  settled_at: isoTime(at),
});

/** @param since capture time of the first frame without it, epoch ms */
export const revertedChange = (change: FoundChange, since: number): FoundChange => ({
  ...change,
  ended: endedSentence(change, Math.max(0, since - Date.parse(change.first_seen)) / 1000),
  status: 'reverted',
  reverted_at: isoTime(since),
});

/** The sentence with the camera's names of places, the one in the words of the model, and what they state. */
const sentencesOf = (stated: Caption, kind: ChangeKind, regions: readonly ChangeRegion[], { places }: ChangeRules) => ({
  caption: namePlaces(stated, kind, regions, places),
  model: write(stated),
  content: statementOf(stated),
});

/** The kind of most frames; of equal counts the first in CHANGE_KINDS. */
function kindOf({ kinds }: Track): ChangeKind {
  const count = (kind: ChangeKind) => kinds[kind] ?? 0;
  return CHANGE_KINDS.reduce((best, kind) => (count(kind) > count(best) ? kind : best));
}
