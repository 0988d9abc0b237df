import { invalidValue } from '../base/errors.js';

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
