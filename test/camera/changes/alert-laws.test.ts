/** Laws of the alerts of a camera, and of repeated observations. */
import { describe, expect } from '@jest/globals';
import type { Observation } from '../../../src/camera/changes/state.js';
import type { AlertIntent } from '../../../src/schemas/change.js';
import { compareSeverity } from '../../../src/schemas/kinds.js';
import { governed, law, opened } from './laws.js';
import { AT_ONCE, regionAt, run, START, type Step, slotOf } from './scenario.js';

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
      const waiting = state.cooldowns.reduce((sum, { suppressed }) => sum + suppressed, 0);
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
