/** The end of a comparison as a message. Pure. */
import type { ComparisonRecord } from '../schemas/comparison.js';
import { answered, sidesOf } from '../schemas/finding.js';
import type { Message, MessageType } from '../schemas/message.js';
import { roundFigures } from '../schemas/rounding.js';

/**
 * @param comparison a finished or failed one
 * @param type absent: the message to the callback of the comparison
 */
export function comparisonMessage(
  comparison: ComparisonRecord,
  type: MessageType = comparison.status === 'finished' ? 'comparison.finished' : 'comparison.failed',
): Message {
  const { id, caption, error, status, created_at: since, finished_at } = comparison;
  const camera = comparison.camera ?? '';
  return {
    id,
    type,
    camera,
    at: Date.parse(finished_at ?? since),
    subject: { kind: 'comparison', id },
    kind: comparison.kind ?? 'none',
    // A round that failed passes every filter by severity.
    severity: comparison.severity ?? (error === undefined ? 'info' : 'high'),
    since,
    caption: caption ?? error?.detail ?? status,
    content: comparison.content,
    zone: null,
    // Without a model (identical frames, or a failed comparison) there are no maps.
    picture: { comparison: id, side: 'after', outlined: comparison.model != null, sides: sidesOf(comparison) },
    path: `/cameras/${camera}`,
    data: roundFigures(answered(comparison)),
  };
}
