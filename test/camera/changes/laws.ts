/** Forms of the laws of the change reducer, and what they read from the steps of a run. */
import { it } from '@jest/globals';
import fc from 'fast-check';
import type { ChangeRules } from '../../../src/camera/changes/rules.js';
import type { Observation } from '../../../src/camera/changes/state.js';
import type { AlertIntent, FoundChange } from '../../../src/schemas/change.js';
import { deliveries, observations, rules, type run, type Step, slotOf } from './scenario.js';

/** A fixed seed, so that a failure is reproducible. After a change of the rules, try others. */
export const RUNS = { numRuns: 100, seed: 20260105 };
export const law = (
  sentence: string,
  holds: (o: Observation[], r: ChangeRules, d: Parameters<typeof run>[2]) => void,
) => it(sentence, () => fc.assert(fc.property(observations, rules, deliveries, holds), RUNS));

export const updates = (steps: readonly Step[]) => steps.flatMap(({ changes }) => changes);
export const opened = (steps: readonly Step[]): FoundChange[] =>
  updates(steps).flatMap(({ change, event }) => (event === 'change.opened' ? [change] : []));
export const isTamper = (change: FoundChange) => change.kind === 'tamper';
/** Whether a frame shows a change at its location; null if the frame may hide it. */
export const shows = (observation: Observation, change: FoundChange): boolean | null => {
  if (isTamper(change)) return observation.verdict === 'tamper';
  if (observation.verdict === 'tamper' || observation.verdict === 'nuisance') return null;
  const slot = slotOf(change.regions[0]);
  return observation.regions.some((region) => slotOf(region) === slot);
};
export const between = (steps: readonly Step[], from: string, to: string) =>
  steps.filter(({ observation: { at } }) => at >= Date.parse(from) && at <= Date.parse(to));
export const longestRun = (values: readonly boolean[]): number => {
  let [longest, current] = [0, 0];
  for (const value of values) {
    current = value ? current + 1 : 0;
    longest = Math.max(longest, current);
  }
  return longest;
};
/** The alerts that cool-downs apply to. */
export const governed = (steps: readonly Step[]): AlertIntent[] =>
  steps.flatMap(({ alerts }) => alerts).filter(({ type }) => type !== 'change.reverted');
