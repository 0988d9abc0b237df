/** Visits of things that walk, hide, meet and stay. */
import { describe, expect, it } from '@jest/globals';
import { thingsInView } from '../../../src/camera/visits/fold.js';
import type { VisitFrame } from '../../../src/camera/visits/state.js';
import { openVisits } from '../../../src/camera/visits/visit.js';
import { at, BLACK, coloured, ended, foldAll, frame, RED, START, thing, types, walk } from './made-frames.js';

const nothing = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => frame(from + i, []));

describe('a thing that walks through the view', () => {
  const run = foldAll([...walk(1, 13, 0), ...nothing(13, 18)]);

  it('is one visit', () => {
    expect(types(run)).toEqual(['visit.opened', 'visit.ended']);
  });
  it('has a sentence with its edges', () => {
    expect(ended(run)[0]?.caption).toBe('A person in red came in from the left and left to the right.');
  });
  it('has the times of its first and last frame, and the interval in which it went', () => {
    const iso = (second: number) => new Date(START + second * 1000).toISOString();
    expect(ended(run)[0]).toMatchObject({
      first_seen: iso(1),
      last_seen: iso(12),
      gone: { after: iso(12), before: iso(13) },
      frames: 12,
      identity: 'certain',
    });
  });
});

it('a thing that is in view in the first frame was there at the beginning', () => {
  const frames = [1, 2, 3, 4].map((second) =>
    frame(second, [thing(at(0.3), 'before'), thing(at(0.3 + 0.08 * second))]),
  );
  const { state } = foldAll(frames);
  const [visit, ...others] = openVisits(state, 'yard');
  expect(others).toEqual([]);
  expect(visit).toMatchObject({ there_before: true, first_seen: new Date(START).toISOString() });
  expect(visit?.caption).toMatch(/^A person in red was there at the beginning/);
  expect(thingsInView(state)).toEqual([
    expect.objectContaining({ box: at(0.3 + 0.32), noun: 'person', from: [at(0.3)] }),
  ]);
});

it('a thing behind a pillar for three frames is one visit', () => {
  const frames = walk(1, 12, 0).map((one, i) => (i >= 4 && i <= 6 ? frame(i + 1, []) : one));
  expect(types(foldAll([...frames, ...nothing(13, 18)]))).toEqual(['visit.opened', 'visit.ended']);
});

it('a thing that went on out of the view is not the one that comes in there a moment later', () => {
  const leaves = walk(1, 5, 0.72);
  const comes = [0.96, 0.88, 0.8, 0.72].map((x, i) => frame(6 + i, [thing(at(x))]));
  const run = foldAll([...leaves, frame(5, []), ...comes]);
  expect(types(run).filter((type) => type === 'visit.opened')).toHaveLength(2);
  expect(ended(run)[0]?.last_seen).toBe(new Date(START + 4_000).toISOString());
});

it('a person who went behind a bag in front of them is not there: it is too small to hide them', () => {
  const bag = thing({ x: 0.26, y: 0.5, width: 0.02, height: 0.08 }, 'after', { class: 'object', noun: 'bag' });
  const frames = [...walk(1, 5, 0), frame(5, [thing(at(0.24)), bag]), frame(6, [bag]), frame(7, [bag])];
  const { state } = foldAll(frames);
  const [visit] = openVisits(state, 'yard');
  expect(visit?.last_seen).toBe(new Date(START + 5_000).toISOString());
});

it('a thing that two frames show is a passage', () => {
  expect(types(foldAll([...walk(1, 3, 0.4), ...nothing(3, 9)]))).toEqual(['visit.passed']);
});

it('an object that is put down is no visit', () => {
  const bag = Array.from({ length: 10 }, (_, i) =>
    frame(i + 1, [thing(at(0.4), 'after', { class: 'object', noun: 'bag' })]),
  );
  expect(types(foldAll(bag))).toEqual([]);
});

it('two things of different colours that cross keep their identity', () => {
  const frames = Array.from({ length: 13 }, (_, i) => {
    const [red, black] = [at(0.08 * i), at(0.96 - 0.08 * i)];
    // The comparison shows one region while they overlap.
    if (i === 6) return frame(i + 1, [thing({ ...red, width: 0.06 })]);
    return frame(i + 1, [thing(red), thing(black, 'after', { colours: BLACK, colour: 'black' })]);
  });
  const run = foldAll([...frames, ...nothing(14, 19)]);
  expect(run.state.tracks).toEqual([]);
  const captions = ended(run).map(({ caption }) => caption);
  expect(captions.sort()).toEqual([
    'A person in black came in from the right and left to the left.',
    'A person in red came in from the left and left to the right.',
  ]);
});

