/** Maximum bipartite matching by augmenting paths (Kuhn 1955). */

/**
 * Matches as many of `left` as possible.
 * @param capacity how many of `left` an element of `right` takes
 * @returns per element of `left` whether it is matched
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
      const moved = taken.findIndex((other) => place(other, tried));
      if (moved < 0) return false;
      taken[moved] = l;
      return true;
    });
  // A matched element stays matched: an augmenting path only moves it to another partner.
  return left.map((_, l) => place(l, new Set()));
}
