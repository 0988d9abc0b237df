/** Whether an endpoint gets an alert. Pure. */
import { matchesCamera } from '../cameras/id-pattern.js';
import { compareSeverity, hasKind, lastRegions, type Notice } from '../schemas/change.js';
import type { EndpointSettings } from './settings.js';

type Filters = Omit<EndpointSettings, 'description' | 'format'>;

/** An empty list of a filter lets everything pass. A disabled endpoint gets nothing. */
export function wantsAlert(filters: Filters, { type, change }: Pick<Notice, 'type' | 'change'>): boolean {
  const { cameras, zones, kinds, events } = filters;
  return (
    filters.enabled &&
    events.includes(type) &&
    (cameras.length === 0 || cameras.some((pattern) => matchesCamera(pattern, change.camera))) &&
    (zones.length === 0 || isInZone(change, zones)) &&
    (kinds.length === 0 || kinds.some((kind) => hasKind(change, kind))) &&
    compareSeverity(change.severity, filters.min_severity) >= 0 &&
    hasWords(change.caption, filters.text)
  );
}

const isInZone = (change: Notice['change'], zones: readonly string[]): boolean =>
  [change.zone, ...lastRegions(change).map((region) => region.zone)].some((one) => one !== null && zones.includes(one));

function hasWords(caption: string, text: string | null): boolean {
  const found = caption.toLowerCase();
  return (text ?? '')
    .toLowerCase()
    .split(/\s+/)
    .every((word) => found.includes(word));
}
