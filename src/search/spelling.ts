/** Spelling: cosine of the character n-grams of two words. */

/** Least cosine at which a word counts as a misspelling of another. */
const LEAST_COSINE = 0.6;
/** Shorter words have too few n-grams: one wrong letter leaves none of them. */
const LEAST_LETTERS = 4;
const SIZES = [2, 3] as const;

interface NGrams {
  readonly counts: ReadonlyMap<string, number>;
  readonly norm: number;
}

/** n-grams of the words that were compared, because a query is compared with the same words as the one before it. */
const known = new Map<string, NGrams>();
const MOST_KNOWN = 20_000;

function nGramsOf(word: string): NGrams {
  const before = known.get(word);
  if (before !== undefined) return before;
  if (known.size >= MOST_KNOWN) known.clear();
  const counts = countsOf(word);
  const grams = { counts, norm: Math.sqrt([...counts.values()].reduce((sum, count) => sum + count * count, 0)) };
  known.set(word, grams);
  return grams;
}

/** '<' and '>' mark the ends of the word. */
function countsOf(word: string): Map<string, number> {
  const marked = `<${word}>`;
  const counts = new Map<string, number>();
  for (const size of SIZES) {
    for (let i = 0; i + size <= marked.length; i++) {
      const gram = marked.slice(i, i + size);
      counts.set(gram, (counts.get(gram) ?? 0) + 1);
    }
  }
  return counts;
}

function cosineOf(a: NGrams, b: NGrams): number {
  let product = 0;
  for (const [gram, count] of a.counts) product += count * (b.counts.get(gram) ?? 0);
  return product / (a.norm * b.norm);
}

/**
 * @param words to choose from
 * @returns the most similar word with a cosine of at least LEAST_COSINE; null if there is none
 */
export function closestWord(word: string, words: Iterable<string>): string | null {
  if (word.length < LEAST_LETTERS || /\d/.test(word)) return null;
  const sought = nGramsOf(word);
  let best: { word: string; cosine: number } | null = null;
  for (const other of words) {
    if (Math.abs(other.length - word.length) > 2) continue;
    const cosine = cosineOf(sought, nGramsOf(other));
    if (cosine >= LEAST_COSINE && (best === null || cosine > best.cosine)) best = { word: other, cosine };
  }
  return best?.word ?? null;
}
