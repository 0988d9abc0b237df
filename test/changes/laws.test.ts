/** Laws of the change reducer: sentences that hold for all generated cameras, observations and deliveries. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSameLocation } from '../../src/changes/locations.js';
import type { ChangeRules } from '../../src/changes/rules.js';
import type { Observation, Settled, Track } from '../../src/changes/state.js';
import { plainStatement } from '../../src/language/plain.js';
import { readStatement } from '../../src/language/read-clauses.js';
import { write } from '../../src/language/write.js';
import { type AlertIntent, compareSeverity, type FoundChange } from '../../src/schemas/change.js';
import { SIDES_OF_KIND } from '../../src/schemas/comparison.js';
import {
  AT_ONCE,
  deliveries,
  observations,
  observationsWithMoves,
  regionAt,
  rules,
  run,
  START,
  type Step,
  slotOf,
} from './scenario.js';

/** A fixed seed, so that a failure is reproducible. After a change of the rules, try others. */
const RUNS = { numRuns: 100, seed: 20260105 };
const law = (sentence: string, holds: (o: Observation[], r: ChangeRules, d: Parameters<typeof run>[2]) => void) =>
  it(sentence, () => fc.assert(fc.property(observations, rules, deliveries, holds), RUNS));

const updates = (steps: readonly Step[]) => steps.flatMap(({ changes }) => changes);
const opened = (steps: readonly Step[]): FoundChange[] =>
  updates(steps).flatMap(({ change, event }) => (event === 'change.opened' ? [change] : []));
const isTamper = (change: FoundChange) => change.kind === 'tamper';
/** Whether a frame shows a change at its location; null if the frame may hide it. */
const shows = (observation: Observation, change: FoundChange): boolean | null => {
  if (isTamper(change)) return observation.verdict === 'tamper';
  if (observation.verdict === 'tamper' || observation.verdict === 'nuisance') return null;
  const slot = slotOf(change.regions[0]);
  return observation.regions.some((region) => slotOf(region) === slot);
};
const between = (steps: readonly Step[], from: string, to: string) =>
  steps.filter(({ observation: { at } }) => at >= Date.parse(from) && at <= Date.parse(to));
const longestRun = (values: readonly boolean[]): number => {
  let [longest, current] = [0, 0];
  for (const value of values) {
    current = value ? current + 1 : 0;
    longest = Math.max(longest, current);
  }
  return longest;
};
/** The alerts that cool-downs apply to. */
const governed = (steps: readonly Step[]): AlertIntent[] =>
  steps.flatMap(({ alerts }) => alerts).filter(({ type }) => type !== 'change.reverted');

describe('confirmation', () => {
  law('a change opens only after confirm_frames frames in a row that show it, hidden frames aside', (o, r) => {
    const { steps } = run(o, r);
    for (const change of opened(steps)) {
      const telling = between(steps, change.first_seen, change.confirmed_at)
        .map(({ observation }) => shows(observation, change))
        .filter((shown) => shown !== null);
      expect(telling.slice(-r.confirmFrames)).toEqual(Array(r.confirmFrames).fill(true));
    }
  });
  law('a change opens only after it has lasted for persist_s', (o, r) => {
    for (const { first_seen, confirmed_at } of opened(run(o, r).steps)) {
      expect(Date.parse(confirmed_at) - Date.parse(first_seen)).toBeGreaterThanOrEqual(r.persistMs);
    }
  });
  law('a track that confirm_frames frames in a row did not show never opens', (o, r) => {
    const { steps } = run(o, r);
    for (const change of opened(steps)) {
      const frames = between(steps, change.first_seen, change.confirmed_at);
      const without = frames.map(({ observation }) => shows(observation, change) !== true);
      expect(longestRun(without)).toBeLessThan(r.confirmFrames);
    }
  });
  law(
    'a thing that confirm_frames frames in a row show for persist_s opens a change, unless it has settled there',
    (o, r) => {
      const { steps } = run(o, { ...r, settleMs: { scene: null, tamper: null } });
      const last = steps.length - 1;
      for (const slot of [0, 1, 2, 3]) {
        let first = last + 1;
        while (first > 0 && steps[first - 1]?.observation.regions.some((one) => slotOf(one) === slot)) first--;
        const [from, to] = [steps[first]?.observation.at ?? 0, steps[last]?.observation.at ?? 0];
        if (last - first + 1 < r.confirmFrames || to - from < r.persistMs) continue;
        const followed = steps[last]?.state.tracks.filter((track) => slotOf(track.regions[0]) === slot);
        expect(followed?.map(({ stage }) => stage)).toContain('open');
      }
    },
  );
});

describe('kind, sentence and regions of a change', () => {
  it('never contradict each other', () => {
    const holds = (o: Observation[], r: ChangeRules) => {
      for (const { change } of updates(run(o, r).steps)) {
        const { kind, caption, regions } = change;
        if (kind === 'tamper') continue;
        const sides = [...new Set(regions.map(({ side }) => side))].sort();
        const isPlain = caption.startsWith(write(plainStatement(kind, undefined)));
        expect({ kind, sides, caption, fits: isPlain || readStatement(caption)?.kind === kind }).toEqual({
          kind,
          sides: [...SIDES_OF_KIND[kind]].sort(),
          caption,
          fits: true,
        });
      }
    };
    fc.assert(fc.property(observationsWithMoves, rules, holds), { ...RUNS, numRuns: 500 });
  });
});

