/** The message to an endpoint, from which every format makes its request, and its wording. */
import type { Mail } from '../base/mail.js';
import { isoTime } from '../base/wall-clock.js';
import type { Locale } from '../language/locales.js';
import { phrased } from '../language/phrase.js';
import { textIn } from '../language/translate.js';
import { write } from '../language/write.js';
import type { Message } from '../schemas/message.js';
import type { Statement } from '../schemas/statement.js';
import { cut, type TextLimit } from './cut.js';
import type { Payload } from './payload.js';

/** In the language `locale`. */
export interface EndpointMessage extends Message {
  readonly payload: Payload;
  readonly locale: Locale;
  /** name of the camera for people */
  readonly cameraName: string;
  /** IANA time zone of times in texts: that of the camera's schedule, or UTC */
  readonly timeZone: string;
  /** base of the links of the service, without a trailing slash */
  readonly baseUrl: string;
  /** time of the attempt, epoch ms */
  readonly now: number;
  /** JPEG of the change or visit, for formats with a picture inside; absent: none, or it has expired */
  readonly jpeg?: Uint8Array | undefined;
  /** JPEGs of the pictures of a brief, in their order; undefined: not kept */
  readonly crops?: readonly (Uint8Array | undefined)[];
  /** the package of the message, for the format `bucket` */
  readonly file?: Uint8Array | undefined;
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
  /** absent: POST */
  readonly method?: 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  /** a mail: of the format `email` alone; bytes: of `bucket` alone */
  readonly body: string | Uint8Array | FormData | Mail;
}

export type Format = (message: EndpointMessage, receiver: Receiver) => EndpointRequest;

/** @returns a POST of JSON */
export const jsonRequest = (url: string, body: object): EndpointRequest => ({
  url,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** @returns e.g. 'Gate 3: change' */
export const titleOf = ({ type, cameraName, locale }: EndpointMessage): string =>
  `${cut(cameraName, LONGEST_NAME)}: ${textIn(locale, type)}`;
/** The end of the title must fit, however long the name of the camera is. */
const LONGEST_NAME: TextLimit = { most: 100, unit: 'characters' };

/** @returns the sentence, in its phrase if it has one */
export const textOf = (message: EndpointMessage): string => phrased(message, message);

/** @returns the page of the console about the change, visit or camera */
export const linkOf = ({ path, baseUrl }: EndpointMessage): string => baseUrl + path;

/** @returns a link to the picture: outlined with a crop, or the frame itself; undefined: none, or it has expired */
export function pictureOf({ picture, payload: { data } }: EndpointMessage): string | undefined {
  return picture === null
    ? undefined
    : (data.picture?.url ?? data.heatmaps?.[picture.side].url ?? data.frames?.[picture.side]?.url);
}

const NOBODY = '00000000000000000000000000';
const INVENTED: Statement = {
  kind: 'appear',
  verb: 'appeared',
  place: 'on the left',
  way: null,
  things: [{ noun: 'car', colour: 'red', count: 1, definite: false }],
};

/** A test event: an invented change. @param id of its delivery @param at epoch ms */
export function testMessage(id: string, at: number): Message {
  const time = isoTime(at);
  const comparison = `cmp_${NOBODY}`;
  const caption = write(INVENTED);
  const change = {
    id: `chg_${NOBODY}`,
    camera: 'test',
    zone: null,
    kind: 'appear',
    caption: textIn('en', 'test', { sentence: caption }),
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
  } as const;
  const { camera, zone, kind, severity } = change;
  return {
    id,
    type: 'endpoint.test',
    camera,
    at,
    kind,
    severity,
    caption,
    zone,
    subject: { kind: 'change', id: change.id },
    since: time,
    content: INVENTED,
    phrase: { key: 'test' },
    picture: null,
    path: `/review/${change.id}`,
    data: { change, suppressed_count: 0 },
  };
}
