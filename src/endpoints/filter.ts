/** Whether an endpoint gets an alert. Pure. */
import { matchesCamera } from '../camera/settings/id-pattern.js';
import type { SignalNotice } from '../schemas/camera-signal.js';
import { type AlertIntent, compareSeverity, hasKind, lastRegions, type Severity } from '../schemas/change.js';
import type { VisitNotice } from '../schemas/visit.js';
import type { EndpointSettings } from './settings.js';

type Filters = Omit<EndpointSettings, 'description' | 'format'>;

/** The end of the comparison of a round; without a severity it has failed. */
interface RoundNotice {
  readonly type: 'round.compared';
  readonly round: { readonly camera: string; readonly caption: string; readonly severity: Severity | undefined };
}

type Asked = Pick<AlertIntent, 'type' | 'change'> | VisitNotice | SignalNotice | RoundNotice;

/**
 * An empty list of a filter lets everything pass. A disabled endpoint gets nothing. Zones and kinds are of
 * changes: they filter no visit, signal or round. Of these the alert of a visit and a round have a severity.
 */
export function wantsAlert(filters: Filters, notice: Asked): boolean {
  const { cameras, zones, kinds, events, text } = filters;
  const { camera, caption } = subjectOf(notice);
  const isAsked =
    filters.enabled &&
    events.includes(notice.type) &&
    (cameras.length === 0 || cameras.some((pattern) => matchesCamera(pattern, camera))) &&
    hasWords(caption, text);
  if (!isAsked) return false;
  if ('visit' in notice) {
    const { alert } = notice.visit;
    return notice.type !== 'visit.alerted' || compareSeverity(alert?.severity ?? 'info', filters.min_severity) >= 0;
  }
  if ('signal' in notice) return true;
  if ('round' in notice) return compareSeverity(notice.round.severity ?? 'high', filters.min_severity) >= 0;
  const { change } = notice;
  return (
    (zones.length === 0 || isInZone(change, zones)) &&
    (kinds.length === 0 || kinds.some((kind) => hasKind(change, kind))) &&
    compareSeverity(change.severity, filters.min_severity) >= 0
  );
}

function subjectOf(notice: Asked): { readonly camera: string; readonly caption: string } {
  if ('change' in notice) return notice.change;
  if ('visit' in notice) return notice.visit;
  return 'signal' in notice ? notice.signal : notice.round;
}

const isInZone = (change: AlertIntent['change'], zones: readonly string[]): boolean =>
  [change.zone, ...lastRegions(change).map((region) => region.zone)].some((one) => one !== null && zones.includes(one));

function hasWords(caption: string, text: string | null): boolean {
  const found = caption.toLowerCase();
  return (text ?? '')
    .toLowerCase()
    .split(/\s+/)
    .every((word) => found.includes(word));
}
