import { nounPhrasesOf, writePhrase } from '../../src/model/noun-phrase.js';

const phrases = (clause: string) =>
  nounPhrasesOf(clause.split(' ')).map(({ from, to, noun, colour, count }) => [
    clause.split(' ').slice(from, to).join(' '),
    noun,
    colour,
    count,
  ]);

describe('nounPhrasesOf', () => {
  it.each([
    ['a dark blue car has appeared on the road', [['a dark blue car', 'car', 'dark blue', null]]],
    ['the two people on the left have left', [['the two people', 'people', null, 'two']]],
    ['several red cars have appeared', [['several red cars', 'cars', 'red', 'several']]],
    ['there is a traffic cone by the wall now', [['a traffic cone', 'traffic cone', null, null]]],
    ['a person in a brown coat is now by the car', [['a person in a brown coat', 'person', 'brown', null]]],
    ['the person in black in the middle is gone', [['the person in black', 'person', 'black', null]]],
    ['someone has left', [['someone', 'person', null, null]]],
    [
      'the red car on the road has been replaced by a van',
      [
        ['the red car', 'car', 'red', null],
        ['a van', 'van', null, null],
      ],
    ],
    [
      'there is a van on the road instead of the red car',
      [
        ['a van', 'van', null, null],
        ['the red car', 'car', 'red', null],
      ],
    ],
    ['the car has moved to the left', [['the car', 'car', null, null]]],
  ])('finds in "%s" %j', (clause, expected) => {
    expect(phrases(clause)).toEqual(expected);
  });
});

describe('writePhrase', () => {
  const write = (like: string, noun: string, colour: string | null, wears = false) => {
    const [phrase] = nounPhrasesOf(like.split(' '));
    if (phrase === undefined) throw new Error(`no noun phrase in ${like}`);
    return writePhrase(phrase, { noun, colour, wears }, `${noun}s`);
  };
  it.each([
    ['a white van is gone', 'suv', null, false, 'an suv'],
    ['a white van is gone', 'car', 'orange', false, 'an orange car'],
    ['the two vans are gone', 'car', 'red', false, 'the two red cars'],
    ['two vans are now there', 'car', null, false, 'two cars'],
    ['the white van is gone', 'something', 'white', false, 'white something'],
    ['the person in a brown coat is gone', 'man', 'brown', true, 'the man in a brown coat'],
    ['the person in a brown coat is gone', 'man', 'red', true, 'the man in red'],
    ['a red car is gone', 'person', 'dark', true, 'a person in dark clothes'],
    ['a person in black is gone', 'car', 'black', false, 'a black car'],
  ] as const)('like "%s" of %s, %s (worn: %j) is "%s"', (like, noun, colour, wears, expected) => {
    expect(write(like, noun, colour, wears)).toBe(expected);
  });
});