it('two things that look alike and meet are uncertain, and no third one is invented', () => {
  const frames = Array.from({ length: 11 }, (_, i) => {
    const [one, other] = [at(0.08 * i), at(0.8 - 0.08 * i)];
    return Math.abs(one.x - other.x) < 0.03 ? frame(i + 1, [thing(one)]) : frame(i + 1, [thing(one), thing(other)]);
  });
  const run = foldAll([...frames, ...nothing(12, 17)]);
  expect(ended(run).map(({ identity }) => identity)).toEqual(['uncertain', 'uncertain']);
  // Which of them left to which side is not stated.
  for (const { caption } of ended(run)) expect(caption).toMatch(/^Several people passed within \d+ seconds\.$/);
});

it('a thing that stays at the edge did not come in and leave there for certain', () => {
  const stays = Array.from({ length: 7 }, (_, i) => frame(i + 1, [thing(at(0))]));
  const [visit] = ended(foldAll([...stays, ...nothing(8, 12)]));
  expect(visit?.caption).toBe(
    'A person in red was first seen on the left, stood for 6 s and was last seen on the left.',
  );
});

it('a thing that comes into view along the edge, or in the box of others, did not come in at that edge', () => {
  const along = Array.from({ length: 4 }, (_, i) => frame(i + 1, [thing(at(0.3 + 0.12 * i, 0.8))]));
  const tall = frame(1, [thing({ x: 0.3, y: 0.4, width: 0.1, height: 0.6 })]);
  const inBox = [tall, ...Array.from({ length: 4 }, (_, i) => frame(i + 2, [thing(at(0.35 + 0.08 * i, 0.5))]))];
  for (const frames of [along, inBox]) {
    expect(openVisits(foldAll(frames).state, 'yard')[0]?.content.came.edge).toBeNull();
  }
});

it('a thing that drives to its place stays at that place, not where it came in', () => {
  const comes = [0, 0.2, 0.4].map((x, i) => frame(i + 1, [thing({ x, y: 0.2, width: 0.2, height: 0.6 })]));
  const stands = Array.from({ length: 9 }, (_, i) =>
    frame(i + 4, [thing({ x: 0.4, y: 0.2, width: 0.2, height: 0.6 })]),
  );
  expect(openVisits(foldAll([...comes, ...stands]).state, 'yard')[0]?.content.stayed?.place).toBe('in the middle');
});

it('a thing that nothing names is no visit', () => {
  const unnamed = walk(1, 7, 0.1, { noun: 'something', class: 'object' });
  expect(types(foldAll([...unnamed, ...nothing(7, 12)]))).toEqual([]);
});

it('a thing that one frame shows twice is one visit', () => {
  const stays = Array.from({ length: 9 }, (_, i) => frame(i + 1, [thing(at(0.3))]));
  const twice = stays.with(2, frame(3, [thing(at(0.3)), thing(at(0.31))]));
  expect(types(foldAll(twice))).toEqual(['visit.opened']);
});

it('a thing that looks almost as different as another one is uncertain', () => {
  const mixed = (red: number) => RED.map((share, i) => red * share + (1 - red) * (BLACK[i] ?? 0));
  const identities = [0.5, 0.38].map((red) => {
    const changed = frame(5, [thing(at(0.42), 'after', { colours: mixed(red) })]);
    return openVisits(foldAll([...walk(1, 5, 0.1), changed]).state, 'yard').map(({ identity }) => identity);
  });
  expect(identities).toEqual([['certain'], ['uncertain']]);
});

it('three things that look alike and go one behind the other are certain: each is nearest to its own place', () => {
  const frames = Array.from({ length: 5 }, (_, i) =>
    frame(
      i + 1,
      [0.1, 0.3, 0.5].map((x) => thing(at(x + 0.08 * i))),
    ),
  );
  const visits = openVisits(foldAll(frames).state, 'yard');
  expect(visits.map(({ identity }) => identity)).toEqual(['certain', 'certain', 'certain']);
});

it('an hour without frames ends a visit as unseen: one who looks alike is another visit, of certain identity', () => {
  const run = foldAll([...walk(1, 6, 0.1), ...walk(3606, 3612, 0.42)]);
  expect(types(run)).toEqual(['visit.opened', 'visit.ended', 'visit.opened']);
  expect(openVisits(run.state, 'yard').map(({ identity }) => identity)).toEqual(['certain']);
});

it('an empty place at which "before" shows a thing begins no visit', () => {
  const empty = Array.from({ length: 10 }, (_, i) =>
    frame(10 + i, [thing(at(0.3), 'before'), thing(at(0.305), 'after', { colours: coloured(2) })]),
  );
  const run = foldAll([frame(1, [thing(at(0.3), 'before'), thing(at(0.38))]), ...nothing(2, 10), ...empty]);
  expect(types(run)).toEqual([]);
});

