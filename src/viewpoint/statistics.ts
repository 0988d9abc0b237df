/** Statistics of lists of numbers. An empty list gives 0. */

/** The value below which a share (0..1) of the values lies, without interpolation. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return 0;
  const sorted = new Float64Array(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
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
