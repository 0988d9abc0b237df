/** The part of a camera's settings that decides what becomes a change and what is alerted. src/alerts turns it into rules. */
import { type Static, Type } from 'typebox';
import { CHANGE_KINDS } from './change.js';
import { SEVERITIES } from './comparison.js';

const literals = <const T extends readonly string[]>(values: T, options: object) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...values], ...options }));
const closed = { additionalProperties: false } as const;

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const clockTime = (description: string) =>
  Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description, examples: ['22:00'] });

export const TimeWindowSchema = Type.Object(
  {
    days: Type.Array(literals(DAYS, { description: 'On which the window begins.' }), {
      minItems: 1,
      maxItems: 7,
      uniqueItems: true,
    }),
    from: clockTime('First minute, local time.'),
    to: clockTime('End, local time, exclusive; not after `from`: on the next day.'),
  },
  { $id: 'TimeWindow', ...closed },
);
export type TimeWindow = Static<typeof TimeWindowSchema>;
const windows = (options: object = {}) =>
  Type.Array(TimeWindowSchema, { minItems: 1, maxItems: 32, ...options });

export const ScheduleSchema = Type.Object(
  { timezone: Type.String({ description: 'IANA name.', examples: ['Europe/Berlin'] }), windows: windows() },
  { $id: 'Schedule', ...closed, description: 'When alerts are sent; at other times changes are only kept.' },
);
export type Schedule = Static<typeof ScheduleSchema>;

export const SeverityRuleSchema = Type.Object(
  {
    zone: Type.Optional(Type.String({ description: 'Id of a zone in which a region of the change lies.' })),
    kind: Type.Optional(literals(CHANGE_KINDS, { description: 'Kind of the change.' })),
    min_area: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Share of the frame that the change covers at least.',
      }),
    ),
    during: Type.Optional(windows({ description: "In the schedule's time zone; UTC without one." })),
    severity: literals(SEVERITIES, { description: 'Of a change to which all of the above apply.' }),
  },
  { $id: 'SeverityRule', ...closed },
);
export type SeverityRule = Static<typeof SeverityRuleSchema>;

/** Complete: what is not given has its default. */
export const AlertSettingsSchema = Type.Object(
  {
    callback_url: Type.Union([Type.String({ pattern: '^https?://[^\\s]+$', maxLength: 2048 }), Type.Null()], {
      default: null,
      description: 'Receives alerts as signed webhooks (Standard Webhooks 1.0); null: nothing is alerted.',
    }),
    confirm_frames: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 2,
      description: 'Frames that must show a change before it is opened; so many in a row without it end it.',
    }),
    persist_s: Type.Number({
      minimum: 0,
      maximum: 86_400,
      default: 0,
      description: 'Seconds that a change must last before it is opened.',
    }),
    settle_s: Type.Number({
      minimum: 60,
      maximum: 2_592_000,
      default: 14_400,
      description:
        "Seconds after which what stays (a parked car) is part of how the place normally looks, where `before` is 'memory'; likewise a camera that was turned, unless it is 'reference'.",
    }),
    cooldown_s: Type.Number({
      minimum: 0,
      maximum: 604_800,
      default: 300,
      description:
        'Seconds after an alert in which the same zone, kind and place alert only if it is more severe. An alert that was not delivered in the end has none.',
    }),
    min_severity: literals(SEVERITIES, { default: 'low', description: 'Less severe changes do not alert.' }),
    severity: Type.Array(SeverityRuleSchema, {
      maxItems: 100,
      default: [],
      description:
        "The first rule that applies decides, then the zone's own severity; else tampering is high, the rest medium.",
    }),
  },
  { $id: 'AlertSettings', ...closed },
);
export type AlertSettings = Static<typeof AlertSettingsSchema>;
