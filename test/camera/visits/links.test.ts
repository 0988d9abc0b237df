/** Links between visits and the objects that were left or taken during them. */
import { expect, it } from '@jest/globals';
import { linkObjects } from '../../../src/camera/visits/links.js';
import type { VisitsState } from '../../../src/camera/visits/state.js';
import type { FoundChange } from '../../../src/schemas/change.js';
import { at, BLACK, foldAll, frame, START, thing, walk } from './made-frames.js';

const iso = (second: number): string => new Date(START + second * 1000).toISOString();
const bag = { noun: 'bag', colour: 'black', count: 1, definite: false };

/** @param second at which the object was left at x */
function objectLeft(second: number, x: number, value: 'object_left' | 'object_removed' = 'object_left'): FoundChange {
  const regions = [
    { side: 'after' as const, box: { x, y: 0.55, width: 0.03, height: 0.05 }, area: 0.01, score: 0.9, zone: null },
  ];
  return {
    ...{
      id: `chg_${'0'.repeat(25)}${second % 10}`,
      camera: 'yard',
      zone: null,
      kind: 'appear',
      caption: 'a black bag has been left',
    },
    content: { kind: 'appear', verb: 'left behind', things: [bag], place: null, way: null },
    object: { value, since: iso(second), at: iso(second + 60), probability: 0.9, owner: null },
    ...{
      confidence: 0.9,
      status: 'persisting',
      severity: 'high',
      first_seen: iso(second),
      confirmed_at: iso(second + 1),
    },
    ...{
      last_seen: iso(second + 60),
      settled_at: null,
      reverted_at: null,
      alerted_at: null,
      suppressed_count: 0,
      regions,
    },
    comparisons: { first: 'cmp_1', best: 'cmp_1', last: 'cmp_1' },
  };
}

/** In the frame from which its object counts. */
const link = (state: VisitsState, change: FoundChange) =>
  linkObjects({ ...state, at: Date.parse(change.object?.at ?? change.last_seen) }, [{ change }]);

const gone = Array.from({ length: 5 }, (_, i) => frame(13 + i, []));

it('an object counts as left by the visit that was beside it, also after the visit has ended', () => {
  const { state } = foldAll([...walk(1, 13, 0), ...gone]);
  const { events } = link(state, objectLeft(6, 0.4));
  expect(events.map(({ type }) => type)).toEqual(['visit.linked']);
  expect(events[0]?.visit).toMatchObject({ status: 'ended', changes: [{ object: 'object_left' }] });
  expect(events[0]?.visit.caption).toMatch(/; a black bag was left\.$/);
});

it('an object was taken by the visit that was beside it last, up to the first frame without it', () => {
  const black = { colours: BLACK, colour: 'black' };
  const { state } = foldAll([...walk(1, 13, 0), ...walk(30, 42, 0, black)]);
  const taken = (second: number) => {
    const change = { ...objectLeft(second, 0.4, 'object_removed'), first_seen: iso(3) };
    return link(state, change).events[0]?.visit.caption;
  };
  expect(taken(7)).toMatch(/^A person in red .*; a black bag was taken\.$/);
  expect(taken(35)).toMatch(/^A person in black .*; a black bag was taken\.$/);
});

it('a person on other ground behind an object is no owner, though the picture shows both at one place', () => {
  const frames = walk(1, 13, 0).map((one, i) => {
    const box = { x: i === 6 ? 0.4 : 0.95 - 0.09 * i, y: 0.37, width: 0.05, height: 0.2 };
    return { ...one, things: [...one.things, thing(box, 'after', { colours: BLACK, colour: 'black' })] };
  });
  const [linked] = link(foldAll(frames).state, objectLeft(8, 0.4)).events;
  expect(linked?.visit.caption).toMatch(/^A person in red /);
});

it('a part of the object that is followed as a thing is no owner: it was nowhere else', () => {
  const part = (i: number) => thing({ x: 0.42, y: 0.38, width: 0.05, height: 0.2 + 0.01 * (i % 2) });
  const frames = walk(1, 13, 0).map((one, i) => (i < 4 ? one : { ...one, things: [...one.things, part(i)] }));
  const { state } = foldAll(frames);
  expect(state.tracks).toHaveLength(2);
  const [linked] = link(state, objectLeft(7, 0.4)).events;
  expect(linked?.visit.first_seen).toBe(iso(1));
});

it('the object itself is no owner, though it was named a person', () => {
  const bagAt = { x: 0.4, y: 0.55, width: 0.03, height: 0.05 };
  const frames = walk(1, 13, 0).map((one, i) => (i < 5 ? one : { ...one, things: [...one.things, thing(bagAt)] }));
  const { state } = foldAll(frames);
  expect(state.tracks).toHaveLength(2);
  const [linked] = link(state, objectLeft(6, 0.4)).events;
  expect(linked?.visit.first_seen).toBe(iso(1));
});

it('an object has been there since its own first frame, though people who hid it set back the clock of its change', () => {
  const hidden = thing({ x: 0.4, y: 0.55, width: 0.03, height: 0.05 }, 'after', { class: 'object', noun: 'bag' });
  const later = walk(20, 32, 0, { colours: BLACK, colour: 'black' });
  // Hidden for longer than a track lasts, or not.
  for (const from of [12, 23]) {
    const isHidden = (i: number) => i < 5 || (i >= 12 && i < from);
    const frames = [...walk(1, 13, 0), ...gone, ...later].map((one, i) =>
      isHidden(i) ? one : { ...one, things: [...one.things, hidden] },
    );
    const { state } = foldAll(frames);
    const change = objectLeft(26, 0.4);
    // A region has the borders of its cells, which are larger than a small object.
    const coarse = change.regions.map((region) => ({ ...region, box: { x: 0.39, y: 0.53, width: 0.05, height: 0.1 } }));
    for (const counted of [change, { ...change, regions: coarse }]) {
      const [linked] = link(state, counted).events;
      expect(linked?.visit.caption).toMatch(/^A person in red /);
    }
  }
});

