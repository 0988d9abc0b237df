/** Frames of which a part is lost, or does not count: they open, end and settle nothing in it. */
import { describe, expect, it } from '@jest/globals';
import type { ChangeRules } from '../../../src/camera/changes/rules.js';
import { car, empty, gone, iso, RULES, regionAt, run } from './scenario.js';

const { box } = regionAt(0);
const damaged = (n: number, lost = [box]) => ({ ...empty(n), lost });
const rules: ChangeRules = { ...RULES, before: 'previous', settleMs: { scene: 3_600_000, tamper: 3_600_000 } };
const eventsOf = (frames: Parameters<typeof run>[0], given: ChangeRules = rules) =>
  run(frames, given).steps.map(({ changes }) => changes.flatMap(({ event }) => event ?? []));

describe('a frame that lost the place of a change', () => {
  it('does not end it, however many follow', () => {
    const frames = [car(1), car(2), ...[3, 4, 5, 6].map((n) => damaged(n)), car(7), empty(8), empty(9)];
    expect(eventsOf(frames)).toEqual([
      [],
      ['change.opened'],
      ...Array(4).fill([]),
      ['change.persisting'],
      [],
      ['change.reverted'],
    ]);
  });

  it.each([damaged(30), { ...empty(30), uncounted: [box] }])('proves no settled change: %#', (hidden) => {
    const memory: ChangeRules = { ...RULES, before: 'memory', settleMs: { scene: 5_000, tamper: 5_000 } };
    const { steps } = run([car(1), car(2), car(3), car(6), empty(7), empty(8), hidden, gone(31), gone(32)], memory);
    expect(steps.at(-1)?.changes).toMatchObject([{ event: 'change.reverted', change: { last_seen: iso(8) } }]);
  });

  it('settles nothing', () => {
    const memory: ChangeRules = { ...RULES, before: 'memory', settleMs: { scene: 1_000, tamper: 1_000 } };
    const other = regionAt(2).box;
    expect(run([car(1), { ...car(2), lost: [other] }], memory).steps.at(-1)?.absorb).toEqual([]);
  });
});

it('a frame that lost another place ends a change whose place it shows empty', () => {
  const other = [regionAt(2).box];
  const frames = [car(1), car(2), damaged(3, other), damaged(4, other)];
  expect(eventsOf(frames).at(-1)).toEqual(['change.reverted']);
});

it('the frame after a damaged one is compared with the same "before"', () => {
  expect(run([empty(1), damaged(2), empty(3)], rules).steps.map(({ hold }) => hold)).toEqual([false, true, false]);
});
