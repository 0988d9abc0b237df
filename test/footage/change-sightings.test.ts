/** The sighting of a recorded change: sentence, regions, outlines, pictures, time and file of one comparison. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { advance, forgetSettled } from '../../src/camera/changes/advance.js';
import { observationOf } from '../../src/camera/changes/observation.js';
import { rulesOf } from '../../src/camera/changes/rules.js';
import { initialTrackerState } from '../../src/camera/changes/state.js';
import { checkSettings } from '../../src/camera/settings/settings.js';
import { changesCsv } from '../../src/footage/outputs/csv.js';
import { changesJson } from '../../src/footage/outputs/json.js';
import { reportData } from '../../src/footage/outputs/report-data.js';
import type { FootageChange, Moment } from '../../src/footage/records.js';
import { ChangeSightings } from '../../src/footage/run/change-sightings.js';
import { initialCheckpoint } from '../../src/footage/run/checkpoint.js';
import { footageChange } from '../../src/footage/run/footage-change.js';
import { mergeChanges } from '../../src/footage/run/merge-changes.js';
import type { Finding } from '../../src/schemas/comparison.js';
import { recording } from './records.js';

const START = Date.UTC(2026, 5, 1, 12);
const WIDTH = 64;
const HEIGHT = 36;
const momentOf = (time: number): Moment => ({
  at: new Date(time).toISOString(),
  file: 'yard/12.mp4',
  seconds: (time - START) / 1000,
});

/** A thing that walks: frame n has a box, a map and a sentence that no other frame has. */
const frame = fc.record({
  confidence: fc.double({ min: 0.6, max: 1, noNaN: true }),
  shown: fc.boolean(),
  stated: fc.boolean(),
  examined: fc.constantFrom(true, true, true, false),
  noun: fc.constantFrom('person', 'woman', 'man'),
  gap: fc.constantFrom(false, false, false, false, true),
});
const frames = fc.array(frame, { minLength: 5, maxLength: 30 });
type Frame = typeof frame extends fc.Arbitrary<infer T> ? T : never;

const cellsOf = (number: number) => ({ x: 2 + number, y: 4 + (number % 7), width: 10, height: 18 });

function findingOf({ confidence, shown, stated, noun }: Frame, number: number): Finding {
  const { x, y, width, height } = cellsOf(number);
  const box = { x: x / WIDTH, y: y / HEIGHT, width: width / WIDTH, height: height / HEIGHT };
  const caption = shown ? `a ${noun} has appeared` : 'nothing has changed';
  return {
    ...{ verdict: shown ? 'change' : 'none', kind: shown ? 'appear' : 'none', nuisance: [], caption, words: [] },
    ...{ caption_score: 0.9, confidence, severity: 'info', model: null },
    regions: shown ? [{ id: 1, side: 'after', box, area: 0.05, score: 0.9 }] : [],
    statements: shown && stated ? [{ text: caption, kind: 'appear', regions: [1] }] : [],
  } as unknown as Finding;
}

function mapsOf(number: number) {
  const { x, y, width, height } = cellsOf(number);
  const data = new Float32Array(WIDTH * HEIGHT);
  for (let row = y; row < y + height; row++) data.fill(1, row * WIDTH + x, row * WIDTH + x + width);
  return {
    before: { width: WIDTH, height: HEIGHT, data: new Float32Array(WIDTH * HEIGHT) },
    after: { width: WIDTH, height: HEIGHT, data },
  };
}

/** @returns all records, and per name of a picture the number of the frame that it shows */
function record(given: readonly Frame[], settings: Parameters<typeof checkSettings>[0]) {
  const checked = checkSettings(settings);
  const rules = rulesOf('yard', checked);
  const pictures = new Map<string, number>();
  const records: FootageChange[] = [];
  let sightings = new ChangeSightings(initialCheckpoint());
  let state = initialTrackerState();
  for (const [number, one] of given.entries()) {
    const at = START + number * 1000;
    const finding = findingOf(one, number);
    const comparison = `cmp_${number}`;
    const step = advance(state, observationOf(finding, { comparisonId: comparison, at, frame: number }), rules);
    const ref = { from: 'stored' as const, sha256: String(number), bytes: 1, contentType: 'image/jpeg' };
    const compared = one.examined ? { before: ref, after: ref, heatmaps: one.shown ? mapsOf(number) : null } : null;
    sightings.see({ comparison, moment: momentOf(at), finding, compared, equals: undefined }, step.state.tracks);
    for (const { change } of step.changes) {
      const { shown, frames: kept } = sightings.show(change);
      if (kept !== undefined) pictures.set(String(shown.pictures.after), Number(kept.after.sha256));
      records.push(footageChange(change, momentOf, shown));
    }
    state = one.gap ? { ...step.state, ...forgetSettled(step.state) } : step.state;
    sightings.forget(state, undefined, true, []);
    // The run may be interrupted after each frame, and goes on from the checkpoint.
    sightings = new ChangeSightings(structuredClone(sightings.state));
  }
  const last = new Map(records.map((change) => [change.id, change]));
  return { changes: [...last.values()], pictures };
}

