/** Changes that become part of "before", and baseline resets. */
import { describe, expect, it } from '@jest/globals';
import { advance, applyEvents, resetBaseline } from '../../../src/camera/changes/advance.js';
import type { ChangeRules } from '../../../src/camera/changes/rules.js';
import { initialTrackerState, type Observation } from '../../../src/camera/changes/state.js';
import { blocked, car, empty, eventTypes, gone, iso, RULES, regionAt, run, second } from './scenario.js';

describe('a change that settles', () => {
  const memory: Partial<ChangeRules> = { before: 'memory', settleMs: { scene: 5_000, tamper: 5_000 } };
  const stays = [car(1), car(2), car(3), car(6)];

  it('is absorbed by the background after absorb_s, and reverts when only the background shows it', () => {
    const { steps, state } = run([...stays, empty(7), empty(8), empty(9), gone(10), gone(11)], {
      ...RULES,
      ...memory,
    });
    expect(steps[3]?.absorb).toEqual([regionAt(0)]);
    expect(steps.at(-1)?.changes).toMatchObject([
      { event: 'change.reverted', change: { settled_at: iso(6), reverted_at: iso(10) } },
    ]);
    expect(steps.at(-1)?.absorb).toHaveLength(1);
    expect(state.settled).toEqual([]);
  });
  it('settles with the next frame that shows it if a person says that it is normal, and no other change does', () => {
    const two = (n: number) => car(n, { regions: [regionAt(0), regionAt(2)] });
    const rules = { ...RULES, before: 'memory' as const, settleMs: { scene: 3_600_000, tamper: 3_600_000 } };
    const opened = [two(1), two(2)].reduce((state, frame) => advance(state, frame, rules).state, initialTrackerState());
    const [first] = opened.tracks;
    const normal = applyEvents(opened, [{ type: 'change.normal', changeId: first?.id ?? '' }]);
    const unseen = advance(normal, empty(3), rules);
    expect([unseen.absorb, unseen.changes.map(({ event }) => event)]).toEqual([[], []]);
    const seen = advance(normal, two(3), rules);
    expect(seen.absorb).toEqual(first?.regions);
    expect(seen.changes.filter(({ event }) => event === 'change.settled')).toMatchObject([
      { change: { id: first?.id, settled_at: iso(3) } },
    ]);
    expect(seen.state.tracks.map(({ stage }) => stage).sort()).toEqual(['ended', 'open']);
    expect(advance(opened, two(3), rules).absorb).toEqual([]);
  });
  it('is no new change in a light whose background lacks it, and is absorbed there too', () => {
    const { steps } = run([...stays, empty(7), empty(8), car(60), car(61)], { ...RULES, ...memory });
    expect(steps.slice(4).flatMap(({ changes }) => changes)).toMatchObject([
      { event: null, change: { first_seen: iso(1), last_seen: iso(61) } },
    ]);
    expect(steps.at(-1)?.absorb).toEqual([regionAt(0)]);
  });
  it('is seen for as long as the frames prove it, which is reported every 10 s and exactly at its end', () => {
    const rules = { ...RULES, ...memory };
    const frames = [...stays, empty(8), empty(15), empty(18), empty(20, 'nuisance'), gone(21), gone(22)];
    const { steps } = run(frames, rules);
    const seen = steps.map(({ changes }) => changes.map(({ change }) => change.last_seen));
    expect(seen.slice(4)).toEqual([[], [], [iso(18)], [], [], [iso(18)]]);
    const late = run([...stays, empty(7), empty(8), gone(9), gone(10)], rules).steps.at(-1)?.changes;
    expect(late).toMatchObject([{ event: 'change.reverted', change: { last_seen: iso(8), reverted_at: iso(9) } }]);
  });
  it('settles with the previous frame as "before" as soon as no other change is undecided', () => {
    const rules = { ...RULES, before: 'previous' as const, settleMs: { scene: 0, tamper: 60_000 } };
    const other = (n: number) => car(n, { regions: [regionAt(0), regionAt(2)] });
    const { steps } = run([car(1), other(2), other(3)], rules);
    expect(steps.map(({ hold }) => hold)).toEqual([true, true, false]);
    expect(steps[2]?.changes.filter(({ event }) => event === 'change.settled')).toHaveLength(2);
  });
  it('reverts when only the previous frame shows it', () => {
    const rules = { ...RULES, before: 'previous' as const, settleMs: { scene: 0, tamper: 60_000 } };
    expect(eventTypes([car(1), car(2), empty(3), gone(4), gone(5)], rules)).toEqual([
      '',
      'change.opened change.settled',
      '',
      '',
      'change.reverted',
    ]);
  });
  it('reverts at once when the thing leaves in the frames after its settling', () => {
    const { steps, state } = run([...stays, gone(7), gone(8)], { ...RULES, ...memory });
    expect(steps.at(-1)?.changes).toMatchObject([
      { event: 'change.reverted', change: { settled_at: iso(6), last_seen: iso(6), reverted_at: iso(7) } },
    ]);
    expect(state.settled).toEqual([]);
  });
  it('reverts with its neighbour, whose place is not taken for a move of the other', () => {
    const near = regionAt(0, { shift: 0.02, box: { x: 0.2, y: 0.4, width: 0.15, height: 0.15 } });
    const both = (n: number) => car(n, { regions: [regionAt(0), near] });
    const left = (n: number) => car(n, { regions: [regionAt(0, { side: 'before' }), { ...near, side: 'before' }] });
    const { steps } = run([both(1), both(2), both(3), both(6), left(7), left(8)], { ...RULES, ...memory });
    expect(steps.at(-1)?.changes.map(({ event }) => event)).toEqual(['change.reverted', 'change.reverted']);
  });
  it('does not settle with a frame of a shifted view, of which the background takes nothing', () => {
    const shifted = stays.map((frame) => ({ ...frame, shifted: true }));
    const { steps } = run([...shifted, car(7)], { ...RULES, ...memory });
    const settling = steps.map(({ changes, absorb }) => [
      changes.some(({ event }) => event === 'change.settled'),
      absorb.length,
    ]);
    expect(settling).toEqual([...shifted.map(() => [false, 0]), [true, 1]]);
  });
  it('does not revert when a much smaller thing leaves the same location', () => {
    const rules = { ...RULES, before: 'previous' as const, settleMs: { scene: 0, tamper: 60_000 } };
    const dog = (n: number) =>
      car(n, {
        regions: [regionAt(0, { side: 'before', box: { x: 0.05, y: 0.45, width: 0.03, height: 0.04 } })],
      });
    expect(eventTypes([car(1), car(2), dog(3), dog(4)], rules).at(-1)).toBe('change.opened change.settled');
  });
});

