/** The alert of a change as a message to receivers. Pure. */
import type { AlertIntent } from '../../schemas/change.js';
import type { Message, MessageType } from '../../schemas/message.js';
import { roundFigures } from '../../schemas/rounding.js';
import { lastRegions, shownFrame, statedAt } from '../../schemas/shown-change.js';

/** Most regions in a message, the strongest first, so that its payload stays far below the limit. */
const MOST_REGIONS = 20;

/** The part of an alert that receivers see. */
export interface ShownAlert extends Pick<AlertIntent, 'id' | 'change' | 'suppressedCount' | 'at'> {
  readonly type: MessageType;
}

export function alertMessage({ id, type, change, suppressedCount, at }: ShownAlert): Message {
  const { last_regions: _last, ...shown } = change;
  const { camera, zone, kind, object, severity, confirmed_at: since } = change;
  const { caption, content } = statedAt(type, change);
  const zones = [zone, ...lastRegions(change).map((region) => region.zone)];
  return {
    id,
    type,
    camera,
    at,
    subject: { kind: 'change', id: change.id },
    kind,
    severity,
    since,
    caption,
    content,
    ...(suppressedCount > 0 && { phrase: { key: 'suppressed', n: suppressedCount } }),
    zone,
    zones: zones.filter((one) => one !== null),
    kinds: object === undefined ? [kind] : [kind, object.value],
    picture: shownFrame(change),
    path: `/review/${change.id}`,
    data: {
      change: roundFigures({ ...shown, regions: change.regions.slice(0, MOST_REGIONS) }),
      suppressed_count: suppressedCount,
    },
  };
}
