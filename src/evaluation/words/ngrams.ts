/** Counts of word sequences. An n-gram's key is its words joined by single spaces (words hold no space). */

export type NgramCounts = ReadonlyMap<string, number>;

/** How often each sequence of exactly `n` words occurs. */
export function countNgrams(words: readonly string[], n: number): NgramCounts {
  const counts = new Map<string, number>();
  for (let start = 0; start + n <= words.length; start++) {
    const key = words.slice(start, start + n).join(' ');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
