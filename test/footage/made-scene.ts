/**
 * A made camera without pictures: the scene is a set of things, and a comparison finds exactly the things in which two
 * frames differ. Runs of it under some rules give the evidence for dry runs, and the alerts that these must find.
 */
import type { CameraSettings } from '../../src/cameras/settings.js';
import { filterFinding } from '../../src/cameras/zones.js';
import { advance } from '../../src/changes/advance.js';
import { observationOf } from '../../src/changes/observation.js';
import { rulesOf } from '../../src/changes/rules.js';
import { initialTrackerState } from '../../src/changes/state.js';
import type { FrameStats } from '../../src/footage/records.js';
import { derivedId } from '../../src/ids.js';
import { SIDES } from '../../src/images.js';
import type { Finding } from '../../src/schemas/comparison.js';

/** Things of one frame: numbers from 0 to 8, each with a place of its own in a grid of 3 x 3. */
export type Scene = ReadonlySet<number>;
export const START = Date.UTC(2026, 5, 1);
export const STEP_MS = 1000;

const boxOf = (thing: number) => ({
  x: (thing % 3) / 3 + 0.1,
  y: Math.floor(thing / 3) / 3 + 0.1,
  width: 0.1,
  height: 0.1,
});

/** @param confidence of things that differ */
export function compare(before: Scene, after: Scene, confidence = 0.9): Finding {
  const missing = [...before].filter((thing) => !after.has(thing)).sort();
  const added = [...after].filter((thing) => !before.has(thing)).sort();
  const regions = [missing, added].flatMap((things, side) =>
    things.map((thing) => ({ side: SIDES[side] ?? 'after', box: boxOf(thing), area: 0.01, score: 0.9 })),
  );
  const changed = regions.length > 0;
  return {
    verdict: changed ? 'change' : 'none',
    kind: changed ? 'multi' : 'none',
    nuisance: [],
    caption: changed ? 'several things have changed' : 'nothing has changed',
    caption_score: 0.9,
    words: [],
    confidence: changed ? confidence : 0.05,
    severity: 'info',
    regions: regions.map((region, i) => ({ ...region, id: i + 1 })),
    statements: [],
    model: null,
  };
}

export interface MadeRun {
  readonly stats: readonly FrameStats[];
  /** type, frame and kind of each alert */
  readonly alerts: readonly string[];
  readonly changes: readonly string[];
}

/** Compares and tracks every frame as a live camera with `before: previous` does. */
export function run(scenes: readonly Scene[], settings: CameraSettings): MadeRun {
  const rules = rulesOf('yard', settings);
  const stats: FrameStats[] = [];
  const alerts: string[] = [];
  const changes = new Map<string, string>();
  let state = initialTrackerState();
  let before: number | null = null;
  let examined: { readonly frame: number; readonly before: number | null } | null = null;
  for (const [number, scene] of scenes.entries()) {
    const at = START + number * STEP_MS;
    const finding = before === null ? null : compare(scenes[before] ?? new Set(), scene);
    // A frame that equals the last examined one is quiet, unless a track waits for evidence.
    const quiet =
      examined !== null &&
      isSame(scene, scenes[examined.frame] ?? new Set()) &&
      (examined.before === before || examined.frame === before) &&
      !state.tracks.some(({ stage, missed }) => stage === 'pending' || missed > 0);
    stats.push({
      ...{ v: 1, camera: 'yard', number, at: timeOf(number), file: 'yard.mp4', seconds: number, time: at },
      ...{ examined: !quiet, score: null, threshold: null },
      before: before === null ? null : { mode: 'previous', captured_at: timeOf(before) },
      ...(before === null ? { reset: 'before' as const } : {}),
      finding: quiet ? null : finding,
    });
    if (!quiet) examined = { frame: number, before };
    let hold = false;
    if (finding !== null) {
      const counted = filterFinding(finding, settings).finding;
      const comparisonId = derivedId('cmp', at, `yard/${number}`);
      const step = advance(state, observationOf(counted, { comparisonId, at, frame: number }), rules);
      ({ state, hold } = step);
      for (const { type, change } of step.alerts) alerts.push(`${type} at ${number}: ${change.kind}`);
      for (const { change } of step.changes) changes.set(change.id, `${change.kind} at ${change.confirmed_at}`);
    }
    if (before === null || !hold) before = number;
  }
  return { stats, alerts, changes: [...changes.values()] };
}

export const timeOf = (number: number): string => new Date(START + number * STEP_MS).toISOString();
const isSame = (a: Scene, b: Scene): boolean => a.size === b.size && [...a].every((thing) => b.has(thing));
