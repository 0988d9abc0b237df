/**
 * Settings of a camera. One schema is the type, the check, the documentation and the stored form; `checkSettings` adds
 * the checks that a schema cannot express (a polygon that crosses itself, an unknown time zone). Pure.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { invalidRequest, invalidValue } from '../../base/errors.js';
import { isObject } from '../../base/is-object.js';
import { polygonFault } from '../../base/polygon.js';
import { isTimeZone } from '../../base/wall-clock.js';
import { LOCALES } from '../../language/locales.js';
import { CERTIFICATE, CertificateSchema } from '../../schemas/certificate.js';
import { literals, nullable as nullableSchema, truthShare, unit } from '../../schemas/constructors.js';
import { SEVERITIES } from '../../schemas/kinds.js';
import { type DeepPartial, optionalWhereDefault } from '../../schemas/optional-where-default.js';
import { addressPattern, LABEL_PATTERN, NAME_PATTERN, URL_PATTERN } from '../../schemas/patterns.js';
import { checker } from '../../schemas/validation-error.js';
import { CAMERA_ID_PATTERN } from './id-pattern.js';
import { PRESETS, type Preset, withPreset } from './presets.js';
import { ScheduleSchema } from './schedule.js';
import { faultOfRule, SeverityRuleSchema } from './severity-rule.js';

const ZONE_TYPES = ['include', 'ignore', 'privacy'] as const;
const BEFORE_MODES = ['previous', 'reference', 'memory'] as const;

const nullable = <T extends TSchema>(schema: T, options: object) =>
  nullableSchema(schema, { default: null, ...options });
const closed = { additionalProperties: false } as const;

/** A part of a login. It is taken out of the settings before they are stored. */
const secret = (description: string) => Type.Optional(Type.String({ maxLength: 256, writeOnly: true, description }));

/** An array of two, because TypeBox writes tuples as in draft 07, which OpenAPI 3.1 does not support. */
const cornerSchema = Type.Unsafe<[x: number, y: number]>(Type.Array(unit(), { minItems: 2, maxItems: 2 }));

export const ZoneSchema = Type.Object(
  {
    id: Type.String({
      pattern: CAMERA_ID_PATTERN,
      description: 'Names the zone in answers. It is unique within the camera.',
    }),
    name: nullable(Type.String({ pattern: NAME_PATTERN, maxLength: 128 }), {
      description:
        'Name for people. Of an include zone it is the place in the sentences of changes, as it is written: ' +
        '"loading bay 2" gives "... in loading bay 2"; null: the place in the words of the model.',
    }),
    preposition: nullable(Type.String({ pattern: '^([a-z]+( [a-z]+){0,2})?$', maxLength: 32 }), {
      description:
        'Before the name in a sentence ("at", "next to"); empty: none. null: one that the name begins with, otherwise ' +
        '"on" or "at" for names that end in a word such as platform or gate, and "in" for all others.',
    }),
    type: literals(ZONE_TYPES, {
      description:
        'include: with such zones, only regions in one of them count; ignore: regions in it do not count; ' +
        'privacy: painted black before the frame is stored or compared, and in every picture.',
    }),
    polygon: Type.Array(cornerSchema, {
      minItems: 3,
      maxItems: 64,
      description: 'Corners [x, y] as fractions of the upright frame, origin top left; the sides must not cross.',
    }),
    min_overlap: unit({ default: 0.3, description: "Share of a region's box that must lie in the zone." }),
    min_area: nullable(unit(), { description: 'Smallest region that counts in this zone, as a share of the frame.' }),
    threshold: nullable(unit(), { description: 'Lowest score of a region that counts in this zone.' }),
    severity: nullable(literals(SEVERITIES, {}), { description: 'Severity of changes in this zone.' }),
  },
  { $id: 'Zone', ...closed },
);
export type Zone = Static<typeof ZoneSchema>;

