/** Statistics of lists of numbers. An empty list gives 0. */

/** The value below which a share (0..1) of the values lies, without interpolation. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return 0;
  const place = Math.min(values.length - 1, Math.floor(share * values.length));
  return select(new Float64Array(values), place);
}

/**
 * Moves the value of one place of the sorted order there, without sorting: no value before it is larger, and none
 * behind it smaller (quickselect, Hoare 1961).
 * @returns the value
 */
export function select(values: Float32Array | Float64Array, place: number): number {
  let [first, last] = [0, values.length - 1];
  while (first < last) {
    const pivot = values[place] as number;
    let [low, high] = [first, last];
    while (low <= high) {
      while ((values[low] as number) < pivot) low++;
      while ((values[high] as number) > pivot) high--;
      if (low > high) break;
      const held = values[low] as number;
      values[low++] = values[high] as number;
      values[high--] = held;
    }
    if (high < place) first = low;
    if (low > place) last = high;
  }
  return values[place] as number;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;

/**
 * Pearson correlation of two lists of one length.
 * @param floor added to the deviations per value, so that lists of one value correlate by 0 and not by chance
 */
export function correlation(a: readonly number[], b: readonly number[], floor: number): number {
  if (a.length === 0) return 0;
  const [ma, mb] = [mean(a), mean(b)];
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [(a[i] as number) - ma, (b[i] as number) - mb];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / (Math.sqrt(aa * bb) + floor * a.length);
}
