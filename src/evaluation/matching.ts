/** Who goes with whom: the most that can be matched when each may be taken only so often. */

/**
 * Maximum bipartite matching by augmenting paths (Kuhn 1955).
 * @param capacity how many of the left one of the right may take
 * @returns of each on the left whether it found one
 */
export function matched<L, R>(
  left: readonly L[],
  right: readonly R[],
  fits: (l: L, r: R) => boolean,
  capacity: (r: R) => number,
): boolean[] {
  const takenBy = right.map((): number[] => []);
  const place = (l: number, tried: Set<number>): boolean =>
    right.some((r, k) => {
      if (tried.has(k) || !fits(left[l] as L, r)) return false;
      tried.add(k);
      const taken = takenBy[k] as number[];
      if (taken.length < capacity(r)) {
        taken.push(l);
        return true;
      }
      const leaving = taken.findIndex((other) => place(other, tried));
      if (leaving < 0) return false;
      taken[leaving] = l;
      return true;
    });
  // Who has been placed stays so, somewhere: a path only moves others on.
  return left.map((_, l) => place(l, new Set()));
}
