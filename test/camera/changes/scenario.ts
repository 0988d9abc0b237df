/**
 * Generated cameras for the tests of src/camera/changes: four locations that never overlap, with observations, rules
 * and deliveries.
 */
import fc from 'fast-check';
import { advance, applyEvents } from '../../../src/camera/changes/advance.js';
import type { ChangeRules } from '../../../src/camera/changes/rules.js';
import {
  initialTrackerState,
  type Observation,
  type TrackerState,
  type Transition,
} from '../../../src/camera/changes/state.js';
import type { AlertIntent, CameraEvent, ChangeRegion } from '../../../src/schemas/change.js';

export const START = Date.parse('2026-01-05T12:00:00Z'); // a Monday
const SLOTS = [0, 1, 2, 3] as const;
const ZONES = ['door', 'door', 'yard', null] as const;

/** A region in a slot; `shift` moves it as a flickering change map does, never out of the slot. */
export const regionAt = (slot: number, options: Partial<ChangeRegion> & { shift?: number } = {}): ChangeRegion => {
  const { shift = 0, ...given } = options;
  return {
    side: 'after',
    // narrower than the distance between two slots, so that no track moves from one to the next
    box: { x: 0.02 + 0.25 * slot + shift, y: 0.4, width: 0.15, height: 0.15 },
    area: 0.04,
    score: 0.9,
    zone: ZONES[slot] ?? null,
    ...given,
  };
};
/** Slot of a region of `regionAt`. */
export const slotOf = (region: ChangeRegion | undefined): number => Math.floor((region?.box.x ?? 0) / 0.25);

export const observed = (at: number, given: Partial<Observation> = {}): Observation => ({
  comparisonId: `cmp_${at}`,
  at,
  frame: 0,
  verdict: given.regions === undefined ? 'none' : 'change',
  kind: 'appear',
  confidence: 0.9,
  caption: 'a car has appeared',
  regions: [],
  statements: null,
  ...given,
});

export const RULES: ChangeRules = {
  camera: 'gate',
  places: {},
  before: 'reference',
  confirmFrames: 2,
  persistMs: 0,
  settleMs: { scene: null, tamper: null },
  cooldownMs: 300_000,
  leftAfterMs: null,
  minSeverity: 'info',
  severity: [],
  sentences: [],
  visitSentences: [],
  schedule: null,
  suspendUntil: null,
  alerting: true,
};

export interface Step extends Transition {
  readonly observation: Observation;
}
/** Outcome of an alert's delivery, and after how many further frames the tracker learns it. */
export interface Delivery {
  readonly outcome: 'delivered' | 'failed';
  readonly after: number;
}
export const AT_ONCE: Delivery = { outcome: 'delivered', after: 0 };

export const eventsOf = (alert: AlertIntent, { outcome }: Delivery): CameraEvent[] =>
  alert.cooldownKey === null
    ? []
    : [
        {
          type: `alert.${outcome}`,
          alertId: alert.id,
          cooldownKey: alert.cooldownKey,
          suppressedCount: alert.suppressedCount,
        },
      ];

/** Runs the reducer over the observations. The i-th alert has the i-th outcome of `deliveries`, cyclically. */
export function run(
  observations: readonly Observation[],
  rules: ChangeRules,
  deliveries: readonly Delivery[] = [AT_ONCE],
  between: (state: TrackerState) => TrackerState = (state) => state,
): { steps: Step[]; state: TrackerState; outcomes: Map<string, Delivery & { knownAt: number }> } {
  let state = initialTrackerState();
  const steps: Step[] = [];
  const outcomes = new Map<string, Delivery & { knownAt: number }>();
  const due: { step: number; events: CameraEvent[] }[] = [];
  const applyUntil = (step: number) => {
    const now = due.filter((one) => one.step <= step);
    for (const one of now) due.splice(due.indexOf(one), 1);
    state = applyEvents(
      state,
      now.flatMap(({ events }) => events),
    );
  };
  for (const [i, observation] of observations.entries()) {
    applyUntil(i);
    const next = advance(between(state), observation, rules);
    for (const alert of next.alerts) {
      const delivery = deliveries[outcomes.size % deliveries.length] ?? AT_ONCE;
      outcomes.set(alert.id, { ...delivery, knownAt: i + 1 + delivery.after });
      due.push({ step: i + 1 + delivery.after, events: eventsOf(alert, delivery) });
    }
    steps.push({ ...next, observation });
    state = next.state;
  }
  applyUntil(Number.POSITIVE_INFINITY);
  return { steps, state, outcomes };
}

