/** The message to an endpoint, from which every format makes its request, and its wording. */

import type { Mail } from '../base/mail.js';
import { wallTimeIn } from '../base/wall-clock.js';
import type { Locale } from '../language/locales.js';
import { textIn } from '../language/translate.js';
import { write } from '../language/write.js';
import { signalSubject } from '../schemas/camera-signal.js';
import { type FoundChange, type ShownFrame, shownFrame, shownSide } from '../schemas/change.js';
import type {
  AlertPayload,
  AlertToShow,
  SignalPayload,
  VisitPayload,
  WebhookPayload,
} from '../schemas/webhook-payload.js';
import { cut, type TextLimit } from './cut.js';

export interface EndpointMessage {
  /** the same for all receivers and attempts: id of the alert, or of the delivery of a test event */
  readonly id: string;
  /** of the alert, of a visit, of the signal of a camera, of the comparison of a round, or of a test event */
  readonly payload: AlertPayload | VisitPayload | SignalPayload | WebhookPayload;
  /** language of the sentences of the payload and of the wording */
  readonly locale: Locale;
  /** name of the camera for people */
  readonly cameraName: string;
  /** IANA time zone of times in texts: that of the camera's schedule, or UTC */
  readonly timeZone: string;
  /** page of the console about the change, visit or camera */
  readonly link: string;
  /** base of the links of the service, without a trailing slash */
  readonly baseUrl: string;
  /** time of the attempt, epoch ms */
  readonly now: number;
  /** JPEG of the change or visit, for formats with a picture inside; absent: none, or it has expired */
  readonly picture?: Uint8Array | undefined;
}

/** Address and login of the receiver; the login is the secret of PagerDuty and mail servers as well. */
export interface Receiver {
  /** with query */
  readonly url: string;
  /** value of the header Authorization, or what the format sends in its place; null: none */
  readonly authorization: string | null;
  /** of the format `template` alone */
  readonly template?: { readonly text: string; readonly contentType: string } | undefined;
}

export interface EndpointRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** a mail: of the format `email` alone */
  readonly body: string | FormData | Mail;
}

export type Format = (message: EndpointMessage, receiver: Receiver) => EndpointRequest;

/** Whether the change or visit is over for the people who are alerted. */
export const isOver = (type: EndpointMessage['payload']['type']): boolean =>
  type === 'change.reverted' ||
  type === 'change.acknowledged' ||
  type === 'visit.ended' ||
  type === 'camera.signal_back';

/**
 * The change, visit, signal or round of a message, as all formats show it. A visit without an alert has the least
 * severity.
 */
export function subjectOf({ payload: { data } }: EndpointMessage): Subject {
  if ('signal' in data) {
    const { camera, reason: kind, since } = data.signal;
    return { id: signalSubject(camera), camera, zone: null, kind, severity: 'medium', since };
  }
  if ('status' in data) {
    const { id, camera, kind = 'none', severity = 'info', created_at: since } = data;
    return { id, camera: camera ?? '', zone: null, kind, severity, since };
  }
  if (!('visit' in data)) return { ...data.change, since: data.change.confirmed_at };
  const { id, camera, kind, first_seen: since, alert } = data.visit;
  return { id, camera, zone: null, kind, severity: alert?.severity ?? 'info', since };
}
interface Subject extends Pick<FoundChange, 'id' | 'camera' | 'zone' | 'severity'> {
  readonly kind: string;
  readonly since: string;
}

/** @returns e.g. 'Gate 3: change' */
export const titleOf = ({ payload, cameraName, locale }: EndpointMessage): string =>
  `${cut(cameraName, LONGEST_NAME)}: ${textIn(locale, payload.type)}`;
/** The end of the title must fit, however long the name of the camera is. */
const LONGEST_NAME: TextLimit = { most: 100, unit: 'characters' };

/** @returns the sentence with the number of suppressed alerts */
export function textOf({ payload: { data, type }, locale, timeZone }: EndpointMessage): string {
  if ('visit' in data) return data.visit.caption;
  if ('status' in data) return data.caption ?? data.error?.detail ?? data.status;
  if ('signal' in data) {
    const { caption, since } = data.signal;
    return type === 'camera.signal_back'
      ? textIn(locale, 'signal_back', { since: wallTimeIn(Date.parse(since), timeZone) })
      : caption;
  }
  if (type === 'endpoint.test') return testSentence(locale);
  const { caption: sentence } = data.change;
  const n = data.suppressed_count;
  return n === 0 ? sentence : `${sentence}${textIn(locale, 'suppressed', { n })}`;
}

const testSentence = (locale: Locale): string =>
  textIn(locale, 'test', {
    sentence: write(
      {
        ...{ kind: 'appear', verb: 'appeared', place: 'on the left', way: null },
        things: [{ noun: 'car', colour: 'red', count: 1, definite: false }],
      },
      { locale },
    ),
  });

/** @returns a picture of the change: outlined, or the frame itself; undefined if both have expired */
export const pictureOf = ({ payload: { data } }: EndpointMessage): string | undefined => {
  if ('visit' in data) return data.visit.picture?.url;
  if ('signal' in data) return undefined;
  if ('status' in data) return data.heatmaps?.after?.url ?? data.frames?.after?.url;
  const side = shownSide(data.change);
  return data.heatmaps?.[side].url ?? data.frames?.[side]?.url;
};

/** The frame of `pictureOf`, of which formats with a picture inside get the bytes; undefined: there is none. */
export function frameOf({ data }: EndpointMessage['payload']): ShownFrame | undefined {
  if ('signal' in data) return undefined;
  if ('status' in data) return { comparison: data.id, side: 'after', outlined: true };
  return 'visit' in data ? { ...data.visit.best, outlined: false } : shownFrame(data.change);
}

const NOBODY = '00000000000000000000000000';

/** The alert of a test event: an invented change. @param at epoch ms */
export function testAlert(at: number): AlertToShow {
  const time = new Date(at).toISOString();
  const comparison = `cmp_${NOBODY}`;
  const change: FoundChange = {
    id: `chg_${NOBODY}`,
    camera: 'test',
    zone: null,
    kind: 'appear',
    caption: testSentence('en'),
    confidence: 1,
    status: 'opened',
    severity: 'info',
    first_seen: time,
    confirmed_at: time,
    last_seen: time,
    settled_at: null,
    reverted_at: null,
    alerted_at: time,
    suppressed_count: 0,
    regions: [{ side: 'after', box: { x: 0.1, y: 0.4, width: 0.2, height: 0.2 }, area: 0.04, score: 1, zone: null }],
    comparisons: { first: comparison, best: comparison, last: comparison },
  };
  return { type: 'endpoint.test', change, suppressedCount: 0, at };
}
