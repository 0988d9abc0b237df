/** Whether an endpoint gets a message. Pure. */
import { matchesCamera } from '../camera/settings/id-pattern.js';
import { compareSeverity } from '../schemas/kinds.js';
import { isGraded, type Message } from '../schemas/message.js';
import type { EndpointSettings } from './settings.js';

type Filters = Omit<EndpointSettings, 'description' | 'format' | 'brief'>;
type Head = Pick<Message, 'type' | 'camera' | 'cameras' | 'caption' | 'severity' | 'zones' | 'kinds'>;

/** An empty list of a filter lets everything pass. A disabled endpoint gets nothing. */
export function wantsMessage(filters: Filters, message: Head): boolean {
  const { type, camera, cameras = [camera], caption, severity, zones, kinds } = message;
  return (
    filters.enabled &&
    filters.events.some((event) => event === type) &&
    (filters.cameras.length === 0 ||
      cameras.some((one) => filters.cameras.some((pattern) => matchesCamera(pattern, one)))) &&
    passes(filters.zones, zones) &&
    passes(filters.kinds, kinds) &&
    (!isGraded(type) || compareSeverity(severity, filters.min_severity) >= 0) &&
    hasWords(caption, filters.text)
  );
}

const passes = <T>(wanted: readonly T[], has: readonly T[] | undefined): boolean =>
  wanted.length === 0 || has === undefined || has.some((one) => wanted.includes(one));

function hasWords(caption: string, text: string | null): boolean {
  const searched = caption.toLowerCase();
  return (text ?? '')
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}