const AlertSettingsSchema = Type.Object(
  {
    callback_url: nullable(Type.String({ pattern: URL_PATTERN, maxLength: 2048 }), {
      description: 'Receives alerts as signed webhooks (Standard Webhooks 1.0).',
    }),
    confirm_frames: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 2,
      description: 'Frames in a row that must show a change before it is opened.',
    }),
    persist_s: Type.Number({
      minimum: 0,
      maximum: 86_400,
      default: 0,
      description: 'Seconds that a change must last before it is opened.',
    }),
    cooldown_s: Type.Number({
      minimum: 0,
      maximum: 604_800,
      default: 300,
      description: 'Seconds after an alert in which further alerts of its zone, kind and location are only counted.',
    }),
    left_after_s: Type.Number({
      minimum: 0,
      maximum: 86_400,
      default: 60,
      description:
        'Seconds for which an object that came, or went, must stay so to count as left or removed (`object` of its ' +
        'change); 0: none does.',
    }),
    min_severity: literals(SEVERITIES, { default: 'low', description: 'Less severe changes cause no alert.' }),
    severity_rules: Type.Array(SeverityRuleSchema, {
      maxItems: 100,
      default: [],
      description:
        'The first rule that holds decides, then the severity of the zone; else tampering is high, all other changes ' +
        'medium. Unless a rule names it, an object left or removed is one step more severe.',
    }),
  },
  { ...closed, default: {} },
);

/** Complete settings: every field that has a default is filled in. */
export const CameraSettingsSchema = Type.Object(
  {
    name: nullable(Type.String({ pattern: NAME_PATTERN, maxLength: 128 }), { description: 'Name for people.' }),
    labels: Type.Array(Type.String({ minLength: 1, maxLength: 64, pattern: LABEL_PATTERN }), {
      maxItems: 16,
      uniqueItems: true,
      default: [],
      description: 'Groups that the camera is in, e.g. its site; lists of cameras are filtered by them.',
    }),
    locale: nullable(literals(LOCALES), {
      description: 'Language of sentences that are sent about the camera, and of its brief; null: English.',
    }),
    model: nullable(Type.String({ minLength: 1, maxLength: 128 }), {
      description: 'Bundle that compares the frames; null: the configured one.',
    }),
    before: literals(BEFORE_MODES, {
      default: 'memory',
      description:
        'The "before" of a frame: the frame before it, a fixed reference, or the background model, which is learned ' +
        'per light from the frames.',
    }),
    zones: Type.Array(ZoneSchema, { maxItems: 64, default: [] }),
    threshold: nullable(unit(), { description: 'Least confidence of a change; null: the threshold of the bundle.' }),
    false_alarms_per_day: nullable(Type.Number({ minimum: 0.01, maximum: 1000 }), {
      description:
        'Instead of `threshold`: accepted false alarms per day, by expectation and before confirmation. ' +
        "The threshold is computed from the bundle's calibration and the rate of the frames.",
    }),
    truth: nullable(truthShare(), {
      description: 'Share of the things said that must be true; null: the setting TRUTH.',
    }),
    min_area: unit({ default: 0, description: 'Smallest region that counts, as a share of the frame.' }),
    schedule: nullable(ScheduleSchema, { description: 'null: always.' }),
    suspend_until: nullable(Type.String({ format: 'date-time' }), { description: 'No alerts before this time.' }),
    alerts: AlertSettingsSchema,
    memory: Type.Object(
      {
        absorb_s: Type.Number({
          minimum: 60,
          maximum: 2_592_000,
          default: 14_400,
          description: 'Seconds after which a thing that stays (a parked car) becomes part of the background.',
        }),
      },
      { ...closed, default: {} },
    ),
    gap_s: Type.Number({
      minimum: 1,
      maximum: 2_592_000,
      default: 600,
      description: 'Seconds between two frames above which the comparison notes a gap.',
    }),
    examine_every_s: Type.Number({
      minimum: 0,
      maximum: 86_400,
      default: 60,
      description: 'Most seconds for which frames that equal the examined one need no run of the model; 0: none do.',
    }),
    frozen_after_s: Type.Number({
      minimum: 0,
      maximum: 86_400,
      default: 300,
      description: 'Seconds of frames without any difference after which the camera is reported as frozen; 0: never.',
    }),
    covered_after_s: Type.Number({
      minimum: 0,
      maximum: 604_800,
      default: 300,
      description:
        'Seconds for which something on the lens must cover a fifth of the view or more before it is reported, and for ' +
        'which the view must be clear before that is; 0: never.',
    }),
    silent_after_s: Type.Number({
      minimum: 0,
      maximum: 604_800,
      default: 300,
      description:
        'Seconds without a frame, at least three usual intervals, after which the camera is reported as silent; ' +
        '0: never.',
    }),
    retention: Type.Object(
      {
        frames_hours: nullable(Type.Number({ minimum: 0, maximum: 87_600 }), {
          description:
            'Hours for which frames are kept, if shorter than FRAME_RETENTION_HOURS. ' +
            'Frames of the last five minutes are always kept.',
        }),
        results_hours: nullable(Type.Number({ minimum: 1, maximum: 876_000 }), {
          description:
            'Hours for which comparisons, changes and their alerts are kept, if shorter than RESULT_RETENTION_HOURS.',
        }),
      },
      { ...closed, default: {} },
    ),
    snapshot: nullable(
      Type.Object(
        {
          url: Type.String({ pattern: addressPattern('(https?|rtsps?)'), maxLength: 2048 }),
          interval_s: Type.Integer({ minimum: 1, maximum: 86_400 }),
          username: secret('User name, if the camera asks for a login. An empty one removes the login.'),
          password: secret('Password. It is kept encrypted and never shown; a PUT without it keeps it.'),
          certificate: Type.Optional(
            nullableSchema(
              CertificateSchema,
              `${CERTIFICATE} null: one of a public authority or of NODE_EXTRA_CA_CERTS.`,
            ),
          ),
        },
        closed,
      ),
      {
        description: 'Address from which the service fetches a frame every `interval_s` seconds; rtsp:// needs ffmpeg.',
      },
    ),
  },
  { $id: 'CameraSettings', ...closed },
);
export type CameraSettings = Static<typeof CameraSettingsSchema>;

