/** Settings of an endpoint: a registered receiver of alerts, with its format and its filters. */
import { type Static, Type } from 'typebox';
import { CAMERA_ID_PATTERN } from '../camera/settings/id-pattern.js';
import { LOCALES } from '../language/locales.js';
import { CERTIFICATE, CertificateSchema } from '../schemas/certificate.js';
import { literals, nullable } from '../schemas/constructors.js';
import { ALERT_TYPES, FILTER_KINDS, SEVERITIES } from '../schemas/kinds.js';
import { ENDPOINT_EVENTS } from '../schemas/message.js';
import { addressPattern } from '../schemas/patterns.js';
import { type FormatName, LIMITS, LONGEST_TEMPLATE } from './limits.js';

/** Formats that are signed with the secret of the endpoint; the receivers of the others verify no signature. */
export const SIGNED_FORMATS: readonly FormatName[] = ['standard-webhooks', 'cloudevents', 'cloudevents-binary'];

const most = { maxItems: 100, uniqueItems: true } as const;
const cameraPattern = `^(?:\\*|${CAMERA_ID_PATTERN.replace(/^\^|\$$/g, '')}\\*?)$`;

const fields = {
  description: nullable(Type.String({ maxLength: 256 }), 'For people.'),
  locale: nullable(literals(LOCALES), 'Language of the messages; null: that of the camera.'),
  format: literals(Object.keys(LIMITS) as FormatName[], {
    default: 'standard-webhooks',
    description:
      'Standard Webhooks 1.0; CloudEvents 1.0, structured or binary; the API v2 of Alertmanager; ' +
      'Slack (also Mattermost, and Discord with /slack at the end of the address); ntfy; Microsoft Teams (a workflow); ' +
      'a bot of Telegram; PagerDuty (Events API v2); e-mail; a bucket (S3), which gets the evidence packages of ' +
      '`POST /v1/evidence` and no events; a template; a notification of a browser (web push).',
  }),
  events: Type.Array(literals(ENDPOINT_EVENTS), {
    uniqueItems: true,
    description:
      'Events that are sent; default: opened, escalated and reverted, camera.silent, camera.stuck and camera.back, ' +
      'camera.lens_covered and camera.lens_clear; ' +
      'with alertmanager and pagerduty also acknowledged, which resolves the alert there, and with the others ' +
      'visit.alerted. visit.opened, visit.ended and the signal of cameras are sent only if they are named here; no ' +
      'event of visits with these two. bucket: none.',
  }),
  cameras: Type.Array(Type.String({ pattern: cameraPattern, maxLength: 65 }), {
    ...most,
    description: 'Ids of cameras; one that ends with * stands for all ids that begin with the rest. Empty: all.',
  }),
  zones: Type.Array(Type.String({ pattern: CAMERA_ID_PATTERN }), {
    ...most,
    description: 'Ids of zones that the change lies in. Empty: all, and changes outside of zones.',
  }),
  kinds: Type.Array(literals(FILTER_KINDS), {
    ...most,
    description:
      'Kinds of change; object_left and object_removed pass from the moment at which a change counts as one. Empty: all.',
  }),
  min_severity: literals(SEVERITIES, { default: 'info', description: 'Less severe changes are not sent.' }),
  text: nullable(
    Type.String({ minLength: 1, maxLength: 200 }),
    'Words that must all be in the caption, in any order and case.',
  ),
  limit: nullable(
    Type.Object(
      {
        messages: Type.Integer({ minimum: 1, maximum: 1000, description: 'Messages about one camera.' }),
        minutes: Type.Integer({ minimum: 1, maximum: 1440, description: 'Any span of this length.' }),
      },
      { additionalProperties: false },
    ),
    'Most messages about one camera in any span of a time, e.g. 5 in 60 minutes. Further ones are counted, and one ' +
      'message in that time (alerts.digest) reports the counts. The health of cameras is not limited. The end of a ' +
      'change or visit is sent if its beginning was and it does not take the last room. null: no limit.',
  ),
  brief: nullable(
    Type.Object(
      {
        hour: Type.Integer({ minimum: 0, maximum: 23, description: 'Hour at which it is sent.' }),
        time_zone: Type.String({ maxLength: 64, description: 'IANA time zone.', examples: ['Europe/Berlin'] }),
        label: Type.Optional(
          nullable(Type.String({ minLength: 1, maxLength: 64 }), 'Only of cameras with this label; null: of all.'),
        ),
      },
      { additionalProperties: false },
    ),
    'With email: once per day the brief of `cameras` by mail, of the 24 hours before: a paragraph, then crops. `events` may ' +
      'be empty beside it. null: none.',
  ),
  template: nullable(
    Type.String({ minLength: 1, maxLength: LONGEST_TEMPLATE }),
    'Body of the requests of the format template, in Liquid.',
  ),
  content_type: Type.String({
    pattern: '^[A-Za-z0-9_.+-]+/[A-Za-z0-9_.+-]+(?:; ?[A-Za-z0-9_-]+=[A-Za-z0-9_-]+)?$',
    maxLength: 100,
    default: 'application/json',
    description:
      'Content-Type of the format template. In JSON each output is written as JSON, in HTML and XML escaped, in forms percent-encoded.',
  }),
  certificate: nullable(CertificateSchema, `${CERTIFICATE} null: one of a public authority.`),
  enabled: Type.Boolean({ default: true, description: 'false: nothing is sent; true also ends an automatic stop.' }),
};
/** Complete settings: every field is filled in. */
export const EndpointSettingsSchema = Type.Object(fields);
export type EndpointSettings = Static<typeof EndpointSettingsSchema>;