describe('the sighting of a change', () => {
  law('its sentence, confidence and regions are of the frames of comparisons.best', (o, r) => {
    const { steps } = run(o, r);
    const byComparison = new Map(steps.map(({ observation }) => [observation.comparisonId, observation]));
    for (const { change } of updates(steps)) {
      const { best } = change.comparisons;
      if (isTamper(change)) continue;
      expect(byComparison.get(best)?.confidence).toBe(change.confidence);
      expect(byComparison.get(best)?.regions).toEqual(expect.arrayContaining([...change.regions]));
    }
  });
});

describe('the end of a change', () => {
  law('every opened change is tracked, has settled or has reverted, and only one of these', (o, r) => {
    const { steps, state } = run(o, r);
    const reverted = updates(steps).flatMap(({ change, event }) => (event === 'change.reverted' ? [change.id] : []));
    const open = state.tracks.flatMap(({ stage, id }) => (stage === 'open' ? [id] : []));
    const settled = state.settled.map(({ change }) => change.id);
    const ends = [...reverted, ...open, ...settled];
    expect([...ends].sort()).toEqual(
      opened(steps)
        .map(({ id }) => id)
        .sort(),
    );
  });
  law('an open change reverts only after confirm_frames frames in a row that show its absence', (o, r) => {
    const { steps } = run(o, r);
    for (const { change, event } of updates(steps)) {
      if (event !== 'change.reverted' || change.settled_at !== null) continue;
      const since = steps.filter(({ observation }) => observation.at > Date.parse(change.last_seen));
      const telling = since.map(({ observation }) => shows(observation, change)).filter((shown) => shown !== null);
      expect(telling.slice(0, r.confirmFrames)).toEqual(Array(r.confirmFrames).fill(false));
    }
  });
  law('a frame with hiding weather, light or a blocked lens ends no change in the scene', (o, r) => {
    for (const { observation, changes } of run(o, r).steps) {
      if (observation.verdict === 'change' || observation.verdict === 'none') continue;
      const ended = changes.filter(({ change, event }) => event === 'change.reverted' && !isTamper(change));
      expect(ended).toEqual([]);
    }
  });
  law('last_seen is always the time of a frame that shows the change', (o, r) => {
    for (const { observation, changes } of run(o, r).steps) {
      for (const { change, event } of changes) {
        if (event === 'change.reverted' || event === 'change.settled') continue;
        expect(change.last_seen).toBe(new Date(observation.at).toISOString());
        // A settled change is part of "before": a frame proves it by showing no difference there.
        if (change.settled_at === null) expect(shows(observation, change)).toBe(true);
      }
    }
  });
  law('the last_seen of a settled change is that of the last frame that proves it', (o, r) => {
    let before: readonly Settled[] = [];
    for (const { observation, state } of run(o, r).steps) {
      const at = new Date(observation.at).toISOString();
      for (const { change } of state.settled) {
        const earlier = before.find((one) => one.change.id === change.id)?.change.last_seen;
        const location = change.last_regions ?? change.regions;
        const isHere = ({ stage, regions }: Track) => stage !== 'resolved' && isSameLocation(regions, location);
        const clear = observation.verdict === 'none' || observation.verdict === 'change';
        if (earlier === undefined || isTamper(change)) continue;
        if (!clear || state.tracks.some(isHere)) expect(change.last_seen).toBe(earlier);
        else if (shows(observation, change) === false) expect(change.last_seen).toBe(at);
      }
      before = state.settled;
    }
  });
  law('severity never falls', (o, r) => {
    const known = new Map<string, FoundChange>();
    for (const { change } of updates(run(o, r).steps)) {
      const before = known.get(change.id)?.severity ?? 'info';
      expect(compareSeverity(change.severity, before)).toBeGreaterThanOrEqual(0);
      known.set(change.id, change);
    }
  });
});

