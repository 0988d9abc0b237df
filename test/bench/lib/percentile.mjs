/** Percentiles. A file of its own, because lib/report.mjs measures for two seconds how busy the machine is. */

/** @param {number[]} values @returns the value below which `share` (0..1) of them lie (nearest rank). */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