/** The frame that gave a value, by its second; the confidence of each frame is its own. */
function expectOneFrame(change: FootageChange, given: readonly Frame[], pictures: ReadonlyMap<string, number>) {
  const { pictured, outlines = [], regions, confidence, caption } = change;
  if (pictured === undefined) return expect(change.pictures).toEqual({ before: null, after: null });
  const number = pictured.seconds;
  const source = findingOf(given[number] as Frame, number);
  expect(pictures.get(String(change.pictures.after))).toBe(number);
  expect(confidence).toBe(source.confidence);
  expect(regions.map(({ box }) => box)).toEqual(source.regions.map(({ box }) => box));
  expect(outlines.length).toBeGreaterThan(0);
  const xs = outlines.flatMap(({ points }) => points.map(([x]) => x * WIDTH));
  const { x, width } = cellsOf(number);
  expect(Math.abs(Math.min(...xs) - x)).toBeLessThan(0.6);
  expect(Math.abs(Math.max(...xs) - x - width)).toBeLessThan(0.6);
  if (!caption.startsWith('Something has')) expect(caption).toContain((given[number] as Frame).noun);
}

const SETTINGS: Parameters<typeof checkSettings>[0][] = [
  { before: 'previous', alerts: { confirm_frames: 2 } },
  { before: 'memory', alerts: { confirm_frames: 2 }, memory: { absorb_s: 60 } },
  { before: 'memory', alerts: { confirm_frames: 1, left_after_s: 3 } },
];

describe('the sighting of a recorded change', () => {
  it('is of one frame in the record and in every output, however the frames come', () => {
    let shown = 0;
    fc.assert(
      fc.property(frames, fc.constantFrom(...SETTINGS), (given, settings) => {
        const { changes, pictures } = record(given, settings);
        for (const change of changes) expectOneFrame(change, given, pictures);
        const merged = mergeChanges(changes, 60_000);
        for (const change of merged) expectOneFrame(change, given, pictures);
        shown += merged.filter(({ pictured }) => pictured !== undefined).length;
        const made = recording(merged);
        const report = reportData(made, {
          numberOf: (path) => pictures.get(String(path)) ?? null,
          highlights: [],
          crops: new Map(),
        });
        for (const [
          i,
          {
            pictures: [, after],
            facts,
          },
        ] of report.changes.entries()) {
          const { pictured } = merged[i] as FootageChange;
          if (pictured === undefined) continue;
          expect(after?.picture).toBe(pictured.seconds);
          const at = new Date(START + pictured.seconds * 1000).toISOString().slice(11, 19);
          expect(facts.find(([name]) => name === 'shown at')?.[1]).toContain(at);
          const [x] = [...(after?.outline ?? '').matchAll(/[ML]([\d.]+) /g)]
            .map((found) => Number(found[1]))
            .sort((a, b) => a - b);
          expect(Math.abs((x as number) * WIDTH - cellsOf(pictured.seconds).x)).toBeLessThan(0.6);
        }
        const json = JSON.parse([...changesJson(made)].join('')) as { changes: FootageChange[] };
        expect(json.changes.map(({ pictured }) => pictured)).toEqual(merged.map(({ pictured }) => pictured));
        const [header, ...rows] = [...changesCsv(merged)].map((line) => line.trim().split(','));
        const column = (header as string[]).indexOf('pictured_seconds');
        expect(rows.map((cells) => cells[column])).toEqual(merged.map(({ pictured }) => `${pictured?.seconds ?? ''}`));
      }),
      { numRuns: 200, seed: 35 },
    );
    expect(shown).toBeGreaterThan(100);
  });
});
