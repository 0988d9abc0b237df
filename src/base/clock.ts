/** The only reader of the wall clock. Code that decides by times takes a `Clock` as an argument: tests can set it. */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** @returns epoch ms */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** @returns the time of the system, RFC 3339 in UTC */
export const systemTime = (): string => new Date().toISOString();
