/**
 * Acceptance of a tuned part: paired comparisons of the answers before and after. On held-back feedback the part has to
 * win; on check pairs no figure may fall by more than one pair.
 */
import type { CaptionerFigures } from '../evaluation/report.js';
import type { Proportion } from '../evaluation/statistics.js';

/** How many answers a part makes better and worse. */
export interface Comparison {
  readonly answers: number;
  readonly better: number;
  readonly worse: number;
}

/** @param scores per answer before and after; higher is better */
export function compareAnswers(scores: readonly (readonly [before: number, after: number])[]): Comparison {
  return {
    answers: scores.length,
    better: scores.filter(([before, after]) => after > before).length,
    worse: scores.filter(([before, after]) => after < before).length,
  };
}

/** The chance of a difference at least as large if the part had no effect, up to which it counts as a gain. */
const SIGNIFICANCE = 0.1;
const LEAST_BETTER = 2;

/** One-sided exact sign test (McNemar 1947). */
export function isGain({ better, worse }: Comparison): boolean {
  if (better < LEAST_BETTER) return false;
  const all = better + worse;
  let [term, sum] = [0.5 ** all, 0];
  for (let k = all; k >= better; k--) {
    sum += term;
    term *= k / (all - k + 1);
  }
  return sum <= SIGNIFICANCE;
}

/** A figure of the check pairs that fell. */
export interface Fall {
  readonly figure: string;
  readonly before: number;
  readonly after: number;
}

/** Figures that fell by more than one pair. */
export function fallsOf(before: CaptionerFigures, after: CaptionerFigures): Fall[] {
  const figures: readonly (readonly [string, Proportion, Proportion])[] = [
    ['verdict', before.alarms.verdict, after.alarms.verdict],
    ...(['kind', 'noun', 'colour', 'place', 'claimsTrue', 'objectsNamed'] as const).map(
      (name) => [name, before.facts[name], after.facts[name]] as const,
    ),
  ];
  return figures.flatMap(([figure, old, now]) => {
    const [was, is] = [old.rate, now.rate];
    return was === null || is === null || is >= was - 1 / old.of - 1e-9 ? [] : [{ figure, before: was, after: is }];
  });
}