describe('alerts', () => {
  law('no alert is made outside the schedule, while suspended, or without an address', (o, r) => {
    for (const { observation, alerts } of run(o, r).steps) {
      if (alerts.length === 0) continue;
      expect(r.alerting).toBe(true);
      if (r.suspendUntil !== null) expect(observation.at).toBeGreaterThanOrEqual(r.suspendUntil);
      if (r.schedule !== null) expect(new Date(observation.at).toISOString().slice(11, 16) < '12:10').toBe(true);
      if (r.schedule !== null) expect(observation.at).toBeGreaterThanOrEqual(START + 120_000);
    }
  });
  law('no alert is below min_severity', (o, r) => {
    for (const { change } of governed(run(o, r).steps)) {
      expect(compareSeverity(change.severity, r.minSeverity)).toBeGreaterThanOrEqual(0);
    }
  });
  law('a change is alerted again only if its severity has risen', (o, r, d) => {
    const last = new Map<string, AlertIntent>();
    for (const alert of governed(run(o, r, d).steps)) {
      const before = last.get(alert.change.id);
      expect(alert.type).toBe(before === undefined ? alert.type : 'change.escalated');
      if (before !== undefined) {
        expect(compareSeverity(alert.change.severity, before.change.severity)).toBeGreaterThan(0);
      }
      last.set(alert.change.id, alert);
    }
  });
  law('within a cool-down only a higher severity is alerted at its zone, kind and location', (o, r, d) => {
    const { steps, outcomes } = run(o, r, d);
    const alerts = governed(steps);
    for (const [j, later] of alerts.entries()) {
      const step = steps.findIndex((one) => one.alerts.includes(later));
      for (const earlier of alerts.slice(0, j)) {
        const outcome = outcomes.get(earlier.id);
        const failed = outcome?.outcome === 'failed' && outcome.knownAt <= step;
        const same =
          earlier.change.zone === later.change.zone &&
          earlier.change.kind === later.change.kind &&
          slotOf(earlier.change.regions[0]) === slotOf(later.change.regions[0]);
        if (!same || failed || later.at - earlier.at >= r.cooldownMs) continue;
        expect(compareSeverity(later.change.severity, earlier.change.severity)).toBeGreaterThan(0);
      }
    }
  });
  law(
    'a failed delivery starts no cool-down: if all fail at once, as many alerts are made as without cool-downs',
    (o, r) => {
      // One location, so that no two alerts are under way at once.
      const door = o.map((one): Observation => {
        const regions = one.regions.filter((region) => slotOf(region) === 0);
        return {
          ...one,
          regions,
          verdict: one.verdict === 'change' && regions.length === 0 ? 'none' : one.verdict,
        };
      });
      const ids = (steps: Step[]) => governed(steps).map(({ id }) => id);
      const failing = run(door, r, [{ outcome: 'failed', after: 0 }]);
      expect(ids(failing.steps)).toEqual(ids(run(door, { ...r, cooldownMs: 0 }).steps));
    },
  );
  law(
    'every suppressed or failed alert is counted exactly once, by a later alert of its location or in the state',
    (o, r, d) => {
      const { steps, state, outcomes } = run(o, r, d);
      const due = governed(run(o, { ...r, cooldownMs: 0 }).steps).length;
      const arrived = governed(steps).filter(({ id }) => outcomes.get(id)?.outcome === 'delivered');
      const counted = arrived.reduce((sum, { suppressedCount }) => sum + suppressedCount + 1, 0);
      const waiting = state.quiet.reduce((sum, { suppressed }) => sum + suppressed, 0);
      expect(counted + waiting).toBe(due);
    },
  );
  law('the end of a change is alerted only if its beginning was', (o, r, d) => {
    const alerted = new Set<string>();
    for (const { type, change } of run(o, r, d).steps.flatMap(({ alerts }) => alerts)) {
      if (type === 'change.reverted') expect(alerted).toContain(change.id);
      else alerted.add(change.id);
    }
  });
});

describe('repetition', () => {
  const resultOf = ({ steps, state }: ReturnType<typeof run>) => JSON.stringify([steps, state]);
  law('equal frames give equal results, also if the state is saved and read in between', (o, r, d) => {
    expect(resultOf(run(o, r, d, (state) => JSON.parse(JSON.stringify(state))))).toBe(resultOf(run(o, r, d)));
  });
  law('observations of another camera have no effect', (o, r, d) => {
    const alone = resultOf(run(o, r, d));
    const other = o.map((one) => ({
      ...one,
      regions: [regionAt(1), regionAt(3)],
      verdict: 'change' as const,
    }));
    run(other, { ...r, camera: 'yard' }, [AT_ONCE]);
    expect(resultOf(run(o, r, d))).toBe(alone);
  });
  law('ids of changes and of alerts are unique', (o, r, d) => {
    const { steps } = run(o, r, d);
    for (const ids of [opened(steps), steps.flatMap(({ alerts }) => alerts)].map((all) => all.map(({ id }) => id))) {
      expect(new Set(ids).size).toBe(ids.length);
    }
  });
  law('ids stay unique if several frames have the same capture time', (o, r, d) => {
    const minutes = o.map((one, frame) => ({ ...one, frame, at: one.at - (one.at % 60_000) }));
    const { steps } = run(minutes, r, d);
    for (const all of [opened(steps), steps.flatMap(({ alerts }) => alerts)]) {
      expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    }
  });
  law('the reducer does not modify its arguments', (o, r, d) => {
    const frozen = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
        Object.freeze(value);
        for (const inner of Object.values(value)) frozen(inner);
      }
      return value;
    };
    run(o.map(frozen), frozen(r), d, frozen);
  });
  law('"before" is released only while no track is pending', (o, r) => {
    for (const { hold, state } of run(o, r).steps) {
      if (!hold) expect(state.tracks.filter(({ stage }) => stage === 'pending')).toEqual([]);
    }
  });
});
