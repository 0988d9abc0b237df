/** Names of a made bundle, and logits that stand for given probabilities. */
import type { CropNames } from '../../src/model/graph-io.js';
import type { Names } from '../../src/model/naming.js';

export const NAMES: Names = {
  nouns: ['nothing', 'man', 'woman', 'car', 'van', 'object'],
  wider: { man: 'person', woman: 'person', person: 'something', car: 'vehicle', van: 'vehicle', vehicle: 'something' },
  colours: ['black', 'dark blue', 'red'],
  wider_colours: { black: 'dark', 'dark blue': 'dark' },
  levels: {
    nouns: [
      [0, 0],
      [1, 1],
    ],
    colours: [
      [0, 0],
      [1, 0.6],
    ],
  },
  plural: { man: 'men', woman: 'women', person: 'people', car: 'cars', van: 'vans', vehicle: 'vehicles' },
};

/** @param nouns,colours probabilities; the words that are left out share the rest */
export function cropNames(nouns: Record<string, number>, colours: Record<string, number> = {}): CropNames {
  const logits = (words: readonly string[], given: Record<string, number>) => {
    const rest = 1 - Object.values(given).reduce((a, b) => a + b, 0);
    const others = Math.max(1, words.length - Object.keys(given).length);
    return Float32Array.from(words, (word) => Math.log(given[word] ?? rest / others));
  };
  return { nouns: logits(NAMES.nouns, nouns), colours: logits(NAMES.colours, colours) };
}
