/** The payload of a message: its data with links to its picture, within the size that Standard Webhooks recommends. */

import { isoTime } from '../base/wall-clock.js';
import type { BriefMail } from '../schemas/brief.js';
import type { EvidencePackage } from '../schemas/evidence.js';
import type { Message, MessageType } from '../schemas/message.js';
import type { TRIMMED } from '../schemas/webhook-payload.js';
import { type LinkSettings, type PictureLinks, pictureLinks } from '../secrets/links.js';

export interface Payload {
  readonly type: MessageType;
  readonly timestamp: string;
  readonly data: PictureLinks & { readonly package?: EvidencePackage; readonly brief?: BriefMail } & object;
  /** members of `data` that were left out or shortened, in this order, until it was small enough */
  readonly trimmed?: readonly (typeof TRIMMED)[number][];
}

/** Most bytes of a payload: Standard Webhooks recommends less than 20 kB. */
export const PAYLOAD_LIMIT = 20_000;

/**
 * The same message always gives the same payload.
 * @param links and the end of the comparison that shows the picture, epoch ms by the clock of the server; null if it
 *   has been erased with its pictures
 */
export function payloadOf(
  { type, at, data, picture, subject }: Message,
  links: (LinkSettings & { readonly keptSince: number }) | null,
): Payload {
  const change = subject.kind === 'change' && picture?.outlined ? subject.id : undefined;
  const pictures =
    picture === null || links === null ? {} : pictureLinks({ ...picture, change }, links.keptSince, links);
  return trimmed({ type, timestamp: isoTime(at), data: { ...data, ...pictures } });
}

function trimmed(full: Payload): Payload {
  let payload = full;
  const isTooLarge = (name: (typeof TRIMMED)[number]) =>
    name in payload.data && Buffer.byteLength(JSON.stringify(payload)) >= PAYLOAD_LIMIT;
  const put = (name: (typeof TRIMMED)[number], value: unknown) => {
    const data = { ...payload.data, [name]: value };
    payload = { ...payload, data, trimmed: [...new Set([...(payload.trimmed ?? []), name])] };
  };
  if (isTooLarge('words')) put('words', []);
  // The strongest regions come first and are kept longest.
  let { regions = [] } = full.data as { regions?: readonly unknown[] };
  while (regions.length > 0 && isTooLarge('regions')) {
    regions = regions.slice(0, Math.floor(regions.length / 2));
    put('regions', regions);
  }
  if (!isTooLarge('metadata')) return payload;
  const { metadata: _left, ...data } = payload.data as { metadata?: unknown };
  return { ...payload, data, trimmed: [...(payload.trimmed ?? []), 'metadata'] };
}
