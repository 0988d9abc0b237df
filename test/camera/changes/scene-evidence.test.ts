/** Things on the lens open no change, become part of "before", and hide their own part of the view alone. */
import { describe, expect, it } from '@jest/globals';
import type { ChangeRules } from '../../../src/camera/changes/rules.js';
import { car, empty, observed, RULES, regionAt, run as runAll, START } from './scenario.js';

const MINUTE = 60_000;
const run = (...given: Parameters<typeof runAll>) => runAll(...given).steps;
const shows = (second: number, ...regions: Parameters<typeof regionAt>[]) =>
  observed(START + second * 1000, { regions: regions.map((given) => regionAt(...given)) });
const drop = (second: number, scene = 0.35) => shows(second, [0, { scene }]);
const events = (observations: Parameters<typeof run>[0], rules: Partial<ChangeRules> = {}) =>
  run(observations, { ...RULES, ...rules }).flatMap(({ changes }) =>
    changes.map(({ event, change }) => `${event} ${change.first_seen.slice(17, 19)}`),
  );

describe('A change opens', () => {
  it('not of what more frames show on the lens than in the scene', () => {
    expect(events([drop(0), drop(5), drop(10), drop(15), drop(20)])).toEqual([]);
  });

  it('with the first frame that tips the balance', () => {
    expect(events([drop(0), drop(5), drop(10, 0.9)])).toEqual(['change.opened 00']);
    expect(events([drop(0, 0.9), drop(5)])).toEqual(['change.opened 00']);
  });

  it('of a thing beside it', () => {
    const both = [5, 10].map((second) => shows(second, [0, { scene: 0.35 }], [2, { scene: 0.9 }]));
    expect(events([drop(0), ...both])).toEqual(['change.opened 05']);
  });

  it('as without evidence if a bundle does not separate the lens', () => {
    expect(events([shows(0, [0]), shows(5, [0])])).toEqual(['change.opened 00']);
  });
});

describe('A thing that stays on the lens becomes part of "before" without a change', () => {
  it('of a background after the time of a thing that stays', () => {
    const rules = { before: 'memory', settleMs: { scene: MINUTE, tamper: MINUTE } } as const;
    const steps = run([drop(0), drop(30), drop(60)], { ...RULES, ...rules });
    expect(steps.map(({ absorb }) => absorb.length)).toEqual([0, 0, 1]);
    expect(steps.flatMap(({ changes }) => changes)).toEqual([]);
    expect(steps.at(-1)?.state.tracks).toMatchObject([{ stage: 'ended' }]);
  });

  it('of the previous frame at once', () => {
    const rules = { before: 'previous', settleMs: { scene: 0, tamper: 0 } } as const;
    const steps = run([drop(0), drop(5)], { ...RULES, ...rules });
    expect(steps.map(({ hold }) => hold)).toEqual([true, false]);
    expect(steps.flatMap(({ changes }) => changes)).toEqual([]);
  });

  it('of a reference never', () => {
    expect(run([drop(0), drop(5), drop(90_000)], RULES).at(-1)).toMatchObject({ absorb: [], hold: true });
  });
});

describe('A thing on the lens hides its own part of the view', () => {
  const { box } = regionAt(0);
  const ends = (...onLens: (typeof box)[]) => {
    const behind = [3, 4, 5].map((n) => ({ ...empty(n), onLens }));
    return events([car(1), car(2), ...behind]).includes('change.reverted 01');
  };

  it('so that a change behind it does not end', () => {
    expect(ends(box)).toBe(false);
    expect(ends({ ...box, height: box.height / 2 }, { ...box, y: box.y + box.height / 2, height: box.height })).toBe(
      false,
    );
  });

  it('and not the rest: a change ends whose place the frame shows empty', () => {
    expect(ends(regionAt(2).box)).toBe(true);
    expect(ends({ ...box, width: box.width / 4 })).toBe(true);
  });

  it('so that a settled change behind it is not proven', () => {
    const rules = { before: 'memory', settleMs: { scene: 1000, tamper: MINUTE } } as const;
    const last = (onLens: (typeof box)[]) => {
      const { state } = run([car(1), car(2), car(3), { ...empty(9), onLens }], { ...RULES, ...rules }).at(-1) ?? {};
      return state?.settled.map(({ change }) => change.last_seen.slice(17, 19));
    };
    expect([last([box]), last([])]).toEqual([['03'], ['09']]);
  });
});
