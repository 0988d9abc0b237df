/** Statistics of scores and counts: AUROC, recall at a false-alarm rate, exact intervals, calibration. */

/**
 * Area under the receiver operating characteristic: the probability that a positive scores above a negative, where a
 * tie counts half (Mann-Whitney).
 * @returns null if one of the groups is empty
 */
export function auroc(positives: readonly number[], negatives: readonly number[]): number | null {
  if (positives.length === 0 || negatives.length === 0) return null;
  const sorted = [...negatives].sort((a, b) => a - b);
  let wins = 0;
  for (const score of positives) wins += (countBelow(sorted, score) + countAtMost(sorted, score)) / 2;
  return wins / (positives.length * negatives.length);
}

const countBelow = (sorted: readonly number[], value: number): number => bisect(sorted, (x) => x < value);
const countAtMost = (sorted: readonly number[], value: number): number => bisect(sorted, (x) => x <= value);

/** The number of leading elements that satisfy a predicate which holds up to some index and not after it. */
function bisect(sorted: readonly number[], holds: (value: number) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(sorted[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface RecallAtRate {
  /** share of positives above the threshold */
  readonly recall: number;
  /** scores above it are alarms */
  readonly threshold: number;
  /** negatives allowed above the threshold: floor(rate * negatives) */
  readonly falseAlarms: number;
}

/**
 * The greatest recall at which at most `rate` (0..1) of the negatives raise an alarm; null if one of the groups is
 * empty.
 */
export function recallAtRate(
  positives: readonly number[],
  negatives: readonly number[],
  rate: number,
): RecallAtRate | null {
  if (positives.length === 0 || negatives.length === 0) return null;
  const sorted = [...negatives].sort((a, b) => b - a);
  // Without the small term a product like 0.05 * 40 could round to just below 2.
  const falseAlarms = Math.floor(rate * negatives.length + 1e-9);
  const threshold = falseAlarms >= sorted.length ? Number.NEGATIVE_INFINITY : (sorted[falseAlarms] as number);
  return { recall: positives.filter((score) => score > threshold).length / positives.length, threshold, falseAlarms };
}

export interface Proportion {
  readonly hits: number;
  readonly of: number;
  /** hits / of; null if of = 0 */
  readonly rate: number | null;
  /** exact two-sided 95 % interval (Clopper & Pearson 1934) */
  readonly interval: readonly [number, number];
}

const proportion = (hits: number, of: number): Proportion => ({
  hits,
  of,
  rate: of === 0 ? null : hits / of,
  interval: clopperPearson(hits, of),
});

export const proportionOf = (outcomes: readonly boolean[]): Proportion =>
  proportion(outcomes.filter(Boolean).length, outcomes.length);

/** Exact interval of a binomial proportion (Clopper and Pearson 1934); [0, 1] without observations. */
export function clopperPearson(hits: number, of: number, confidence = 0.95): [number, number] {
  if (of === 0) return [0, 1];
  const tail = (1 - confidence) / 2;
  const lower = hits === 0 ? 0 : solve((p) => 1 - binomialCdf(hits - 1, of, p) - tail);
  const upper = hits === of ? 1 : solve((p) => tail - binomialCdf(hits, of, p));
  return [lower, upper];
}

/** The root in (0, 1) of an increasing function, to double precision. */
function solve(increasing: (p: number) => number): number {
  let low = 0;
  let high = 1;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (increasing(middle) < 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** P(X <= k) of a binomial with n trials; the terms are computed as logarithms, because they underflow for large n. */
function binomialCdf(k: number, n: number, p: number): number {
  let logTerm = n * Math.log1p(-p);
  let sum = Math.exp(logTerm);
  for (let i = 1; i <= k; i++) {
    logTerm += Math.log((n - i + 1) / i) + Math.log(p) - Math.log1p(-p);
    sum += Math.exp(logTerm);
  }
  return Math.min(1, sum);
}

export interface Calibration {
  /** mean over ten equally wide bins, weighted by their size, of |mean confidence - share of positives| */
  readonly expectedError: number;
  /** mean squared difference between confidence and outcome */
  readonly brier: number;
  readonly bins: readonly {
    readonly from: number;
    readonly count: number;
    readonly confidence: number;
    readonly positives: number;
  }[];
}
const CALIBRATION_BINS = 10;

/** @param confidences probabilities 0..1 that the outcome is true */
export function calibration(confidences: readonly number[], outcomes: readonly boolean[]): Calibration {
  const bins = Array.from({ length: CALIBRATION_BINS }, (_, i) => ({
    from: i / CALIBRATION_BINS,
    count: 0,
    confidence: 0,
    positives: 0,
  }));
  let squares = 0;
  confidences.forEach((p, i) => {
    const bin = bins[Math.min(CALIBRATION_BINS - 1, Math.floor(p * CALIBRATION_BINS))];
    const outcome = outcomes[i] ? 1 : 0;
    squares += (p - outcome) ** 2;
    if (bin === undefined) return;
    bin.count += 1;
    bin.confidence += p;
    bin.positives += outcome;
  });
  const n = Math.max(1, confidences.length);
  return {
    expectedError: bins.reduce((sum, bin) => sum + Math.abs(bin.confidence - bin.positives), 0) / n,
    brier: squares / n,
    bins: bins.map((bin) => ({ ...bin, confidence: bin.count === 0 ? 0 : bin.confidence / bin.count })),
  };
}
