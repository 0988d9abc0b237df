/** Pseudo-random numbers that are the same on every machine. */

/** mulberry32 (public domain, T. Ettinger): uniform in [0, 1). @param seed any 32 bits */
export function uniformNumbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Standard normal, from two uniform numbers (Box and Muller 1958). */
export const normalNumber = (next: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

export interface Random {
  /** uniform in [from, to) */
  uniform(from: number, to: number): number;
  /** standard normal */
  normal(): number;
  /** -1 or 1 */
  sign(): number;
}

/** `uniformNumbers` seeded by the FNV-1a hash of a text, e.g. the id of a pair and the name of a nuisance. */
export function seededRandom(seed: string): Random {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(seed)) hash = Math.imul(hash ^ byte, 0x01000193);
  const next = uniformNumbers(hash);
  return {
    uniform: (from, to) => from + (to - from) * next(),
    normal: () => normalNumber(next),
    sign: () => (next() < 0.5 ? -1 : 1),
  };
}