/** Settings as a request gives them: fields that have a default are optional. */
const complete = optionalWhereDefault(CameraSettingsSchema) as TSchema & { readonly properties: object };
export const CameraSettingsRequestSchema = Type.Unsafe<DeepPartial<CameraSettings> & { preset?: Preset | null }>({
  ...complete,
  properties: {
    ...complete.properties,
    preset: nullable(literals(PRESETS), {
      description:
        'The alerts in a word: it stands for `alerts.severity_rules` and `alerts.min_severity`, and is stored as ' +
        'them. Tampering is alerted by all of them but `nothing`. people_at_night: from 22:00 to 06:00 in the time zone ' +
        'of the schedule, or in UTC without one.',
    }),
  },
  $id: 'CameraSettingsRequest',
});

const checkSchema = checker(CameraSettingsSchema);

/** Settings that are gone, and what took their place. */
const GONE = {
  rounds: 'the client `scenedelta rounds` compares two times of a day',
  alarms_per_day: 'its name is false_alarms_per_day',
} as const;

/**
 * @param body settings, or a patch of them
 * @throws ScenedeltaError 'invalid-request' that names what took the place of a setting that is gone
 */
export function refuseGone(body: unknown): void {
  for (const [name, instead] of Object.entries(GONE)) {
    if (isObject(body) && name in body) throw invalidRequest(`${name} is gone: ${instead}`, name);
  }
}

/**
 * @param body of a request, without the reference frame; a preset is replaced by its rules
 * @returns the settings with all defaults filled in
 * @throws ScenedeltaError naming the first invalid field ('zones/0/polygon'): 'invalid-request' if it does not fit the
 * schema, 'invalid-value' if it does and contradicts another one, or names something that does not exist
 */
export function checkSettings(body: unknown): CameraSettings {
  refuseGone(body);
  const settings = checkSchema(Value.Default(CameraSettingsSchema, Value.Clone(withPreset(body)))) as CameraSettings;
  const ids = new Set<string>();
  for (const [i, zone] of settings.zones.entries()) {
    const fault = polygonFault(zone.polygon);
    if (fault !== null) throw refused(`zones/${i}/polygon`, `${fault}, expected a polygon without crossings`);
    if (ids.has(zone.id)) throw refused(`zones/${i}/id`, `is ${JSON.stringify(zone.id)} a second time`);
    ids.add(zone.id);
  }
  if (settings.schedule !== null && !isTimeZone(settings.schedule.timezone)) {
    const came = JSON.stringify(settings.schedule.timezone);
    throw refused('schedule/timezone', `is ${came}, expected an IANA time zone such as Europe/Berlin`);
  }
  for (const [i, rule] of settings.alerts.severity_rules.entries()) {
    const fault = faultOfRule(rule, settings.zones);
    if (fault !== null) throw refused(`alerts/severity_rules/${i}/${fault.field}`, fault.what);
  }
  if (settings.threshold !== null && settings.false_alarms_per_day !== null) {
    throw refused('false_alarms_per_day', 'is given beside threshold, expected one of the two');
  }
  return settings;
}

const refused = (field: string, what: string) => invalidValue(`${field} ${what}`, field);