it('an object was taken when its place was first empty, though people who hid that set back the clock', () => {
  const place = thing({ x: 0.4, y: 0.55, width: 0.03, height: 0.05 }, 'before', { class: 'object', noun: 'bag' });
  const later = walk(20, 32, 0, { colours: BLACK, colour: 'black' });
  const frames = [...walk(1, 13, 0), ...gone, ...later].map((one, i) =>
    i < 7 ? one : { ...one, things: [...one.things, place] },
  );
  const [linked] = link(foldAll(frames).state, objectLeft(26, 0.4, 'object_removed')).events;
  expect(linked?.visit.caption).toMatch(/^A person in red /);
});

it('its owner stood beside it and went away; others passed nearer to it, or stay', () => {
  const way = [0.05, 0.15, 0.25, 0.33, 0.33, 0.33, 0.33, 0.33, 0.25, 0.15, 0.05];
  const others = (look: object, placeOf: (i: number) => number) =>
    Array.from({ length: 28 }, (_, i) => {
      const other = thing(at(placeOf(i)), 'after', look);
      return frame(1 + i, [...way.slice(i, i + 1).map((x) => thing(at(x))), other]);
    });
  const black = { colours: BLACK, colour: 'black' };
  for (const placeOf of [(i: number) => 0.95 - 0.09 * i, () => 0.42]) {
    const [linked] = link(foldAll(others(black, placeOf)).state, objectLeft(8, 0.4)).events;
    expect(linked?.visit.caption).toMatch(/^A person in red /);
  }
});

it('of two who are as near, the owner is the one whose visit is certainly one thing', () => {
  const black = { colours: BLACK, colour: 'black' };
  const both = walk(1, 13, 0).map((one, i) => ({
    ...one,
    things: [...one.things, thing(at(0.08 * i + 0.06), 'after', black)],
  }));
  const { state } = foldAll(both);
  const owner = (uncertain: string) => {
    const tracks = state.tracks.map((track) => ({ ...track, uncertain: track.tints[uncertain] !== undefined }));
    return link({ ...state, tracks }, objectLeft(6, 0.4)).events[0]?.visit.content.thing.colour;
  };
  expect([owner('red'), owner('black')]).toEqual(['black', 'red']);
});

it('someone near when it was left is its owner, not who was nearer ten seconds before', () => {
  const early = walk(1, 4, 0.24, { colours: BLACK, colour: 'black' });
  const empty = Array.from({ length: 6 }, (_, i) => frame(4 + i, []));
  const late = Array.from({ length: 6 }, (_, i) => frame(10 + i, [thing(at(0.5 + 0.02 * i))]));
  const [linked] = link(foldAll([...early, ...empty, ...late]).state, objectLeft(12, 0.4)).events;
  expect(linked?.visit.caption).toMatch(/^A person in red /);
});

it('is linked once if people hid it so long that it counts again', () => {
  const { state } = foldAll(walk(1, 13, 0));
  const first = link(state, objectLeft(6, 0.4));
  expect(link(first.state, objectLeft(7, 0.4)).events).toEqual([]);
  const { content: _content, ...other } = objectLeft(7, 0.4);
  expect(link(first.state, other).events).toHaveLength(1);
});

it('is linked in the frame from which it counts, or never: later its owner may have been dropped', () => {
  const { state } = foldAll(walk(1, 13, 0));
  const change = objectLeft(6, 0.4);
  expect(link(state, change).events).toHaveLength(1);
  expect(linkObjects({ ...state, at: START + 90_000 }, [{ change }]).events).toEqual([]);
});

it('is linked with nothing if one stood before its place, and another one was near: either may have left it', () => {
  const black = { colours: BLACK, colour: 'black' };
  const linkedBeside = (x: number) => {
    const stood = Array.from({ length: 8 }, (_, i) => thing(at(i < 6 ? 0.39 : 0.3 - 0.08 * i), 'after', black));
    const frames = stood.map((one, i) => frame(1 + i, [one, thing(at(x + 0.02 * i))]));
    return link(foldAll(frames).state, objectLeft(8, 0.4)).events;
  };
  expect(linkedBeside(0.46)).toEqual([]);
  expect(linkedBeside(0.8)).toHaveLength(1);
});

it('is linked with nothing if no visit was near', () => {
  const { state } = foldAll(walk(1, 13, 0));
  expect(link(state, objectLeft(900, 0.4)).events).toEqual([]);
  const [region] = objectLeft(6, 0.4).regions;
  const far = { ...objectLeft(6, 0.4), regions: [{ ...region, box: { x: 0.4, y: 0.05, width: 0.03, height: 0.05 } }] };
  expect(link(state, far as FoundChange).events).toEqual([]);
});

it('a change without an object is linked with nothing', () => {
  const { state } = foldAll(walk(1, 13, 0));
  const { object: _object, ...change } = objectLeft(6, 0.4);
  expect(link(state, change).events).toEqual([]);
});
