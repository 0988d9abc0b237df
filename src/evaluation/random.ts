/** Chance that comes out the same on every machine: a seed is any text, e.g. a pair's id and the name of what is made of it. */

export interface Random {
  /** uniform in [from, to) */
  uniform(from: number, to: number): number;
  /** standard normal */
  normal(): number;
  /** -1 or 1 */
  sign(): number;
}

/** mulberry32 (public domain, T. Ettinger) seeded by FNV-1a. */
export function seededRandom(seed: string): Random {
  let state = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(seed)) state = Math.imul(state ^ byte, 0x01000193);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    uniform: (from, to) => from + (to - from) * next(),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    sign: () => (next() < 0.5 ? -1 : 1),
  };
}
