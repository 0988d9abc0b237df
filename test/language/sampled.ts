/** Varied statements of changes, of known things and in the forms that the service can make. */
import fc from 'fast-check';
import { keysOf, tableOf } from '../../src/language/table.js';
import type { Statement, Thing } from '../../src/schemas/statement.js';
import type { VisitStatement } from '../../src/schemas/visit-statement.js';

const english = tableOf('en');
const CHANGES = ['appear', 'disappear', 'move', 'replace'] as const;
const NOUNS = Object.keys(english.nouns).filter((noun) => english.nouns[noun]?.bare !== true);

const thing = fc.record({
  noun: fc.constantFrom(...NOUNS),
  colour: fc.option(fc.constantFrom(...keysOf(english.colours))),
  count: fc.constantFrom(1, 1, 1, 2, 3, 4, 5, null),
});

/** Statements that the captions' grammar can write: with the part that their verb needs. */
export const statements: fc.Arbitrary<Statement> = fc
  .constantFrom(...CHANGES)
  .chain((kind) =>
    fc.record({
      kind: fc.constant(kind),
      verb: fc.constantFrom(...Object.keys(english.sentences[kind] ?? {}).filter((verb) => verb !== 'been replaced')),
      things: fc.array(thing, { minLength: kind === 'replace' ? 2 : 1, maxLength: 2 }),
      place: kind === 'move' ? fc.constant(null) : fc.option(fc.constantFrom(...keysOf(english.places))),
      way: kind === 'move' ? fc.option(fc.constantFrom(...keysOf(english.ways))) : fc.constant(null),
    }),
  )
  .map((one) => ({
    ...one,
    things: one.things.map(
      (each, i): Thing => ({
        ...each,
        definite: one.kind !== 'appear' && !(one.kind === 'replace' && i === one.things.length - 1),
      }),
    ),
  }));

const place = fc.option(fc.constantFrom('on the left', 'in the middle', 'on the right'));
const edge = fc.constantFrom('left' as const, 'right' as const, 'top' as const, 'bottom' as const);
const carried = fc.constantFrom('suitcase', 'backpack', 'bag', 'box', 'chair', 'ladder');

export const visits: fc.Arbitrary<VisitStatement> = fc.record({
  thing: thing.map((one): Thing => ({ ...one, count: 1, definite: false })),
  came: fc.oneof(
    fc.record({ how: fc.constant('edge' as const), edge, place: fc.constant(null) }),
    fc.record({
      how: fc.constantFrom('there' as const, 'appeared' as const, 'uncertain' as const),
      edge: fc.constant(null),
      place,
    }),
  ),
  stayed: fc.option(fc.record({ place, seconds: fc.constantFrom(5, 40, 119, 600, 9000) })),
  went: fc.oneof(
    fc.record({ how: fc.constant('edge' as const), edge, place: fc.constant(null) }),
    fc.record({
      how: fc.constantFrom('gone' as const, 'still' as const, 'unseen' as const, 'uncertain' as const),
      edge: fc.constant(null),
      place,
    }),
  ),
  objects: fc.array(
    fc.record({
      thing: carried.map((noun): Thing => ({ noun, colour: null, count: 1, definite: false })),
      value: fc.constantFrom('object_left' as const, 'object_removed' as const),
    }),
    { maxLength: 1 },
  ),
  seconds: fc.constant(60),
}) as fc.Arbitrary<VisitStatement>;