it('the ground that a thing covers was not there as a thing', () => {
  const ground = { ...thing(at(0.3), 'before'), name: null };
  const comes = [0.3, 0.38, 0.46, 0.54].map((x, i) => frame(20 + i, [ground, thing(at(x))]));
  const [visit, ...others] = openVisits(foldAll([...nothing(1, 20), ...comes]).state, 'yard');
  expect([visit?.there_before, others]).toEqual([false, []]);
});

it('a place that was left is no new thing where its box is wider', () => {
  const before = thing(at(0.3), 'before');
  const wider = thing({ ...at(0.335), width: 0.14, height: 0.3 }, 'before');
  const frames = [0.38, 0.48, 0.58, 0.68, 0.78].map((x, i) => frame(i + 1, [i === 4 ? wider : before, thing(at(x))]));
  expect(foldAll(frames).state.tracks).toHaveLength(1);
});

it('a thing that was there for long is not taken for one that comes from afar when it has gone', () => {
  const bag = { class: 'object', noun: 'suitcase', colours: RED };
  const frames = [...nothing(1, 20), frame(20, [thing(at(0.1), 'before', bag)])];
  const comes = Array.from({ length: 6 }, (_, i) =>
    frame(21 + i, [thing(at(0.1), 'before', bag), thing(at(0.9 - 0.08 * i))]),
  );
  const [visit] = openVisits(foldAll([...frames, ...comes]).state, 'yard');
  expect(visit).toMatchObject({ there_before: false, first_seen: new Date(START + 21_000).toISOString() });
});

it('a pause ends a visit as unseen, and a thing after it is another one', () => {
  const run = foldAll([...walk(1, 6, 0.1), ...walk(1000, 1006, 0.1)]);
  expect(types(run)).toEqual(['visit.opened', 'visit.ended', 'visit.opened']);
  expect(ended(run)[0]).toMatchObject({ end: 'unseen', gone: null });
});

it('a thing that the last frames do not show was not still there when the view ended', () => {
  const unseenAfter = (missed: number) => foldAll([...walk(1, 6, 0.1), ...nothing(6, 6 + missed)]).state;
  const [there, going] = [0, 1].map((missed) => openVisits(unseenAfter(missed), 'yard', 'unseen')[0]);
  expect([there?.content.went.how, going?.content.went.how]).toEqual(['unseen', 'gone']);
  expect(going).toMatchObject({ end: 'unseen', gone: null, last_seen: there?.last_seen });
  const paused = foldAll([frame(1000, [])], unseenAfter(1));
  expect(paused.events[0]?.visit.caption).toBe(going?.caption);
});

it('a frame that shows nothing of the scene ends nothing', () => {
  const hidden = Array.from({ length: 8 }, (_, i) => frame(6 + i, [], { view: 'hidden' }));
  const run = foldAll([...walk(1, 6, 0.1), ...hidden, frame(14, [thing(at(0.5))])]);
  expect(types(run)).toEqual(['visit.opened']);
});

it('a thing behind something on the lens may still be there, and one beside it has gone', () => {
  const behind = (onLens: NonNullable<VisitFrame['onLens']>) =>
    types(foldAll([...walk(1, 6, 0.1), ...nothing(6, 14).map((one) => ({ ...one, onLens }))]));
  expect(behind([{ x: 0.4, y: 0.3, width: 0.2, height: 0.5 }])).toEqual(['visit.opened']);
  expect(behind([{ x: 0.7, y: 0.3, width: 0.2, height: 0.5 }])).toEqual(['visit.opened', 'visit.ended']);
});

it('the noun and the colour of a visit are those of most of its frames', () => {
  const [first, ...others] = walk(1, 10, 0, { colours: RED });
  const odd = frame(1, [thing(at(0), 'after', { noun: 'dog', colour: 'blue', class: 'animal' })]);
  const { state } = foldAll([first === undefined ? odd : odd, ...others]);
  expect(openVisits(state, 'yard')[0]?.content.thing).toMatchObject({ noun: 'person', colour: 'red' });
});

it('a thing of another colour far away is another visit', () => {
  const frames = Array.from({ length: 4 }, (_, i) => frame(i + 1, [thing(at(0.1))]));
  const others = Array.from({ length: 4 }, (_, i) => frame(i + 5, [thing(at(0.8), 'after', { colours: coloured(8) })]));
  expect(types(foldAll([...frames, ...others])).filter((type) => type === 'visit.opened')).toHaveLength(2);
});

it('a thing that is hidden near the edge was last seen there: one step more does not lead out of the frame', () => {
  const steps = Array.from({ length: 6 }, (_, i) => frame(i + 1, [thing(at(0.755 + 0.03 * i))]));
  const [visit] = ended(foldAll([...steps, ...nothing(7, 12)]));
  expect(visit?.caption).toMatch(/ and was last seen on the right\.$/);
  expect(visit?.content.went).toMatchObject({ how: 'gone', edge: null });
});
