/** Sentences from statements, and statements from sentences of the captions' grammar, in the words of each language. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LOCALES } from '../../src/language/locales.js';
import { othersStatement, withUsefulPlaces } from '../../src/language/order.js';
import { readClauses, readStatement, statementOf } from '../../src/language/read-clauses.js';
import { tableOf } from '../../src/language/table.js';
import { textIn } from '../../src/language/translate.js';
import { textOf, withoutPlace, write, writeContent, writeWords } from '../../src/language/write.js';
import type { Statement, Thing } from '../../src/schemas/statement.js';
import { statements } from './sampled.js';

const english = tableOf('en');
it('a text with a number has a singular in each language that has one', () => {
  expect(textIn('en', 'report.change_count', { n: 1 })).toBe('1 change');
  expect(textIn('de', 'left_out', { n: 1 })).toBe('1 weitere Änderung ist ausgelassen.');
  expect(textIn('de', 'left_out', { n: 2 })).toBe('2 weitere Änderungen sind ausgelassen.');
  expect(textIn('ja', 'report.change_count', { n: 1 })).toBe('変化 1 件');
});

describe('a statement and its sentence', () => {
  it('are the same: a written statement is read back, with its verb as far as it is true of the things', () => {
    fc.assert(
      fc.property(statements, (statement) => {
        const sentence = write(statement);
        const read = readStatement(sentence) as Statement;
        const [useful] = withUsefulPlaces([statement]);
        expect({ ...read, verb: '' }).toEqual({ ...useful, verb: '' });
        expect(write(read)).toBe(sentence);
      }),
      { numRuns: 2000, seed: 34 },
    );
  });

  it('loses its place alone where the place is useless', () => {
    fc.assert(
      fc.property(statements, (statement) => {
        const parts = [{ count: 1, colour: 'black' }];
        const things = statement.things.slice(0, 1).map((thing) => ({ ...thing, count: 2, colour: null, parts }));
        const middle = { ...statement, things, place: 'in the middle' };
        const useful = withUsefulPlaces([middle])[0] as Statement;
        fc.pre(useful.place === null);
        expect(textOf(withoutPlace(writeWords(middle)))).toBe(textOf(writeWords(useful)));
      }),
      { numRuns: 2000, seed: 35 },
    );
  });

  it('are several if "and" joins clauses, and one if it joins things', () => {
    const kindsOf = (text: string) => readClauses(text.split(' ')).map(({ statement }) => statement?.kind);
    expect(kindsOf('a van and a car have left and a dog has appeared')).toEqual(['disappear', 'appear']);
    expect(kindsOf('a bag has appeared and the gizmo wobbles')).toEqual(['appear', undefined]);
    expect(kindsOf('A van has left, and a dog has appeared; the car has moved.')).toEqual([
      'disappear',
      'appear',
      'move',
    ]);
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
    ['the white van is gone', { noun: 'suv', colour: null }, 'The suv is gone.'],
    ['a white van has appeared', { noun: 'suv', colour: null }, 'An suv has appeared.'],
    ['a white van has appeared', { colour: 'orange' }, 'An orange van has appeared.'],
    ['the person in a brown coat is gone', { noun: 'man' }, 'The man in a brown coat is gone.'],
    ['the red car is gone', { noun: 'person', colour: 'dark' }, 'The person in dark clothes is gone.'],
    ['the person in black is gone', { noun: 'car' }, 'The black car is gone.'],
    ['two vans have left', { noun: 'something', colour: null }, 'Two things have left.'],
    ['a person has walked to the left', { noun: 'car' }, 'A car has moved to the left.'],
    ['a man has arrived', { noun: 'box' }, 'A box has appeared.'],
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
    expect(german('a red car has appeared on the left')).toBe('Ein rotes Auto ist links aufgetaucht.');
    expect(german('the two dark blue cars in the parking lot are gone')).toBe(
      'Die zwei dunkelblauen Autos auf dem Parkplatz sind weg.',
    );
    expect(german('the man in a dark red jacket has walked to the right')).toBe(
      'Der Mann mit dunkelroter Jacke ist nach rechts gegangen.',
    );
    expect(german('the red car on the road has been replaced by a van')).toBe(
      'Das rote Auto auf der Fahrbahn wurde durch einen Transporter ersetzt.',
    );
    expect(german('the several yellow cones are no longer there')).toBe('Die gelben Kegel sind nicht mehr da.');
    expect(german('something has appeared')).toBe('Etwas ist aufgetaucht.');
  });

  const left = readStatement('the two people in black on the right have left') as Statement;
  const appeared = readStatement('a person in red has appeared on the right') as Statement;
  const moved = readStatement('the chair has moved to the left') as Statement;
  const othersMoved = (count: number | null) => othersStatement('move', { noun: 'person' }, count) as Statement;
  it.each([
    ['en', 'The two people in black on the right have left, and others have moved.'],
    ['de', 'Die zwei Personen in Schwarz rechts haben sich entfernt und andere haben sich bewegt.'],
    ['fr', 'Les deux personnes en noir qui étaient à droite sont parties et d’autres se sont déplacées.'],
    ['es', 'Las dos personas de negro que estaban a la derecha se han ido y otras se han movido.'],
    ['ja', '右側の黒い服の人物2人が立ち去りました。また、ほかの数人の人物も移動しました。'],
  ] as const)('counts further things, and no places: %s', (locale, expected) => {
    expect(writeContent({ statements: [left, othersMoved(null)], more: 3 }, locale)).toBe(expected);
  });

  it('says "another" of one, and nothing of places where it is not known what happened', () => {
    expect(writeContent({ statements: [appeared, othersMoved(1)], more: 1 })).toBe(
      'A person in red has appeared on the right, and another has moved.',
    );
    expect(writeContent({ statements: [appeared], more: 4 })).toBe('A person in red has appeared on the right.');
  });

  it.each([
    [
      'en',
      'The two people in black on the right have left, and a person in red has appeared on the right; ' +
        'the chair has moved to the left.',
    ],
    [
      'fr',
      'Les deux personnes en noir qui étaient à droite sont parties et une personne en rouge est apparue à droite ; ' +
        'la chaise s’est déplacée vers la gauche.',
    ],
  ] as const)('has one "and" per sentence, then semicolons: %s', (locale, expected) => {
    const written = writeContent({ statements: [left, appeared, moved], more: 0 }, locale);
    expect(written.replace('\u00A0', ' ')).toBe(expected);
    expect(writeContent({ statements: [parts('person'), moved], more: 0 })).toBe(
      'Three people have appeared on the left, one in red and two in dark clothes; the chair has moved to the left.',
    );
  });

  it('omits "in the middle", unless it distinguishes two things of a class', () => {
    const car = readStatement('a white car has appeared in the middle') as Statement;
    const van = readStatement('the van on the left has left') as Statement;
    expect(write(car)).toBe('A white car has appeared.');
    expect(writeContent({ statements: [car, appeared], more: 0 })).toBe(
      'A white car has appeared, and a person in red has appeared on the right.',
    );
    expect(writeContent({ statements: [van, car], more: 0 })).toBe(
      'The van on the left has left, and a white car has appeared in the middle.',
    );
    expect(write(readStatement('a car is now parked in the middle') as Statement)).toBe(
      'A car is now parked in the middle.',
    );
  });

  it.each([
    ['en', 'Three cars have appeared at the gate, one red and two dark.'],
    ['de', 'Drei Autos sind at the gate aufgetaucht, eines rot und zwei dunkel.'],
  ] as const)('names a place in place of its own: %s', (locale, expected) => {
    expect(write(parts('car'), { locale, place: 'at the gate' })).toBe(expected);
  });

  it('names both places of a move in place of its way', () => {
    const moved = readStatement('the car has moved to the left') as Statement;
    expect(write(moved, { place: { from: 'loading bay 2', to: 'the gate' } })).toBe(
      'The car has moved from loading bay 2 to the gate.',
    );
    expect(write(moved, { place: 'in loading bay 2' })).toBe('The car has moved to the left in loading bay 2.');
  });
});
