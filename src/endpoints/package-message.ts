/** The message that puts an evidence package into a bucket. Pure. */
import { isoTime } from '../base/wall-clock.js';
import type { EvidencePackage } from '../schemas/evidence.js';
import type { Message, Subject } from '../schemas/message.js';

/** @param given.id of the message @param given.at time of the request, epoch ms @param given.subject of the package */
export function packageMessage(given: {
  readonly id: string;
  readonly at: number;
  readonly camera: string;
  readonly subject: Subject;
  readonly stored: EvidencePackage;
}): Message {
  const { stored, ...head } = given;
  return {
    ...head,
    type: 'evidence.package',
    kind: 'evidence',
    severity: 'info',
    since: isoTime(given.at),
    caption: stored.name,
    zone: null,
    picture: null,
    path: '/review',
    data: { package: stored },
  };
}
