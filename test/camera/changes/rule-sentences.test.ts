/** Rules with a sentence: from the facts of single frames to the severity and the alert of a change. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { advance } from '../../../src/camera/changes/advance.js';
import { probabilityByFacts, probabilityOf } from '../../../src/camera/changes/rule-sentences.js';
import { type ChangeRules, rulesOf } from '../../../src/camera/changes/rules.js';
import type { Observation, ObservedThing } from '../../../src/camera/changes/state.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';
import type { ChangeRegion } from '../../../src/schemas/change.js';
import { empty, observed, RULES, regionAt, run, second } from './scenario.js';

const polygon: [number, number][] = [
  [0, 0],
  [1, 0],
  [1, 1],
];
const ZONES = [{ id: 'gate', name: 'the gate', type: 'include', polygon }];
/** Rules of which every change that the sentences do not name is of severity info, which is not alerted. */
function rulesFor(...severityRules: object[]): ChangeRules {
  const settings = checkSettings({
    zones: ZONES,
    alerts: { severity_rules: [...severityRules, { severity: 'info' }], min_severity: 'low' },
  });
  const { severity, sentences, minSeverity } = rulesOf('gate', settings);
  return { ...RULES, severity, sentences, minSeverity };
}
const CAR = rulesFor({ when: 'a car has appeared', severity: 'high' });

const likely = (value: string, probability: number) => ({ value, probability });
interface Shown {
  readonly nouns?: readonly (readonly [string, number])[];
  readonly colours?: readonly (readonly [string, number])[];
  readonly kind?: ObservedThing['kind']['value'];
  readonly sure?: number;
  readonly side?: 'before' | 'after';
  readonly zone?: string | null;
  /** whether the frame names the thing */
  readonly named?: boolean;
}
function thingIn(region: ChangeRegion, { nouns = [['car', 1]], colours = [], kind = 'appear', sure = 1 }: Shown) {
  const list = (all: readonly (readonly [string, number])[]) => all.map(([value, p]) => likely(value, p));
  return {
    class: 'vehicle',
    object: 0,
    kind: { value: kind, probability: sure },
    nouns: list(nouns),
    colours: list(colours),
    regions: [region],
  };
}
function frame(n: number, shown: Shown = {}): Observation {
  const { side = 'after', zone = null, named = true } = shown;
  const region = { ...regionAt(0, { side }), zone };
  return observed(second(n), { regions: [region], things: named ? [thingIn(region, shown)] : [] });
}
const severities = (frames: readonly Observation[], rules: ChangeRules) =>
  run([empty(0), ...frames], rules).steps.flatMap(({ changes }) => changes.map(({ change }) => change.severity));
const alertsOf = (frames: readonly Observation[], rules: ChangeRules) =>
  run([empty(0), ...frames], rules).steps.flatMap(({ alerts }) => alerts.map(({ type }) => type));
const lastOf = (frames: readonly Observation[], rules: ChangeRules) =>
  run([empty(0), ...frames], rules)
    .steps.flatMap(({ changes }) => changes)
    .at(-1)?.change;

describe('a rule with a sentence', () => {
  it('alerts the change that it names, and no other one', () => {
    expect(alertsOf([frame(10), frame(20)], CAR)).toEqual(['change.opened']);
    expect(alertsOf([frame(10, { nouns: [['person', 1]] }), frame(20, { nouns: [['person', 1]] })], CAR)).toEqual([]);
    const gone = { side: 'before', kind: 'disappear' } as const;
    expect(alertsOf([frame(10, gone), frame(20, gone)], CAR)).toEqual([]);
  });

  it('counts the mean of the frames that name the thing, which the change states', () => {
    const frames = [frame(10, { sure: 0.9 }), frame(20, { named: false }), frame(30, { sure: 0.3 })];
    expect(lastOf(frames, CAR)?.judged).toEqual([{ when: 'a car has appeared', p: expect.closeTo(0.6, 9) }]);
    expect(alertsOf([frame(10, { sure: 0.9 }), frame(20, { sure: 0 })], CAR)).toEqual([]);
  });

  it('alerts later if later frames make it probable, and never takes a severity back', () => {
    const frames = [frame(10, { sure: 0.2 }), frame(20, { sure: 0.2 }), frame(30), frame(40), frame(50, { sure: 0 })];
    expect(severities(frames, CAR)).toEqual(['info', 'info', 'high', 'high']);
    expect(alertsOf(frames, CAR)).toEqual(['change.opened']);
  });

  it('does not hold for a thing that no frame names, nor for a tampered view', () => {
    const unnamed = [frame(10, { named: false }), frame(20, { named: false })];
    expect(alertsOf(unnamed, CAR)).toEqual([]);
    expect(lastOf(unnamed, CAR)).not.toHaveProperty('judged');
    const blocked = [10, 20].map((n) => observed(second(n), { verdict: 'tamper', caption: 'the lens is blocked' }));
    expect(severities(blocked, CAR)).toEqual(['info']);
  });

  it('holds from its own probability on', () => {
    const likelyCar = [frame(10, { sure: 0.7 }), frame(20, { sure: 0.7 })];
    const rule = (least: number) => rulesFor({ when: 'a car has appeared', when_probability: least, severity: 'high' });
    expect([0.69, 0.71].map((least) => alertsOf(likelyCar, rule(least)).length)).toEqual([1, 0]);
  });

  it('holds in the zone that it names, and with all other conditions of its rule', () => {
    const at = (zone: string | null) => [frame(10, { zone }), frame(20, { zone })];
    const named = rulesFor({ when: 'a car has appeared at the gate', severity: 'high' });
    expect([at('gate'), at(null)].map((frames) => alertsOf(frames, named).length)).toEqual([1, 0]);
    const large = rulesFor({ when: 'a car', min_area: 0.9, severity: 'high' });
    expect(alertsOf(at('gate'), large)).toEqual([]);
  });

  it('of an object left behind holds from the moment at which it counts as one', () => {
    const rules = {
      ...rulesFor({ when: 'a bag has been left at the gate', severity: 'high' }),
      leftAfterMs: 60_000,
    };
    const bag = (n: number) => {
      const one = frame(n, {
        nouns: [
          ['backpack', 0.6],
          ['bag', 0.3],
        ],
        zone: 'gate',
      });
      return { ...one, things: one.things?.map((thing) => ({ ...thing, class: 'object', object: 0.9 })) ?? [] };
    };
    const frames = [10, 20, 30, 40, 50, 60, 70, 80].map(bag);
    expect(alertsOf(frames.slice(0, 5), rules)).toEqual([]);
    expect(alertsOf(frames, rules)).toEqual(['change.opened']);
    expect(lastOf(frames, rules)).toMatchObject({ severity: 'high', object: { value: 'object_left' } });
  });

  it('that is changed while a thing is seen counts from then on', () => {
    const { state } = run([empty(0), frame(10), frame(20)], CAR);
    const other = rulesFor({ when: 'a vehicle has appeared', severity: 'high' });
    const judgedUnder = (rules: ChangeRules) => advance(state, frame(30), rules).changes.at(-1)?.change.judged;
    expect(judgedUnder(other)).toEqual([{ when: 'a vehicle has appeared', p: 1 }]);
    expect(judgedUnder(RULES)).toBeUndefined();
  });
});

