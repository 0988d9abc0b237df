/** The life of single changes, frame by frame. Laws that hold for all changes are in laws.test.ts. */
import { describe, expect, it } from '@jest/globals';
import { blocked, car, empty, eventTypes, iso, RULES, regionAt, run, second } from './scenario.js';

describe('a car that appears, stays and leaves', () => {
  const frames = [empty(0), car(1), car(2), car(3), car(4), empty(5), empty(6), empty(7)];

  it('opens with its second frame, persists, and reverts as of the first of two frames without it', () => {
    expect(eventTypes(frames)).toEqual(['', '', 'change.opened', 'change.persisting', '', '', 'change.reverted', '']);
    const { steps } = run(frames, RULES);
    expect(steps[6]?.changes[0]?.change).toMatchObject({
      camera: 'gate',
      zone: 'door',
      kind: 'appear',
      status: 'reverted',
      severity: 'medium',
      first_seen: iso(1),
      confirmed_at: iso(2),
      last_seen: iso(4),
      reverted_at: iso(5),
      comparisons: { first: `cmp_${second(1)}`, last: `cmp_${second(4)}` },
    });
  });
  it('holds "before" from its first frame to its end', () => {
    expect(run(frames, RULES).steps.map(({ hold }) => hold)).toEqual([
      false,
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
  });
  it('is alerted when it opens and when it reverts', () => {
    const alerts = run(frames, RULES).steps.flatMap((step) => step.alerts);
    expect(alerts.map(({ type, at }) => [type, at])).toEqual([
      ['change.opened', second(2)],
      ['change.reverted', second(6)],
    ]);
  });
  it('stays open if one frame does not show it', () => {
    expect(eventTypes([car(1), car(2), empty(3), car(4)])).toEqual(['', 'change.opened', '', 'change.persisting']);
  });
  it.each([
    ['S--S--S--S', 3],
    ['SS-SS-SS-S', 3],
    ['S-S-S-S-S-', 2],
  ])(
    'does not open while it flickers (%s, confirm_frames %d), and "before" is not held without end',
    (flicker, confirmFrames) => {
      const frames = [...flicker].map((shown, n) => (shown === 'S' ? car(n) : empty(n)));
      const { steps } = run(frames, { ...RULES, confirmFrames });
      expect(steps.flatMap(({ changes }) => changes)).toEqual([]);
      expect(steps.map(({ hold }) => hold)).toContain(false);
    },
  );
  it('opens across a frame that hides it, but not across a frame that shows its absence', () => {
    expect(eventTypes([car(1), empty(2, 'nuisance'), car(3)])).toEqual(['', '', 'change.opened']);
    expect(eventTypes([car(1), empty(2), car(3), car(4)])).toEqual(['', '', '', 'change.opened']);
  });
  it('opens across any number of hidden frames with fewer than confirm_frames in a row', () => {
    const fog = (n: number) => empty(n, 'nuisance');
    const frames = [car(1), fog(2), fog(3), car(4), fog(5), fog(6), car(7)];
    expect(eventTypes(frames, { confirmFrames: 3 }).at(-1)).toBe('change.opened');
    expect(eventTypes([car(1), fog(2), fog(3), fog(4), car(5), car(6)], { confirmFrames: 3 }).at(-1)).toBe('');
  });
  it('does not open before it has lasted for persist_s', () => {
    expect(eventTypes([car(1), car(2), car(9), car(11)], { persistMs: 10_000 })).toEqual(['', '', '', 'change.opened']);
  });
  it('has the caption and heatmaps of the most confident comparison up to its confirmation', () => {
    const { steps } = run(
      [
        car(1, { confidence: 0.7 }),
        car(2, { confidence: 0.95, caption: 'a red car has appeared' }),
        car(3, { confidence: 1 }),
      ],
      RULES,
    );
    expect(steps[2]?.changes[0]?.change).toMatchObject({
      caption: 'A red car has appeared.',
      confidence: 0.95,
      comparisons: { best: `cmp_${second(2)}` },
    });
  });
  it('is followed over at most its own length per frame', () => {
    const driving = (n: number, x: number) =>
      car(n, { regions: [regionAt(0, { box: { x, y: 0.4, width: 0.1, height: 0.1 } })] });
    expect(eventTypes([driving(1, 0), driving(2, 0.09), driving(3, 0.18)])).toEqual([
      '',
      'change.opened',
      'change.persisting',
    ]);
    expect(eventTypes([driving(1, 0), driving(2, 0.12), driving(3, 0.24)])).toEqual(['', '', '']);
  });
  it('stays one change while its region merges with that of a neighbour', () => {
    const wide = {
      side: 'after' as const,
      box: { x: 0.02, y: 0.4, width: 0.4, height: 0.15 },
      area: 0.1,
      score: 0.9,
      zone: null,
    };
    const both = (n: number) => car(n, { regions: [regionAt(0), regionAt(1)] });
    expect(eventTypes([both(1), both(2), car(3, { regions: [wide] }), both(4), both(5)])).toEqual([
      '',
      'change.opened change.opened',
      'change.persisting change.persisting',
      '',
      '',
    ]);
  });
});

describe('tampering', () => {
  it('is a change of high severity over the whole frame, and reverts with the first clear frames', () => {
    const { steps } = run([blocked(1), blocked(2), empty(3, 'nuisance'), empty(4)], RULES);
    expect(steps[1]?.changes).toMatchObject([
      { event: 'change.opened', change: { kind: 'tamper', severity: 'high', zone: null } },
    ]);
    expect(steps[3]?.changes).toMatchObject([{ event: 'change.reverted' }]);
  });
  it('ends no change in the scene, which persists afterwards', () => {
    expect(eventTypes([car(1), car(2), blocked(3), blocked(4), car(5), car(6)])).toEqual([
      '',
      'change.opened',
      '',
      'change.opened',
      'change.persisting',
      'change.reverted',
    ]);
  });
});
