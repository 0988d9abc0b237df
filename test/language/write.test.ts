/** Sentences from statements, and statements from sentences of the captions' grammar, in the words of each language. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LOCALES } from '../../src/language/locales.js';
import { readClauses, readStatement, statementOf } from '../../src/language/read-clauses.js';
import { tableOf } from '../../src/language/table.js';
import { textIn } from '../../src/language/translate.js';
import { write, writeContent } from '../../src/language/write.js';
import type { Statement, Thing } from '../../src/schemas/statement.js';
import { statements } from './sampled.js';

const english = tableOf('en');
it('a text with a number has a singular in each language that has one', () => {
  expect(textIn('en', 'report.change_count', { n: 1 })).toBe('1 change');
  expect(textIn('de', 'left_out', { n: 1 })).toBe('1 weitere Änderung ist ausgelassen');
  expect(textIn('de', 'left_out', { n: 2 })).toBe('2 weitere Änderungen sind ausgelassen');
  expect(textIn('ja', 'report.change_count', { n: 1 })).toBe('変化 1 件');
});

describe('a statement and its sentence', () => {
  it('are the same: a written statement is read back, with its verb as far as it is true of the things', () => {
    fc.assert(
      fc.property(statements, (statement) => {
        const sentence = write(statement);
        const read = readStatement(sentence) as Statement;
        expect({ ...read, verb: '' }).toEqual({ ...statement, verb: '' });
        expect(write(read)).toBe(sentence);
      }),
      { numRuns: 2000, seed: 34 },
    );
  });

  it('are several if "and" joins clauses, and one if it joins things', () => {
    const kindsOf = (text: string) => readClauses(text.split(' ')).map(({ statement }) => statement?.kind);
    expect(kindsOf('a van and a car have left and a dog has appeared')).toEqual(['disappear', 'appear']);
    expect(kindsOf('a bag has appeared and the gizmo wobbles')).toEqual(['appear', undefined]);
  });

  it.each([
    'the cube became a sphere',
    'a has appeared',
    'a car has appeared on the left in the middle of',
    'somebody was here',
    'the car has left suddenly',
  ])('are not known of another grammar: "%s"', (sentence) => {
    expect(readStatement(sentence)).toBeNull();
    expect(write(sentence)).toBe(sentence);
  });

  it('have the roles of their words', () => {
    const [clause] = readClauses('the two people in dark clothes by the lamp post have left'.split(' '));
    const roles = clause?.roles.map(({ role }) => role);
    expect(roles).toEqual([
      ...['phrase', 'phrase', 'noun', 'phrase', 'colour', 'phrase'],
      ...['place', 'place', 'place', 'place', 'verb', 'verb'],
    ]);
  });
});

describe('the words of a thing', () => {
  const written = (sentence: string, change: Partial<Thing>) => {
    const statement = statementOf(sentence) as Statement;
    return write({ ...statement, things: statement.things.map((one) => ({ ...one, ...change })) });
  };
  it.each([
    ['the white van is gone', { noun: 'suv', colour: null }, 'the suv is gone'],
    ['a white van has appeared', { noun: 'suv', colour: null }, 'an suv has appeared'],
    ['a white van has appeared', { colour: 'orange' }, 'an orange van has appeared'],
    ['the person in a brown coat is gone', { noun: 'man' }, 'the man in a brown coat is gone'],
    ['the red car is gone', { noun: 'person', colour: 'dark' }, 'the person in dark clothes is gone'],
    ['the person in black is gone', { noun: 'car' }, 'the black car is gone'],
    ['two vans have left', { noun: 'something', colour: null }, 'two things have left'],
    ['a person has walked to the left', { noun: 'car' }, 'a car has moved to the left'],
    ['a man has arrived', { noun: 'box' }, 'a box has appeared'],
  ])('"%s" with %j is "%s"', (sentence, change, expected) => expect(written(sentence, change)).toBe(expected));
});

describe('every language', () => {
  const parts = (noun: string): Statement => ({
    ...{ kind: 'appear', verb: 'appeared', place: 'on the left', way: null },
    things: [
      {
        noun,
        colour: null,
        count: 3,
        definite: false,
        parts: [
          { count: 1, colour: 'red' },
          { count: 2, colour: 'dark' },
        ],
      },
    ],
  });

  it.each(LOCALES)('has all words and sentences of the English one: %s', (locale) => {
    const table = tableOf(locale);
    for (const list of ['nouns', 'colours', 'garments', 'places', 'ways', 'sentences'] as const) {
      const [words, expected] = [table[list], english[list]].map((one) =>
        Array.isArray(one) ? one : Object.keys(one),
      );
      expect({ list, missing: expected?.filter((word) => !words?.includes(word)) }).toEqual({ list, missing: [] });
    }
    for (const [kind, templates] of Object.entries(english.sentences)) {
      expect(Object.keys(table.sentences[kind] ?? {})).toEqual(expect.arrayContaining(Object.keys(templates)));
    }
  });

  it('writes German by its table alone', () => {
    const german = (sentence: string) => write(readStatement(sentence) as Statement, { locale: 'de' });
    expect(german('a red car has appeared on the left')).toBe('ein rotes Auto ist links aufgetaucht');
    expect(german('the two dark blue cars in the parking lot are gone')).toBe(
      'die zwei dunkelblauen Autos auf dem Parkplatz sind weg',
    );
    expect(german('the man in a dark red jacket has walked to the right')).toBe(
      'der Mann mit dunkelroter Jacke ist nach rechts gegangen',
    );
    expect(german('the red car on the road has been replaced by a van')).toBe(
      'das rote Auto auf der Fahrbahn wurde durch einen Transporter ersetzt',
    );
    expect(german('the several yellow cones are no longer there')).toBe('die gelben Kegel sind nicht mehr da');
    expect(german('something has appeared')).toBe('etwas ist aufgetaucht');
  });

  it.each([
    [
      'en',
      'three people have appeared on the left, one in red and two in dark clothes, and one more place has changed',
    ],
    [
      'de',
      'drei Personen sind links aufgetaucht, eine in Rot und zwei in dunkler Kleidung, und ein weiterer Ort hat sich verändert',
    ],
  ] as const)('counts what it does not describe: %s', (locale, expected) => {
    expect(writeContent({ statements: [parts('person')], more: 1 }, locale)).toBe(expected);
  });

  it.each([
    ['en', 'three cars have appeared at the gate, one red and two dark'],
    ['de', 'drei Autos sind at the gate aufgetaucht, eines rot und zwei dunkel'],
  ] as const)('names a place in place of its own: %s', (locale, expected) => {
    expect(write(parts('car'), { locale, place: 'at the gate' })).toBe(expected);
  });

  it('names both places of a move in place of its way', () => {
    const moved = readStatement('the car has moved to the left') as Statement;
    expect(write(moved, { place: { from: 'loading bay 2', to: 'the gate' } })).toBe(
      'the car has moved from loading bay 2 to the gate',
    );
    expect(write(moved, { place: 'in loading bay 2' })).toBe('the car has moved to the left in loading bay 2');
  });
});
