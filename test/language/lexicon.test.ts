import { sameColour } from '../../src/language/people/colours.js';
import { NOUNS, nounClass, nounFit } from '../../src/language/people/nouns.js';

describe('the lexicon', () => {
  it('gives every noun a class, and every wider noun is in it', () => {
    for (const [noun, { isa }] of Object.entries(NOUNS)) {
      expect([noun, nounClass(noun)]).not.toEqual([noun, null]);
      for (const wider of isa) expect(Object.keys(NOUNS)).toContain(wider);
      expect(isa.length === 0 || (NOUNS[isa.at(-1) ?? '']?.isa.length ?? 1) === 0).toBe(true);
    }
  });

  it('lets a noun fit itself and a thing with a narrower noun, not one with a wider noun', () => {
    for (const [noun, { isa }] of Object.entries(NOUNS)) {
      expect(nounFit(noun, noun)).toBe('same');
      for (const wider of isa) expect([nounFit(wider, noun), nounFit(noun, wider)]).toEqual(['wider', 'class']);
    }
  });

  it.each([
    ['grey', 'silver', true],
    ['gray', 'grey', true],
    ['dark', 'black', true],
    ['dark', 'dark blue', true],
    ['blue', 'light blue', true],
    ['light blue', 'dark blue', false],
    ['dark', 'white', false],
    ['red', 'orange', false],
    ['red', 'red and black', true],
    ['maroon', 'red', true],
    ['mauve', 'red', false],
    ['brown', 'brown jacket', true],
    ['grey', 'silver-grey', true],
    ['red', 'dark and white clothes', false],
    ['light blue', 'light blue shirt', true],
  ])('colour %s of a thing labelled %s: %s', (stated, labelled, same) => {
    expect(sameColour(stated, labelled)).toBe(same);
  });
});