const closed = { additionalProperties: false } as const;
const optional = Object.fromEntries(
  Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]),
) as never as { [K in keyof typeof fields]: ReturnType<typeof Type.Optional<(typeof fields)[K]>> };
const url = Type.String({
  pattern: addressPattern('(https?|smtps?)'),
  maxLength: 2048,
  description:
    'Address that receives the requests; with alertmanager the address of the server itself; ' +
    'with email smtp(s)://user@host:port?from=<address>&to=<address>; with bucket that of the bucket, or of a prefix in it.',
  examples: ['https://alerts.example/scenedelta'],
});
const authorization = Type.Optional(
  nullable(
    Type.String({ pattern: '^[\\x21-\\x7e]+(?: [\\x21-\\x7e]+)*$', maxLength: 8192 }),
    'Value of the header Authorization of each request, e.g. `Bearer tk_...`; with pagerduty the integration key, with email the password, with web-push the keys of the subscription ' +
      '(p256dh:auth). ' +
      'After aws-sigv4 or google-service-account a login that signs each request (docs/alerts.md). It is never shown.',
  ),
);

export const EndpointRequestSchema = Type.Object(
  { url, authorization, ...optional },
  { $id: 'EndpointRequest', ...closed },
);
export const EndpointPatchSchema = Type.Object(
  { url: Type.Optional(url), authorization, ...optional },
  { $id: 'EndpointPatch', ...closed, description: 'Members that are left out stay as they are.' },
);
export type EndpointPatch = Static<typeof EndpointPatchSchema>;

const DEFAULTS: Omit<EndpointSettings, 'events'> = {
  description: null,
  locale: null,
  format: 'standard-webhooks',
  cameras: [],
  zones: [],
  kinds: [],
  min_severity: 'info',
  text: null,
  limit: null,
  brief: null,
  template: null,
  content_type: 'application/json',
  certificate: null,
  enabled: true,
};

/** @param earlier the settings that the given ones change; undefined: those of a new endpoint */
export function settingsWith(
  { url: _url, authorization: _authorization, ...given }: EndpointPatch,
  earlier?: EndpointSettings,
): EndpointSettings {
  const merged = { ...DEFAULTS, ...earlier, ...given };
  return { ...merged, events: given.events ?? earlier?.events ?? defaultEvents(merged.format) };
}

/** Every receiver gets the events of a camera that shows nothing, unless it asks for other events. */
const CAMERA_DOWN = [
  'camera.silent',
  'camera.stuck',
  'camera.back',
  'camera.lens_covered',
  'camera.lens_clear',
] as const;

const defaultEvents = (format: FormatName): EndpointSettings['events'] => {
  if (format === 'bucket') return [];
  return format === 'alertmanager' || format === 'pagerduty'
    ? [...ALERT_TYPES, ...CAMERA_DOWN]
    : [...ALERT_TYPES.filter((type) => type !== 'change.acknowledged'), 'visit.alerted', ...CAMERA_DOWN];
};
