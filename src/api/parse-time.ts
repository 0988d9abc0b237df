/** Times and time zones of requests. */
import { invalidValue } from '../base/errors.js';
import { isTimeZone } from '../base/wall-clock.js';

/**
 * @param text in the format date-time (RFC 3339)
 * @returns epoch ms
 * @throws ScenedeltaError 'invalid-value' if it is no instant: the format allows leap seconds (23:59:60Z), Date does
 * not
 */
export function parseTime(text: string, field: string): number {
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return at;
  throw invalidValue(
    `${field} is ${JSON.stringify(text.slice(0, 60))}, expected a time such as 2026-01-05T12:00:00Z, ` +
      'without a leap second',
    field,
  );
}

/** @throws ScenedeltaError 'invalid-value' unless it is the IANA name of a known zone */
export function assertZone(name: string, field: string): string {
  if (isTimeZone(name)) return name;
  throw invalidValue(`${field} is ${JSON.stringify(name)}, expected an IANA time zone such as Europe/Berlin`, field);
}
