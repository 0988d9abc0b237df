/** Settings that change while a thing is there: it has not gone because they do not count it any more. */
import { expect, it } from '@jest/globals';
import type { FrameEvidence } from '../../../src/camera/fold/evidence.js';
import { foldFrame } from '../../../src/camera/fold/fold.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';
import { initialCameraState } from '../../../src/camera/state/state.js';
import { compare, contextOf, named, type Scene, timeOf } from '../../footage/made-scene.js';

const EMPTY: Scene = new Set();
const THERE: Scene = new Set([4]);
const SIZE = { width: 300, height: 300 };
const refOf = (sha256: string) => ({ from: 'stored', sha256, bytes: 1, contentType: 'image/jpeg' }) as const;
/** @param frames scenes, each with the settings of its camera @returns the ends that were reported, by frame */
function follow(frames: readonly (readonly [Scene, object])[]) {
  let state = initialCameraState();
  return frames.map(([scene, given], number) => {
    const settings = checkSettings({ examine_every_s: 0, gap_s: 60, ...given });
    const evidence: FrameEvidence = {
      ...{ content: String(number), identical: false, frame: refOf(String(number)), examined: true },
      ...{ threshold: null, excluded: null, finding: number === 0 ? null : named(compare(EMPTY, scene)) },
      baseline: {
        before: number === 0 ? null : { frame: refOf('0'), at: 0 },
        candidate: { kind: 'background', light: 'day', ...SIZE, isStray: false },
        ...{ size: { size: SIZE }, skipped: false, reset: number === 0, notes: [] },
      },
    };
    const folded = foldFrame(state, evidence, contextOf(settings, number));
    state = folded.state;
    const changes = folded.changes.filter(({ event }) => event === 'change.reverted');
    const settled = folded.changes.filter(({ event }) => event === 'change.settled');
    const visits = folded.visits.filter(({ type }) => type === 'visit.ended');
    return {
      changes: changes.map(({ change }) => change.reverted_at),
      settled: settled.length,
      visits: visits.map(({ visit: { end, gone } }) => [end, gone]),
    };
  });
}
const times = (length: number, scene: Scene, settings: object) =>
  Array.from({ length }, () => [scene, settings] as const);

const EVERYWHERE = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
];
const CORNER = [
  [0, 0],
  [0.2, 0],
  [0.2, 0.2],
  [0, 0.2],
];
const NEW = [
  ['a zone to ignore', { zones: [{ id: 'all', type: 'ignore', polygon: EVERYWHERE }] }],
  ['another zone to include', { zones: [{ id: 'far', type: 'include', polygon: CORNER }] }],
  ['min_area', { min_area: 0.5 }],
  ['threshold', { threshold: 0.95 }],
] as const;

it.each(NEW)('%s: a change and a visit last while something differs there, and end when it does not', (_, settings) => {
  const frames = follow([
    ...[...times(2, EMPTY, {}), ...times(5, THERE, {})],
    ...[...times(10, THERE, settings), ...times(5, EMPTY, settings)],
  ]);
  expect(frames.flatMap(({ changes }, i) => changes.map((at) => [i, at]))).toEqual([[18, timeOf(17)]]);
  expect(frames.flatMap(({ visits }) => visits)).toEqual([['gone', { after: timeOf(6), before: timeOf(17) }]]);
});

it.each(NEW)('%s: a change that later settings count again goes on', (_, settings) => {
  const frames = follow([
    ...[...times(2, EMPTY, {}), ...times(5, THERE, {}), ...times(5, THERE, settings)],
    ...[...times(5, THERE, {}), ...times(5, EMPTY, {})],
  ]);
  expect(frames.flatMap(({ changes }) => changes)).toEqual([timeOf(17)]);
});

it('a visit that does not count for as long as a pause ends unseen', () => {
  const [[, settings]] = NEW;
  const frames = follow([...times(2, EMPTY, {}), ...times(5, THERE, {}), ...times(80, THERE, settings)]);
  expect(frames.flatMap(({ changes }) => changes)).toEqual([]);
  expect(frames.flatMap(({ visits }, i) => visits.map((one) => [i, ...one]))).toEqual([[67, 'unseen', null]]);
});

it.each(NEW)('%s: a change settles in its time, though it does not count', (_, settings) => {
  const memory = { memory: { absorb_s: 60 } };
  const scenes = [
    ...times(2, EMPTY, memory),
    ...times(5, THERE, memory),
    ...times(80, THERE, { ...settings, ...memory }),
  ];
  const frames = follow(scenes);
  expect(frames.flatMap(({ settled }, i) => (settled > 0 ? [i] : []))).toEqual([62]);
  expect(frames.flatMap(({ changes }) => changes)).toEqual([]);
});
