/** Laws of the change reducer: sentences that hold for all generated cameras, observations and deliveries. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSameLocation } from '../../../src/camera/changes/locations.js';
import type { ChangeRules } from '../../../src/camera/changes/rules.js';
import type { Observation, Settled, Track } from '../../../src/camera/changes/state.js';
import { plainStatement } from '../../../src/language/plain.js';
import { readStatement } from '../../../src/language/read-clauses.js';
import { write } from '../../../src/language/write.js';
import type { FoundChange } from '../../../src/schemas/change.js';
import { compareSeverity, SIDES_OF_KIND } from '../../../src/schemas/kinds.js';
import { between, isTamper, law, longestRun, opened, RUNS, shows, updates } from './laws.js';
import { observationsWithMoves, rules, run, slotOf } from './scenario.js';

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
        const isHere = ({ stage, regions }: Track) => stage !== 'ended' && isSameLocation(regions, location);
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
