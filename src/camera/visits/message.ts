/** The begin, the end or the alert of a visit as a message to receivers. Pure. */
import { derivedId } from '../../base/ids.js';
import { type Message, VISIT_EVENTS } from '../../schemas/message.js';
import type { VisitEvent } from '../../schemas/visit.js';

/** @param at capture time, epoch ms. @returns null: no receiver can ask for the event */
export function visitMessage({ type: given, visit }: VisitEvent, at: number): Message | null {
  const type = VISIT_EVENTS.find((one) => one === given);
  if (type === undefined) return null;
  const { id, camera, kind, first_seen: since, caption, content, alert, best } = visit;
  return {
    id: derivedId('alr', at, `${type}/${id}`),
    type,
    camera,
    at,
    subject: { kind: 'visit', id },
    kind,
    severity: alert?.severity ?? 'info',
    since,
    caption,
    content,
    zone: null,
    picture: { comparison: best.comparison, side: best.side, outlined: false, boxes: [best.box] },
    path: `/review/${id}`,
    data: { visit },
  };
}
