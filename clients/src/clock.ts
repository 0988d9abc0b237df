/** The wall clock, read in this file alone, so that tests can pass another one. */
export type Clock = () => number;

/** @returns epoch ms */
export const systemClock: Clock = Date.now;
