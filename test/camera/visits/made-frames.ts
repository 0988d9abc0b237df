/** Frames of made things for the visits: each thing is a box with colours that follows a way. */
import fc from 'fast-check';
import type { Box } from '../../../src/base/images.js';
import { foldVisits } from '../../../src/camera/visits/fold.js';
import { initialVisitsState, type VisitFrame, type VisitThing } from '../../../src/camera/visits/state.js';
import type { VisitEvent } from '../../../src/schemas/visit.js';

export const START = Date.UTC(2026, 5, 1, 12);
export const SETTINGS = { gapMs: 600_000 };

/** Shares of one colour in all three bands. @param index of the ten colours */
export const coloured = (index: number): number[] => Array.from({ length: 30 }, (_, i) => (i % 10 === index ? 100 : 0));

export const RED = coloured(4);
export const BLACK = coloured(0);

interface Look {
  readonly colours?: readonly number[];
  readonly noun?: string;
  readonly colour?: string | null;
  readonly class?: string;
}

export function thing(box: Box, side: VisitThing['side'] = 'after', look: Look = {}): VisitThing {
  const { colours = RED, noun = 'person', colour = 'red', class: kind = 'person' } = look;
  const name = {
    noun,
    nounProbability: 0.9,
    colour,
    colourProbability: 0.9,
    class: kind,
    classProbability: 0.9,
    count: 1,
  };
  return { side, box, colours, score: 0.9, name };
}

export const at = (x: number, y = 0.4): Box => ({ x, y, width: 0.05, height: 0.2 });

/** @param second after START; also the number of the comparison */
export const frame = (
  second: number,
  things: readonly VisitThing[],
  changed: Partial<VisitFrame> = {},
): VisitFrame => ({
  at: START + second * 1000,
  camera: 'yard',
  comparison: `cmp_${second}`,
  number: second,
  before: { key: 'empty', at: START },
  aspect: 4 / 3,
  things,
  view: 'shows',
  restart: false,
  ...changed,
});

export function foldAll(frames: readonly VisitFrame[], state = initialVisitsState()) {
  const events: VisitEvent[] = [];
  let next = state;
  for (const one of frames) {
    const folded = foldVisits(next, one, SETTINGS);
    next = folded.state;
    events.push(...folded.events);
  }
  return { state: next, events };
}

/** Seconds of a walk to the right at 0.08 of the frame's width per second. */
export const walk = (from: number, to: number, x0: number, look: Look = {}): VisitFrame[] =>
  Array.from({ length: to - from }, (_, i) => frame(from + i, [thing(at(x0 + 0.08 * i), 'after', look)]));

const arbitraryBox = fc.record({
  x: fc.double({ min: 0, max: 0.9, noNaN: true }),
  y: fc.double({ min: 0, max: 0.75, noNaN: true }),
  width: fc.double({ min: 0.02, max: 0.1, noNaN: true }),
  height: fc.double({ min: 0.05, max: 0.25, noNaN: true }),
});
const arbitraryThing = fc
  .record({
    box: arbitraryBox,
    side: fc.constantFrom('before' as const, 'after' as const),
    colour: fc.integer({ min: 0, max: 9 }),
    class: fc.constantFrom('person', 'vehicle', 'animal', 'object'),
    named: fc.boolean(),
  })
  .map(({ box, side, colour, class: kind, named }): VisitThing => {
    const made = thing(box, side, { colours: coloured(colour), class: kind, noun: kind });
    return named ? made : { ...made, name: null };
  });

/** Frames of any things in the order of time, some of them equal or hidden, with changing "before" and pauses. */
export const arbitraryFrames: fc.Arbitrary<VisitFrame[]> = fc
  .array(
    fc.record({
      step: fc.constantFrom(1, 1, 1, 2, 5, 700),
      things: fc.array(arbitraryThing, { maxLength: 5 }),
      view: fc.constantFrom('shows' as const, 'shows' as const, 'shows' as const, 'equals' as const, 'hidden' as const),
      replaces: fc.boolean(),
      restart: fc.constantFrom(false, false, false, false, true),
    }),
    { maxLength: 40 },
  )
  .map((steps) => {
    let second = 0;
    let before = { key: 'first', at: START };
    return steps.map(({ step, things, view, replaces, restart }): VisitFrame => {
      const made = frame(second + step, view === 'shows' ? things : [], { view, restart, before });
      second += step;
      if (replaces) before = { key: `frame ${second}`, at: made.at };
      return made;
    });
  });

/** Types of the events of a fold, in their order. */
export const types = ({ events }: ReturnType<typeof foldAll>) => events.map(({ type }) => type);
/** The visits that ended in it. */
export const ended = ({ events }: ReturnType<typeof foldAll>) =>
  events.filter(({ type }) => type === 'visit.ended').map(({ visit }) => visit);
