/**
 * Limits of receivers by format: a request within them is not refused for its size, nor for its rate. If one format
 * serves several receivers, each limit is the smallest of theirs. docs/alerts.md shows the table.
 */
import type { TextLimit } from './cut.js';

export interface Limits {
  /** of the line with the name of the camera; null: none is documented */
  readonly title: TextLimit | null;
  /** of the text with the sentence */
  readonly body: TextLimit | null;
  /** bytes of a picture inside the request; null: the request has a link to it, or none */
  readonly picture: number | null;
  /** bytes of the body of a request */
  readonly request: number | null;
  /**
   * `burst` requests at once, and one more every minute / `perMinute`; the sum is within the documented window.
   * null: the receiver asks by 429
   */
  readonly rate: { readonly perMinute: number; readonly burst: number } | null;
  readonly source: string;
}

const characters = (most: number): TextLimit => ({ most, unit: 'characters' });
const bytes = (most: number): TextLimit => ({ most, unit: 'bytes' });
const NONE = { title: null, body: null, picture: null, request: null, rate: null };
/** Receivers must take an event of 64 KiB; the payload is far smaller. */
const CLOUDEVENTS = {
  ...NONE,
  request: 65_536,
  source: 'https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md#size-limits',
};

export const LIMITS = {
  'standard-webhooks': {
    ...NONE,
    request: 20_000,
    source: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#payload-size',
  },
  cloudevents: CLOUDEVENTS,
  'cloudevents-binary': CLOUDEVENTS,
  alertmanager: { ...NONE, source: 'https://prometheus.io/docs/alerting/latest/alerts_api/' },
  // Text and rate of Discord's embeds (6,000 characters in all), which are smaller than those of Slack and Mattermost.
  slack: {
    ...NONE,
    title: characters(256),
    body: characters(4_096),
    rate: { perMinute: 25, burst: 5 },
    source: 'https://discord.com/developers/docs/resources/message#embed-object-embed-limits',
  },
  ntfy: {
    ...NONE,
    title: characters(250),
    body: bytes(4_096),
    request: 8_192,
    rate: { perMinute: 12, burst: 60 },
    source: 'https://docs.ntfy.sh/publish/#limitations',
  },
  'web-push': {
    ...NONE,
    title: characters(120),
    body: characters(600),
    request: 3_993,
    source: 'https://www.rfc-editor.org/rfc/rfc8291#section-4',
  },
  teams: {
    ...NONE,
    title: characters(256),
    body: characters(4_096),
    request: 28_672,
    rate: { perMinute: 120, burst: 2 },
    source: 'https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook',
  },
  // The text under a photo, with title and link; a message without one may be longer. The rate is that of a group.
  telegram: {
    ...NONE,
    title: characters(256),
    body: characters(1_024),
    picture: 10_000_000,
    rate: { perMinute: 18, burst: 2 },
    source: 'https://core.telegram.org/bots/api#sendphoto',
  },
  // The summary, with the title.
  pagerduty: {
    ...NONE,
    title: characters(256),
    body: characters(1_024),
    request: 524_288,
    rate: { perMinute: 90, burst: 30 },
    source: 'https://developer.pagerduty.com/docs/send-alert-event',
  },
  // Exchange takes 255 characters of a subject, and many servers 10 MB of a mail, in which a picture grows by a third.
  email: {
    ...NONE,
    title: characters(255),
    picture: 5_000_000,
    request: 10_000_000,
    source:
      'https://learn.microsoft.com/office365/servicedescriptions/exchange-online-service-description/exchange-online-limits',
  },
  bucket: { ...NONE, source: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html' },
  template: { ...NONE, source: 'https://liquidjs.com/tutorials/dos.html' },
} as const satisfies Readonly<Record<string, Limits>>;
export type FormatName = keyof typeof LIMITS;

export const limitsOf = (format: FormatName): Limits => LIMITS[format];

/** Characters of the body of a request as its template, in Liquid. */
export const LONGEST_TEMPLATE = 20_000;
