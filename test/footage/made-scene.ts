/**
 * A synthetic camera without pictures: the scene is a set of things, and a comparison finds exactly the things in which
 * two frames differ. Runs of it under some rules give the evidence for dry runs, and the alerts that these must find.
 */
import fc from 'fast-check';
import { derivedId } from '../../src/base/ids.js';
import { type Box, SIDES } from '../../src/base/images.js';
import { withBlend } from '../../src/camera/baseline/next.js';
import { rulesOf } from '../../src/camera/changes/rules.js';
import type { FrameEvidence } from '../../src/camera/fold/evidence.js';
import { type FoldContext, type FoldedFrame, foldFrame } from '../../src/camera/fold/fold.js';
import { foldQuiet } from '../../src/camera/fold/quiet-frame.js';
import { recordedCamera } from '../../src/camera/settings/camera.js';
import type { CameraSettings } from '../../src/camera/settings/settings.js';
import type { CameraState } from '../../src/camera/state/state.js';
import { initialCameraState } from '../../src/camera/state/state.js';
import type { FrameStats } from '../../src/footage/records.js';
import { resetOf } from '../../src/footage/run/frame-step.js';
import type { Finding } from '../../src/schemas/comparison.js';
import type { StoredFrameRef } from '../../src/schemas/frame-ref.js';
import { statedAt } from '../../src/schemas/shown-change.js';

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

/** The finding with the name of a person for each thing, so that visits follow them. */
export function named(finding: Finding): Finding {
  const sure = { value: 'person', probability: 0.9 } as const;
  const facts = finding.regions.map(({ id }) => ({
    ...{ noun: sure, class: sure, colour: null, place: null, way: null, regions: [id] },
    ...{ kind: { value: 'appear' as const, probability: 0.9 }, count: { value: 1, probability: 0.9 } },
  }));
  return { ...finding, facts };
}

export interface MadeRun {
  readonly stats: readonly FrameStats[];
  /** type, frame, kind and caption of each alert */
  readonly alerts: readonly string[];
  readonly changes: readonly string[];
  /** evidence of each frame, and the updates that the fold made of it, as JSON */
  readonly evidence: readonly string[];
  readonly updates: readonly string[];
  readonly state: CameraState;
}

/** The context of a fold of the synthetic camera. */
export function contextOf(settings: CameraSettings, number: number, alerting = true): FoldContext {
  const at = START + number * STEP_MS;
  return {
    ...{ camera: recordedCamera('yard', settings), at, comparisonId: derivedId('cmp', at, `yard/${number}`) },
    ...{ events: [], rules: rulesOf('yard', settings, alerting), points: [], bundleThreshold: null },
  };
}

/** The updates without what alerts alone add to them. */
export const updatesOf = ({ changes }: FoldedFrame): string =>
  JSON.stringify(changes.map(({ change: { alerted_at: _at, ...change }, event }) => ({ change, event })));

const SIZE = { width: 300, height: 300 };
const refOf = (number: number | string): StoredFrameRef => ({
  ...{ from: 'stored', sha256: String(number), bytes: 1, contentType: 'image/jpeg' },
});

/** Folds every frame as a live camera does. */
export function run(scenes: readonly Scene[], settings: CameraSettings): MadeRun {
  const stats: FrameStats[] = [];
  const alerts: string[] = [];
  const changes = new Map<string, string>();
  const evidences: string[] = [];
  const updates: string[] = [];
  /** scenes of the stored frames and backgrounds, by sha256 */
  const stored = new Map<string, Scene>();
  let state = initialCameraState();
  for (const [number, scene] of scenes.entries()) {
    const context = contextOf(settings, number);
    const { at } = context;
    const isMemory = settings.before === 'memory';
    const before = isMemory ? background(state) : state.before;
    const shown = before === null ? null : (stored.get(before.frame.sha256) ?? new Set<number>());
    const seen = { content: String(number), identical: false };
    const last = stored.get(state.examined?.frame.sha256 ?? '');
    const equal = last !== undefined && isSame(scene, last);
    const examined: FrameEvidence = {
      ...{ ...seen, frame: refOf(number), examined: true, threshold: null, excluded: null },
      finding: shown === null ? null : compare(shown, scene),
      baseline: {
        before,
        candidate: isMemory
          ? { kind: 'background', light: 'day', ...SIZE, isStray: false }
          : { kind: settings.before === 'reference' && before !== null ? 'keep' : 'frame' },
        ...{ size: { size: SIZE }, skipped: false, reset: before === null, notes: [] },
      },
    };
    const evidence = (equal ? foldQuiet(state, seen, SIZE, context) : null)?.evidence ?? examined;
    if (evidence.examined) stored.set(String(number), scene);
    const folded = foldFrame(state, evidence, context);
    if (folded.blend !== null && shown !== null) {
      const blended = `${number} blended`;
      stored.set(blended, absorbed(shown, scene, folded.blend.absorb));
      state = withBlend(folded.state, folded.blend, refOf(blended));
    } else state = folded.state;
    evidences.push(JSON.stringify(evidence));
    updates.push(updatesOf(folded));
    const finding = evidence.examined ? evidence.finding : null;
    stats.push({
      ...{ v: 1, camera: 'yard', number, at: timeOf(number), file: 'yard.mp4', seconds: number, time: at },
      ...{ examined: evidence.examined, score: null, threshold: null, finding },
      before: folded.cameraFrame.before,
      ...resetOf(folded.reset, false),
    });
    for (const { type, change } of folded.alerts) {
      alerts.push(`${type} at ${number}: ${change.kind}, ${statedAt(type, change).caption}`);
    }
    for (const { change } of folded.changes) changes.set(change.id, `${change.kind} at ${change.confirmed_at}`);
  }
  return { stats, alerts, changes: [...changes.values()], evidence: evidences, updates, state };
}

function background({ backgrounds }: CameraState) {
  return backgrounds.day === undefined ? null : { frame: backgrounds.day.frame, at: backgrounds.day.learnedAt };
}

/** The things of `before`, except for those in the boxes, which are as in `after`. */
export function absorbed(before: Scene, after: Scene, boxes: readonly Box[]): Scene {
  const all = Array.from({ length: 9 }, (_, thing) => thing);
  const copied = (thing: number) => boxes.some(({ x, y }) => x === boxOf(thing).x && y === boxOf(thing).y);
  return new Set(all.filter((thing) => (copied(thing) ? after : before).has(thing)));
}

export const timeOf = (number: number): string => new Date(START + number * STEP_MS).toISOString();
const isSame = (a: Scene, b: Scene): boolean => a.size === b.size && [...a].every((thing) => b.has(thing));

/** Scenes in which up to three things come and go for some frames each. */
export const scenes: fc.Arbitrary<Scene[]> = fc
  .array(fc.record({ thing: fc.nat(8), from: fc.nat(30), length: fc.integer({ min: 1, max: 20 }) }), { maxLength: 3 })
  .map((visits) =>
    Array.from(
      { length: 45 },
      (_, i) => new Set(visits.filter(({ from, length }) => i >= from && i < from + length).map(({ thing }) => thing)),
    ),
  );