const sighting = fc.record({
  slot: fc.constantFrom(...SLOTS),
  side: fc.constantFrom<'before' | 'after'>('after', 'after', 'before'),
  shift: fc.double({ min: 0, max: 0.04, noNaN: true }),
  area: fc.constantFrom(0.01, 0.04, 0.2),
});
/** Captions of whole comparisons: some are about several things, or about none of the things that are seen. */
const captions = fc.constantFrom(
  'a car has appeared',
  'the cyclist has left and a car has appeared',
  'the person in black has moved to the left',
  'a van has been replaced by a car',
  'the cube became a sphere',
);
const STATED = [
  ['appear', 'a car has appeared'],
  ['disappear', 'the car is gone'],
  ['move', 'the car has moved'],
  ['replace', 'a van has been replaced by a car'],
] as const;
/** A statement about some of the regions, which need not fit their sides; null: none. */
const statement = fc.option(
  fc.record({
    said: fc.constantFrom(...STATED),
    from: fc.nat({ max: 4 }),
    length: fc.integer({ min: 1, max: 3 }),
  }),
);
const frameOf = (kinds: readonly Observation['kind'][]) =>
  fc.record({
    seconds: fc.integer({ min: 1, max: 90 }),
    verdict: fc.constantFrom<Observation['verdict']>(
      'change',
      'change',
      'change',
      'change',
      'none',
      'nuisance',
      'tamper',
    ),
    sightings: fc.uniqueArray(sighting, { selector: ({ slot }) => slot, minLength: 1, maxLength: 4 }),
    confidence: fc.double({ min: 0.5, max: 1, noNaN: true }),
    caption: captions,
    kind: fc.constantFrom(...kinds),
    statements: fc.option(fc.array(statement, { maxLength: 3 })),
    /** a region of "before" under the first one */
    hidden: fc.boolean(),
  });

/** Mostly runs of equal frames, so that changes are confirmed. */
const observationsOf = (...kinds: Observation['kind'][]): fc.Arbitrary<Observation[]> =>
  fc.array(fc.tuple(frameOf(kinds), fc.integer({ min: 1, max: 5 })), { minLength: 1, maxLength: 12 }).map((runs) => {
    let at = START;
    return runs.flatMap(([one, times]) =>
      Array.from({ length: times }, () => {
        at += one.seconds * 1000;
        const { verdict, confidence, caption, kind } = one;
        const regions = verdict === 'change' ? one.sightings.map(({ slot, ...given }) => regionAt(slot, given)) : [];
        const [first] = regions;
        if (one.hidden && first !== undefined) {
          regions.push({ ...first, side: first.side === 'after' ? 'before' : 'after' });
        }
        const statements =
          one.statements?.flatMap((given) => {
            const about = given === null ? [] : regions.slice(given.from, given.from + given.length);
            const leavesSlot = given?.said[0] === 'move' && new Set(about.map(slotOf)).size > 1;
            return given === null || about.length === 0 || (leavesSlot && !kinds.includes('move'))
              ? []
              : [{ kind: given.said[0], caption: given.said[1], regions: about }];
          }) ?? null;
        return observed(at, { verdict, regions, confidence, caption, kind, statements });
      }),
    );
  });

/** Without moves, so that every location and track stays in its slot. */
export const observations = observationsOf('appear', 'disappear', 'replace', 'multi');
export const observationsWithMoves = observationsOf('appear', 'disappear', 'move', 'replace', 'multi');

const severity = fc.constantFrom<ChangeRules['minSeverity']>('info', 'low', 'medium', 'high');
export const rules: fc.Arbitrary<ChangeRules> = fc.record({
  camera: fc.constant('gate'),
  places: fc.constant({}),
  before: fc.constantFrom<ChangeRules['before']>('previous', 'reference', 'memory'),
  confirmFrames: fc.integer({ min: 1, max: 4 }),
  persistMs: fc.constantFrom(0, 0, 30_000, 120_000),
  settleMs: fc.record({
    scene: fc.constantFrom(null, 0, 200_000),
    tamper: fc.constantFrom(null, 200_000),
  }),
  cooldownMs: fc.constantFrom(0, 60_000, 300_000, 3_600_000),
  leftAfterMs: fc.constantFrom(null, 30_000, 120_000),
  minSeverity: fc.constantFrom('info', 'info', 'medium'),
  severity: fc.array(
    fc.oneof(
      fc.record({ zone: fc.constantFrom('door', 'yard'), severity }),
      fc.record({ min_area: fc.constant(0.1), severity }),
      fc.record({ kind: fc.constantFrom('appear' as const, 'disappear' as const), severity }),
    ),
    { maxLength: 3 },
  ),
  sentences: fc.constant([]),
  visitSentences: fc.constant([]),
  schedule: fc.constantFrom(null, null, {
    timezone: 'UTC',
    windows: [{ days: ['mon' as const], from: '12:02', to: '12:10' }],
  }),
  suspendUntil: fc.constantFrom(null, null, START + 300_000),
  alerting: fc.constantFrom(true, true, true, false),
});

export const deliveries: fc.Arbitrary<Delivery[]> = fc.array(
  fc.record({
    outcome: fc.constantFrom<Delivery['outcome']>('delivered', 'failed'),
    after: fc.integer({ min: 0, max: 5 }),
  }),
  { minLength: 1, maxLength: 5 },
);

/** Observations of single tests: a car in the first slot, or an empty scene, n seconds after START. */
export const second = (n: number) => START + n * 1000;
export const iso = (n: number) => new Date(second(n)).toISOString();
export const car = (n: number, given: Partial<Observation> = {}) =>
  observed(second(n), { regions: [regionAt(0)], ...given });
export const empty = (n: number, verdict: Observation['verdict'] = 'none') => observed(second(n), { verdict });
/** The car has gone: it is visible in "before" only. */
export const gone = (n: number) => car(n, { regions: [regionAt(0, { side: 'before' })] });
export const blocked = (n: number) => observed(second(n), { verdict: 'tamper' });
/** Types of the change events per frame, separated by spaces. */
export const eventTypes = (frames: Observation[], rules: Partial<ChangeRules> = {}) =>
  run(frames, { ...RULES, ...rules }).steps.map(({ changes }) => changes.flatMap(({ event }) => event ?? []).join(' '));
