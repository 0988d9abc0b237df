/** The only reader of the wall clock. Code that decides by times takes a `Clock` as an argument: tests can set it. */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** @returns epoch ms */
export type Clock = () => number;

const ofHost = Date.now;
/** A time of the followed clock, and when it was so on the monotonic clock of the process. */
let followed: { readonly at: number; readonly since: number } | undefined;

/** The clock of the host, or the one that the process follows. */
export const systemClock: Clock = () =>
  followed === undefined ? ofHost() : Math.round(followed.at + performance.now() - followed.since);

/**
 * Follows another clock: from now on it is `at` (epoch ms), and jumps of the host's clock count no more. Libraries read
 * `Date.now`: BullMQ stamps and delays jobs by it.
 */
export function followClock(at: number): void {
  followed = { at, since: performance.now() };
  Date.now = systemClock;
}

/** @returns how far the clock of the host is ahead of the followed one */
export const clockOffsetMs = (): number => ofHost() - systemClock();

/** @returns the time, RFC 3339 in UTC */
export const systemTime = (): string => new Date(systemClock()).toISOString();
