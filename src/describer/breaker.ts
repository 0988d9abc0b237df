/**
 * Circuit breaker of the describer: after several failures in a row nothing is asked for a while, so that a dead server
 * costs no time. The first failure after the pause begins the next one.
 */

/** Failures in a row that open it. */
const MOST_FAILURES = 5;
const PAUSE_MS = 5 * 60_000;

/** @param clock epoch ms */
export function createBreaker(clock: () => number) {
  let failures = 0;
  let openUntil = 0;
  return {
    /** @returns null if the server may be asked, else the reason for people */
    open(): string | null {
      if (clock() >= openUntil) return null;
      return `the server failed ${failures} times in a row, so it is not asked until ${new Date(openUntil).toISOString()}`;
    },
    succeeded(): void {
      failures = 0;
    },
    failed(): void {
      failures++;
      if (failures >= MOST_FAILURES) openUntil = clock() + PAUSE_MS;
    },
  };
}
