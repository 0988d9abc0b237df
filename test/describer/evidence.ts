/** Evidence for the tests of the describer. */
import type { Evidence, Nouns, Place } from '../../src/describer/evidence.js';

export const nouns = (stated: readonly string[], likely: readonly string[] = []): Nouns => ({ stated, likely });

/** One place with nouns of the frames that show its thing. */
export function place(role: Place['role'], was: Nouns, is: Nouns = was): Place {
  return { box: { x: 0.1, y: 0.2, width: 0.2, height: 0.2 }, role, nouns: { before: was, after: is } };
}
export const NONE = nouns([]);
export const VAN_CAME: Evidence = [place('appeared', NONE, nouns(['van'], ['van', 'truck']))];
export const VAN_LEFT: Evidence = [place('disappeared', nouns(['van']), NONE)];
