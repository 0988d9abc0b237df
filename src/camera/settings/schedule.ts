/** Schedule of a camera: the times of the week at which alerts are sent, and other windows of time. */
import { type Static, Type } from 'typebox';
import { literals } from '../../schemas/constructors.js';

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const closed = { additionalProperties: false } as const;

/** HH:MM */
const clockTime = (description: string) =>
  Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description, examples: ['22:00'] });

export const windows = (options: object = {}) =>
  Type.Array(
    Type.Object(
      {
        days: Type.Array(literals(DAYS, {}), { minItems: 1, maxItems: 7, uniqueItems: true }),
        from: clockTime('Begin, local time.'),
        to: clockTime('End, local time, exclusive. It is on the next day unless it is after `from`.'),
      },
      closed,
    ),
    { minItems: 1, maxItems: 32, ...options },
  );

export const ScheduleSchema = Type.Object(
  { timezone: Type.String({ description: 'IANA time zone.', examples: ['Europe/Berlin'] }), windows: windows() },
  {
    $id: 'Schedule',
    ...closed,
    description: 'Times at which alerts are sent. At other times changes are only stored.',
  },
);
export type Schedule = Static<typeof ScheduleSchema>;
export type TimeWindow = Schedule['windows'][number];
