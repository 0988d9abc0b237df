/** The two times of a round on a day, in its time zone. Pure. */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { usage } from '../failure.js';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const TIME = '^([01][0-9]|2[0-3]):[0-5][0-9]';
const DAY_MS = 86_400_000;

const RoundSchema = Type.Object(
  {
    camera: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' }),
    /** unique within the camera */
    name: Type.String({ minLength: 1, maxLength: 64 }),
    /** time of the later picture, HH:MM */
    at: Type.String({ pattern: `${TIME}$` }),
    /** time of the earlier picture: HH:MM of the same day, or of the day before with ' yesterday' */
    with: Type.String({ pattern: `${TIME}( yesterday)?$` }),
    /** days of the later picture */
    days: Type.Array(Type.Unsafe<(typeof DAYS)[number]>({ enum: DAYS }), { minItems: 1, default: [...DAYS] }),
    /** IANA time zone of both times */
    tz: Type.String({ default: 'UTC' }),
  },
  { additionalProperties: false },
);
/** Two times of a day whose pictures are compared. */
export type Round = Static<typeof RoundSchema>;

/** A round on one day. */
export interface RoundDay {
  /** YYYY-MM-DD of the later picture, in the time zone of the round */
  readonly day: string;
  /** both instants, epoch ms */
  readonly at: number;
  readonly with: number;
}

/** @param subject names the round in a message. @throws Failure 'usage' naming the member and what was expected */
export function checkRound(given: unknown, subject: string): Round {
  const round = Value.Default(RoundSchema, given);
  if (!Value.Check(RoundSchema, round)) {
    const [fault] = Value.Errors(RoundSchema, round);
    throw usage(`${subject}${fault?.instancePath ?? ''}: ${fault?.message ?? 'expected a round'}`);
  }
  if (!isTimeZone(round.tz)) {
    throw usage(`${subject}/tz: ${JSON.stringify(round.tz)}, expected an IANA time zone such as Europe/Berlin`);
  }
  if (isYesterday(round.with) || round.with < round.at) return round;
  throw usage(`${subject}/with: ${round.with}, expected a time before ${round.at}, or one with " yesterday"`);
}

const isYesterday = (time: string): boolean => time.endsWith(' yesterday');

/** @returns the round on the latest of its days whose `at` is not after `now`; null: none of the last eight days */
export function latestDay(round: Round, now: number): RoundDay | null {
  for (let back = 0; back <= 7; back++) {
    const found = onDay(round, new Date(now - back * DAY_MS + offsetAt(now - back * DAY_MS, round.tz)));
    if (found !== null && found.at <= now) return found;
  }
  return null;
}

/** @param local its UTC fields are the local date. @returns null: the round has another day of the week */
function onDay(round: Round, local: Date): RoundDay | null {
  // The week of getUTCDay begins with Sunday.
  if (!round.days.includes(DAYS[(local.getUTCDay() + 6) % 7] as (typeof DAYS)[number])) return null;
  const midnight = Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate());
  const instant = (time: string, date: number) => {
    const [hour = 0, minute = 0] = time.slice(0, 5).split(':').map(Number);
    return instantOf(date + (hour * 60 + minute) * 60_000, round.tz);
  };
  return {
    day: new Date(midnight).toISOString().slice(0, 10),
    at: instant(round.at, midnight),
    with: instant(round.with, midnight - (isYesterday(round.with) ? DAY_MS : 0)),
  };
}

/**
 * @param local wall-clock time as if it was UTC. A time that the zone has twice is the first of both; of one that it
 *   skips, the moment after.
 * @returns epoch ms
 */
function instantOf(local: number, tz: string): number {
  // The offset of the day before is the one before a change of the clock on this day.
  const earlier = local - offsetAt(local - DAY_MS, tz);
  if (earlier + offsetAt(earlier, tz) === local) return earlier;
  const later = local - offsetAt(local, tz);
  return later + offsetAt(later, tz) === local ? later : earlier;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const date = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-US', { timeZone, calendar: 'gregory', ...date, ...time });
}

/** @returns local time minus UTC at an instant, ms */
function offsetAt(at: number, tz: string): number {
  const parts = new Map<string, number>();
  for (const { type, value } of formatOf(tz).formatToParts(at)) parts.set(type, Number(value));
  const part = (name: string) => parts.get(name) ?? 0;
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - Math.floor(at / 1000) * 1000;
}

/** Intl also accepts offsets ('+02:00'), which have no summer time. */
function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

/** @returns wall time with its zone, for people: '2026-06-01 14:00 Europe/Berlin' */
export const wallTime = (at: number, tz: string): string =>
  `${new Date(at + offsetAt(at, tz)).toISOString().slice(0, 16).replace('T', ' ')} ${tz}`;