describe('the probability of a sentence by the facts of a comparison', () => {
  const likelyCar = { kind: likely('appear', 0.9), class: likely('vehicle', 1), nouns: [likely('car', 0.5)] };
  const finding = { verdict: 'change', regions: [{ id: 1, side: 'after' }], facts: [{ ...likelyCar, regions: [1] }] };
  it.each([
    ['a car has appeared', finding, 0.45],
    ['a car has left', finding, 0],
    ['a car has appeared on the left', finding, null],
    ['a car has been removed', finding, null],
    ['it rains', finding, null],
    ['a car has appeared', { verdict: 'none' }, 0],
    ['a car has appeared', { verdict: 'nuisance', regions: [] }, 0],
    ['a car has appeared', { ...finding, verdict: 'tamper' }, null],
    ['a car has appeared', { verdict: 'change', regions: finding.regions }, null],
  ])('%s: %j gives %p', (sentence, given, expected) => {
    expect(probabilityByFacts(sentence, given as never)).toBe(expected);
  });
});

describe('the probability of a sentence', () => {
  const region = regionAt(0);
  const of = (when: string, shown: Shown) => {
    const [sentence] = rulesFor({ when, severity: 'high' }).sentences;
    return probabilityOf(sentence?.said as never, thingIn({ ...region, side: shown.side ?? 'after' }, shown));
  };

  it.each([
    [
      'a vehicle has appeared',
      {
        nouns: [
          ['car', 0.5],
          ['van', 0.3],
          ['person', 0.2],
        ],
      },
      0.8,
    ],
    [
      'a car or a van has appeared',
      {
        nouns: [
          ['car', 0.5],
          ['van', 0.3],
        ],
      },
      0.5,
    ],
    ['a van has appeared', { nouns: [['vehicle', 1]] }, 0],
    ['something has appeared', { nouns: [['person', 0.4]], sure: 0.9 }, 0.9],
    [
      'a red car has appeared',
      {
        colours: [
          ['red', 0.6],
          ['dark red', 0.2],
          ['white', 0.2],
        ],
      },
      0.8,
    ],
    ['a black car', { colours: [['dark blue', 0.5]] }, 0.5],
    ['a car has moved', { kind: 'move', sure: 0.7 }, 0.7],
    ['a car has appeared', { kind: 'replace', sure: 0.9 }, 0.9],
    ['a car has left', { kind: 'replace', sure: 0.9 }, 0],
    ['a car has left', { kind: 'replace', sure: 0.9, side: 'before' }, 0.9],
    ['a car has been replaced', { kind: 'replace', sure: 0.9, side: 'before' }, 0.9],
  ] as const)('%s: %j', (when, shown, expected) => {
    expect(of(when, shown as Shown)).toBeCloseTo(expected, 9);
  });

  it('lies within 0 and 1, and a wider noun is at least as probable', () => {
    const nouns = fc.uniqueArray(fc.constantFrom('car', 'van', 'suv', 'person', 'bag'), { maxLength: 5 });
    fc.assert(
      fc.property(nouns, fc.double({ min: 0, max: 1, noNaN: true }), (names, sure) => {
        const shown: Shown = { nouns: names.map((name) => [name, 1 / names.length] as const), sure };
        const [wide, narrow] = [of('a vehicle has appeared', shown), of('a car has appeared', shown)];
        expect(wide).toBeGreaterThanOrEqual(narrow);
        expect(wide).toBeLessThanOrEqual(sure + 1e-9);
        expect(narrow).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