describe('a baseline reset', () => {
  const reset = (frames: Observation[], rules: Partial<ChangeRules> = {}) =>
    resetBaseline(run(frames, { ...RULES, ...rules }).state, second(9), true);

  it('settles open changes and drops pending tracks', () => {
    const { state, changes } = reset([car(1), car(2, { regions: [regionAt(0), regionAt(2)] })]);
    expect(changes).toMatchObject([
      { event: 'change.settled', change: { status: 'opened', settled_at: iso(9), reverted_at: null } },
    ]);
    expect(state.tracks).toEqual([]);
  });
  it('lets a settled change revert when the thing leaves', () => {
    const { state } = reset([car(1), car(2)]);
    const last = advance(advance(state, gone(10), RULES).state, gone(11), RULES);
    expect(last.changes).toMatchObject([{ event: 'change.reverted', change: { reverted_at: iso(10) } }]);
    expect(last.alerts).toMatchObject([{ type: 'change.reverted' }]);
  });
  it('drops a settled change that the last frame did not show: the next thing there is new', () => {
    const memory = { before: 'memory' as const, settleMs: { scene: null, tamper: null } };
    const { state, changes } = reset([car(1), car(2), empty(3)], memory);
    expect([changes.length, state.settled]).toEqual([1, []]);
    const rules = { ...RULES, ...memory };
    const next = advance(advance(state, car(10), rules).state, car(11), rules);
    expect(next.changes).toMatchObject([{ event: 'change.opened' }]);
  });
  it('proves nothing of a thing that the new "before" may not show', () => {
    const { state } = reset([car(1), car(2)]);
    const frames = Array.from({ length: 20 }, (_, i) => empty(10 + i));
    const { changes } = frames.reduce(
      (step, frame) => {
        const next = advance(step.state, frame, RULES);
        return { state: next.state, changes: [...step.changes, ...next.changes] };
      },
      { state, changes: [] as readonly unknown[] },
    );
    expect(changes).toEqual([]);
  });
  it('of a background of another light lets the frames prove that the thing stays', () => {
    const { state } = resetBaseline(run([car(1), car(2)], RULES).state, second(9), false);
    const changes = [10, 20].reduce(
      (step, n) => {
        const next = advance(step.state, empty(n), RULES);
        return { state: next.state, changes: [...step.changes, ...next.changes] };
      },
      { state, changes: [] as readonly object[] },
    ).changes;
    expect(changes.at(-1)).toMatchObject({ event: null, change: { last_seen: iso(20) } });
  });
  it('settles a blocked lens, and the next one opens a change', () => {
    const { state, changes } = reset([blocked(1), blocked(2)]);
    expect(changes).toMatchObject([{ event: 'change.settled', change: { kind: 'tamper' } }]);
    const next = advance(advance(state, blocked(10), RULES).state, blocked(11), RULES);
    expect(next.changes).toMatchObject([{ event: 'change.opened' }]);
  });
});
