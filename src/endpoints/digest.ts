/** Digests: which thing a message counts as, and the message of the counts. Pure. */
import { derivedId } from '../base/ids.js';
import { isoTime, isoTimeIn } from '../base/wall-clock.js';
import { writeDigest } from '../language/digest.js';
import { classOf, SOMETHING } from '../language/thing.js';
import type { Digest, DigestStatement } from '../schemas/digest.js';
import { cameraSubject, type Message } from '../schemas/message.js';
import type { Thing } from '../schemas/statement.js';

/** Counts of one endpoint and camera. */
export interface HeldBack {
  readonly endpoint: string;
  readonly camera: string;
  /** end of the time that the limit is about, epoch ms */
  readonly ends: number;
  readonly messages: number;
  /** capture times of the first message and of the last one, epoch ms */
  readonly first: number;
  readonly last: number;
  /** things by their noun; '': without a name */
  readonly counts: Readonly<Record<string, number>>;
}

/** A statement says "several" of more than three. */
const SEVERAL = 4;

/**
 * @returns the noun under which a message is counted ('': none), people of all kinds as one, and its things with those
 *   of the alerts that a cool-down has suppressed before it
 */
export function countedThing({ content, phrase }: Pick<Message, 'content' | 'phrase'>): {
  noun: string;
  count: number;
} {
  const suppressed = phrase?.key === 'suppressed' ? (phrase.n ?? 0) : 0;
  const thing = firstThing(content ?? {});
  if (thing === undefined) return { noun: '', count: 1 + suppressed };
  const noun = thing.noun === SOMETHING ? '' : thing.noun;
  return { noun: classOf(thing) === 'person' ? 'person' : noun, count: (thing.count ?? SEVERAL) + suppressed };
}

function firstThing(content: object): Thing | undefined {
  if ('thing' in content) return content.thing as Thing;
  if ('statements' in content) return firstThing((content.statements as object[])[0] ?? {});
  return 'things' in content ? (content.things as Thing[])[0] : undefined;
}

/** @param timeZone IANA name */
export function digestMessage(held: HeldBack, timeZone: string): Message {
  const { endpoint, camera, ends, messages, first, last } = held;
  const minuteOf = (at: number) => isoTimeIn(at, timeZone).slice(11, 16);
  const counts = Object.entries(held.counts)
    .map(([noun, count]) => ({ noun: noun === '' ? null : noun, count }))
    .sort((a, b) => b.count - a.count);
  const content: DigestStatement = { counts, from: minuteOf(first), to: minuteOf(last) };
  const caption = writeDigest(content);
  const digest: Digest = { camera, messages, first: isoTime(first), last: isoTime(last), caption, content };
  return {
    id: derivedId('alr', ends, `alerts.digest/${endpoint}/${camera}`),
    type: 'alerts.digest',
    camera,
    at: last,
    subject: cameraSubject(camera),
    kind: 'digest',
    severity: 'info',
    since: isoTime(first),
    caption,
    content,
    zone: null,
    picture: null,
    path: '/review',
    data: { digest },
  };
}
