/** Chance that comes out the same on every machine: a seed is any text, e.g. a pair's id and the name of what is made of it. */
import { normalNumber, uniformNumbers } from '../random.js';

export interface Random {
  /** uniform in [from, to) */
  uniform(from: number, to: number): number;
  /** standard normal */
  normal(): number;
  /** -1 or 1 */
  sign(): number;
}

/** `uniformNumbers` seeded by FNV-1a. */
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
