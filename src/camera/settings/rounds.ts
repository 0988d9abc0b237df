/**
 * Rounds of a camera: the picture at one time of a day compared with the one at another time, as people compare a yard
 * before and after a shift. Pure.
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { DAY_MS } from '../../base/clock.js';
import { invalidValue } from '../../base/errors.js';
import type { RgbImage } from '../../base/images.js';
import { instantOf, isoTimeIn, isTimeZone, localTimeAt } from '../../base/wall-clock.js';
import { literals } from '../../schemas/constructors.js';
import { checker } from '../../schemas/validation-error.js';
import { measureLight } from './light.js';
import { clockTime, DAYS } from './schedule.js';

export const RoundSchema = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Names the round in answers; unique within the camera.',
    }),
    at: clockTime('Local time of the later picture.'),
    with: Type.String({
      pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]( yesterday)?$',
      description: 'Local time of the earlier picture: of the same day, or of the day before with " yesterday".',
      examples: ['16:50 yesterday'],
    }),
    days: Type.Array(literals(DAYS, {}), {
      ...{ minItems: 1, maxItems: 7, uniqueItems: true, default: [...DAYS] },
      description: 'Days of the later picture.',
    }),
    tz: Type.String({ maxLength: 64, default: 'UTC', description: 'IANA time zone.', examples: ['Europe/Berlin'] }),
  },
  { $id: 'Round', additionalProperties: false, description: 'Two times of a day whose pictures are compared.' },
);
export type Round = Static<typeof RoundSchema>;

/** Both instants of a round on one day, epoch ms. */
export interface RoundTimes {
  readonly at: number;
  readonly with: number;
}

/** @returns what contradicts itself in a round, with its field; null: nothing */
export function faultOfRound({ at, with: earlier, tz }: Round): { field: string; what: string } | null {
  if (!isTimeZone(tz)) {
    return { field: 'tz', what: `is ${JSON.stringify(tz)}, expected an IANA time zone such as Europe/Berlin` };
  }
  if (isYesterday(earlier) || earlier < at) return null;
  return { field: 'with', what: `is ${earlier}, expected a time before ${at}, or one with " yesterday"` };
}

const isYesterday = (time: string): boolean => time.endsWith(' yesterday');

/** @returns the round on the latest of its days whose `at` is not after `now`; null: none of the last eight days */
export function latestRound(round: Round, now: number): RoundTimes | null {
  for (let back = 0; back <= 7; back++) {
    const times = timesOn(round, localTimeAt(now - back * DAY_MS, round.tz));
    if (times !== null && times.at <= now) return times;
  }
  return null;
}

/** @param day its UTC fields are the local date @returns null: the round has another day of the week */
export function timesOn(round: Pick<Round, 'at' | 'with' | 'days' | 'tz'>, day: Date): RoundTimes | null {
  // The week of getUTCDay begins with Sunday.
  if (!round.days.includes(DAYS[(day.getUTCDay() + 6) % 7] as (typeof DAYS)[number])) return null;
  const instant = (time: string, daysBefore: number) => {
    const date = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate() - daysBefore));
    const [hour = 0, minute = 0] = time.slice(0, 5).split(':').map(Number);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
    return instantOf({ ...{ year, month, day: date.getUTCDate(), hour, minute }, second: 0 }, round.tz);
  };
  return { at: instant(round.at, 0), with: instant(round.with, isYesterday(round.with) ? 1 : 0) };
}

/** Greatest distance of a picture from its time. */
export const WIDEST_MS = 60 * 60_000;
/** Pictures that are tried per time. */
export const MOST_TRIES = 20;

/**
 * @param refused why each picture that was tried is of no use
 * @param pictures number of them, tried or not, within `width` ms of `at` (epoch ms)
 * @returns what there was in place of a usable picture
 */
export function whatWasThere(
  refused: readonly string[],
  pictures: number,
  width: number,
  at: number,
  tz: string,
): string {
  const counted = [...new Set(refused)].map((one) => `${refused.filter((other) => other === one).length} ${one}`);
  const what = pictures === 0 ? 'no picture' : `${pictures} pictures, none of use (${counted.join(', ')})`;
  return `${what} within ${width / 60_000} min of ${isoTimeIn(at, tz)} (${tz})`;
}

/** Mean brightness of a picture that shows nothing (set by hand; a street by its lamps has 20 and more). */
const DARKEST_LUMA = 10;
export const isTooDark = (frame: RgbImage): boolean => measureLight(frame).luma < DARKEST_LUMA;

const checkSchema = checker(RoundSchema);

/** @throws ScenedeltaError 'invalid-request', or 'invalid-value' if it contradicts itself */
export function checkRound(given: unknown): Round {
  const round = checkSchema(Value.Default(RoundSchema, given)) as Round;
  const fault = faultOfRound(round);
  if (fault !== null) throw invalidValue(`${fault.field} ${fault.what}`, fault.field);
  return round;
}
