/** Frames of objects for the tests of objects left and removed, and what a run of them gives. */
import type { ChangeRules } from '../../../src/camera/changes/rules.js';
import type { Observation, ObservedThing } from '../../../src/camera/changes/state.js';
import type { ChangeRegion } from '../../../src/schemas/change.js';
import { observed, RULES, regionAt, run, second } from './scenario.js';

const GONE = 'the bag on the left is gone';
export const LEFT = { ...RULES, leftAfterMs: 60_000 };
export const thing = (name: string, region: ChangeRegion, object = 0): ObservedThing => ({
  class: name,
  object,
  kind: { value: region.side === 'after' ? 'appear' : 'disappear', probability: 1 },
  nouns: [{ value: name, probability: 1 }],
  colours: [],
  regions: [region],
});
/** n seconds after START one frame shows a bag in the first slot. */
export function bag(
  n: number,
  given: { side?: 'before' | 'after'; shift?: number; object?: number; text?: string } = {},
) {
  const { side = 'after', shift = 0, object = 0.9, text = 'a bag has appeared on the left' } = given;
  const region = regionAt(0, { side, shift });
  const [kind, caption] = side === 'after' ? ['appear' as const, text] : ['disappear' as const, GONE];
  const statements = [{ caption, kind, regions: [region] }];
  return observed(second(n), { regions: [region], statements, things: [thing('object', region, object)] });
}
export const every = (from: number, to: number, frame: (n: number) => Observation): Observation[] =>
  Array.from({ length: (to - from) / 10 + 1 }, (_, i) => frame(from + 10 * i));
export const last = (frames: readonly Observation[], rules: ChangeRules = LEFT) =>
  run(frames, rules)
    .steps.flatMap(({ changes }) => changes)
    .at(-1);
export const objects = (frames: readonly Observation[], rules: ChangeRules = LEFT) =>
  run(frames, rules).steps.flatMap(({ changes, observation }) =>
    changes.flatMap(({ change, event }) =>
      change.object === undefined || event === null ? [] : [[(observation.at - second(0)) / 1000, event]],
    ),
  );
