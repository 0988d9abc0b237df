/** Visits of things that stand still: people, and vehicles that park. */
import { describe, expect, it } from '@jest/globals';
import { absorbPlaces } from '../../../src/camera/visits/fold.js';
import { openVisits } from '../../../src/camera/visits/visit.js';
import { at, BLACK, ended, foldAll, frame, START, thing, types, walk } from './made-frames.js';

describe('a thing that stands still', () => {
  const stands = [...walk(1, 5, 0), ...Array.from({ length: 8 }, (_, i) => frame(5 + i, [thing(at(0.24))]))];

  it('is still there when "before" shows it and does not differ', () => {
    const before = { key: 'with it', at: START + 12_000 };
    const settled = Array.from({ length: 20 }, (_, i) => frame(13 + i, [], { before }));
    const leaves = [frame(33, [thing(at(0.24), 'before'), thing(at(0.16))], { before })];
    const gone = Array.from({ length: 5 }, (_, i) => frame(34 + i, [thing(at(0.24), 'before')], { before }));
    const run = foldAll([...stands, ...settled, ...leaves, ...gone]);
    expect(types(run)).toEqual(['visit.opened', 'visit.ended']);
    expect(ended(run)[0]?.caption).toMatch(/^A person in red came in from the left, stood on the left for 30 s and /);
  });
  it('has gone when a learned "before" of its last frame shows nothing of it, and is there when that has absorbed it', () => {
    const before = { key: 'learned', at: START + 12_000, isLearned: true };
    const empty = Array.from({ length: 6 }, (_, i) => frame(13 + i, [], { before }));
    expect(types(foldAll([...stands, ...empty]))).toEqual(['visit.opened', 'visit.ended']);
    const { state } = foldAll(stands);
    expect(types(foldAll(empty, absorbPlaces(state, [at(0.24)])))).toEqual([]);
  });
  it('has gone when a learned "before" has absorbed its empty place', () => {
    const before = { key: 'learned', at: START + 12_000, isLearned: true };
    const empty = Array.from({ length: 2 }, (_, i) => frame(13 + i, [thing(at(0.24), 'before')], { before }));
    const { state } = foldAll(empty, absorbPlaces(foldAll(stands).state, [at(0.24)]));
    const later = Array.from({ length: 4 }, (_, i) => frame(15 + i, [], { before }));
    const run = foldAll(later, absorbPlaces(state, [at(0.24)]));
    expect(ended(run)).toMatchObject([{ end: 'gone' }]);
  });
  it('is seen by frames that equal the last one', () => {
    const equal = Array.from({ length: 10 }, (_, i) => frame(13 + i, [], { view: 'equals' }));
    const { state } = foldAll([...stands, ...equal]);
    const [visit] = openVisits(state, 'yard');
    expect(visit?.last_seen).toBe(new Date(START + 22_000).toISOString());
    expect(visit?.path.at(-1)).toMatchObject({ at: visit?.last_seen, box: at(0.24) });
  });
  it('is at its place in the "before" of the last frame that was examined, after frames that equal it', () => {
    const equal = Array.from({ length: 60 }, (_, i) => frame(13 + i, [], { view: 'equals' }));
    const later = frame(73, [], { before: { key: 'with it', at: START + 12_000 } });
    expect(foldAll([...stands, ...equal, later]).state.tracks).toMatchObject([{ missed: 0, inBefore: at(0.24) }]);
  });
  it('keeps the way that it came, however long it stands', () => {
    const equal = Array.from({ length: 60 }, (_, i) => frame(13 + i, [], { view: 'equals' }));
    const [visit] = openVisits(foldAll([...stands, ...equal]).state, 'yard');
    expect(visit?.path.slice(0, 4).map(({ box }) => box.x)).toEqual([0, 0.08, 0.16, 0.24]);
  });
  it('has walked on if it stands beside the place, which is no region', () => {
    const before = { key: 'with it', at: START + 12_000 };
    const run = foldAll([...stands, frame(13, [thing(at(0.31))], { before })]);
    expect(run.state.tracks.map(({ box }) => box)).toEqual([at(0.31)]);
  });
  it('continues its visit if only the "before" of a later frame shows where it was', () => {
    const before = { key: 'with it', at: START + 5_000 };
    const later = [0.56, 0.64].map((x, i) => frame(6 + i, [thing(at(0.45), 'before'), thing(at(x))], { before }));
    const run = foldAll([...walk(1, 5, 0), frame(5, []), ...later]);
    expect(types(run)).toEqual(['visit.opened']);
    expect(run.state.tracks.map(({ frames }) => frames)).toEqual([7]);
  });
});

it('a vehicle that parks over a place that was left is a visit, and hides people for a few frames', () => {
  const before = thing(at(0.3), 'before');
  const van = thing({ x: 0.2, y: 0.2, width: 0.5, height: 0.5 }, 'after', {
    class: 'vehicle',
    noun: 'van',
    colours: BLACK,
  });
  const stands = [1, 2, 3, 4].map((second) => frame(second, [before, thing(at(0.38))]));
  const run = foldAll([...stands, ...Array.from({ length: 20 }, (_, i) => frame(5 + i, [before, van]))]);
  expect(ended(run).map(({ content }) => content.thing.noun)).toEqual(['person']);
  expect(openVisits(run.state, 'yard').map(({ content }) => content.thing.noun)).toEqual(['van']);
});

describe('a vehicle that parks', () => {
  const place = { x: 0.3, y: 0.2, width: 0.4, height: 0.4 };
  const look = { class: 'vehicle', noun: 'van', colours: BLACK };
  const parks = [1, 2, 3, 4].map((second) => frame(second, [thing(place, 'after', look)]));
  const before = { key: 'with it', at: START + 4_000 };
  const vans = (frames: typeof parks) =>
    foldAll([...parks, ...frames]).state.tracks.filter(({ nouns }) => 'van' in nouns);

  it('stays while a person passes in front of it', () => {
    const passes = Array.from({ length: 8 }, (_, i) =>
      frame(5 + i, [thing(at(0.05 + 0.08 * i)), thing(at(0.08 * i - 0.03), 'before')], { before }),
    );
    expect(vans(passes)).toMatchObject([{ missed: 0, inBefore: place, last: START + 12_000 }]);
  });
  it('is at its place again after a frame that shows it elsewhere', () => {
    const elsewhere = frame(5, [thing({ ...place, x: 0.5 }, 'after', look)], { before });
    expect(vans([elsewhere, frame(6, [], { before })])).toMatchObject([{ box: place, missed: 0 }]);
  });
});
