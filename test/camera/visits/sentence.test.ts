/** Sentences of visits, in each language. */
import { describe, expect, it } from '@jest/globals';
import { LOCALES } from '../../../src/language/locales.js';
import { writeVisit } from '../../../src/language/visit.js';
import type { VisitStatement } from '../../../src/schemas/visit-statement.js';

const visit = (changed: Partial<VisitStatement> = {}): VisitStatement => ({
  thing: { noun: 'person', colour: 'red', count: 1, definite: false },
  came: { how: 'edge', edge: 'right', place: 'on the right' },
  stayed: { place: 'on the left', seconds: 40 },
  went: { how: 'edge', edge: 'left', place: 'on the left' },
  objects: [],
  seconds: 49,
  ...changed,
});
const car = { noun: 'car', colour: 'white', count: 1, definite: false };
const bag = { noun: 'bag', colour: 'black', count: 1, definite: false };

describe('the sentence of a visit', () => {
  it.each([
    [visit(), 'A person in red came in from the right, stood on the left for 40 s and left to the left.'],
    [visit({ stayed: null }), 'A person in red came in from the right and left to the left.'],
    [
      visit({ thing: { noun: 'person', colour: null, count: 2, definite: false }, stayed: null }),
      'Two people came in from the right and left to the left.',
    ],
    [
      visit({
        thing: car,
        came: { how: 'there', edge: null, place: 'on the right' },
        stayed: { place: 'on the right', seconds: 5400 },
        went: { how: 'still', edge: null, place: 'on the right' },
      }),
      'A white car was there at the beginning, stood on the right for 90 min and is still there.',
    ],
    [
      visit({ stayed: null, objects: [{ thing: bag, value: 'object_left' }] }),
      'A person in red came in from the right and left to the left; a black bag was left.',
    ],
    [
      visit({
        came: { how: 'appeared', edge: null, place: 'in the middle' },
        stayed: null,
        went: { how: 'gone', edge: null, place: 'on the left' },
      }),
      'A person in red was first seen in the middle and was last seen on the left.',
    ],
    [
      visit({ stayed: null, went: { how: 'uncertain', edge: null, place: null } }),
      'Several people passed within 49 seconds.',
    ],
    [
      visit({
        came: { how: 'uncertain', edge: null, place: 'on the left' },
        stayed: null,
        went: { how: 'uncertain', edge: null, place: null },
      }),
      'Several people passed within 49 seconds.',
    ],
  ])('in English (%#)', (statement, sentence) => {
    expect(writeVisit(statement)).toBe(sentence);
  });

  it.each([
    [visit(), 'Eine Person in Rot kam von rechts ins Bild, stand 40 s links und verließ das Bild nach links.'],
    [
      visit({ thing: car, stayed: null, objects: [{ thing: bag, value: 'object_removed' }] }),
      'Ein weißes Auto kam von rechts ins Bild und verließ das Bild nach links; eine schwarze Tasche wurde mitgenommen.',
    ],
    [
      visit({
        thing: { noun: 'person', colour: null, count: 2, definite: false },
        came: { how: 'there', edge: null, place: null },
        stayed: null,
        went: { how: 'still', edge: null, place: 'on the left' },
      }),
      'Zwei Personen waren am Anfang da und sind noch links da.',
    ],
  ])('in German (%#)', (statement, sentence) => {
    expect(writeVisit(statement, 'de')).toBe(sentence);
  });

  it('has no slot left open, for any statement in any language', () => {
    const ways = [
      ['there', null],
      ['edge', 'top'],
      ['appeared', null],
      ['uncertain', null],
    ] as const;
    const ends = [
      ['edge', 'bottom'],
      ['gone', null],
      ['still', null],
      ['unseen', null],
      ['uncertain', null],
    ] as const;
    for (const locale of LOCALES) {
      for (const [how, edge] of ways) {
        for (const [end, at] of ends) {
          const came = { how, edge, place: 'on the left' };
          const went = { how: end, edge: at, place: 'on the right' };
          expect(writeVisit(visit({ came, went }), locale)).not.toMatch(/[{}]| {2}|undefined/);
        }
      }
    }
  });
});
