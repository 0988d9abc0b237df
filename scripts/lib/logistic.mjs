/** Logistic regression with a ridge, by Newton's method on standardised inputs. */

/**
 * @param {number[][]} rows one a sample
 * @param {boolean[]} truths
 * @param {{ ridge?: number, balanced?: boolean }} options ridge: weight of the squared (standardised) coefficients; balanced: a rare
 *   class weighs as much as the rest together (then scores rank, but are no frequencies)
 * @returns {{ offset: number, weights: number[] }} for the rows as they came
 */
export function fitLogistic(rows, truths, { ridge = 1, balanced = true } = {}) {
  const d = rows[0].length;
  const mean = Array.from({ length: d }, (_, k) => rows.reduce((sum, row) => sum + row[k], 0) / rows.length);
  const deviation = mean.map(
    (m, k) => Math.sqrt(rows.reduce((sum, row) => sum + (row[k] - m) ** 2, 0) / rows.length) || 1,
  );
  const xs = rows.map((row) => [1, ...row.map((value, k) => (value - mean[k]) / deviation[k])]);
  const positives = truths.filter(Boolean).length;
  // Platt's targets (1999) keep a class that can be separated from growing without bound.
  const target = truths.map((t) =>
    t ? (positives + 1) / (positives + 2) : 1 / (truths.length - positives + 2),
  );
  const balance = truths.map((t) =>
    balanced ? truths.length / (2 * (t ? positives : truths.length - positives)) : 1,
  );
  let w = new Array(d + 1).fill(0);
  for (let step = 0; step < 30; step++) {
    const gradient = w.map((value, k) => (k === 0 ? 0 : ridge * value));
    const hessian = w.map((_, k) => w.map((__, j) => (j === k ? (k === 0 ? 1e-6 : ridge) : 0)));
    xs.forEach((x, i) => {
      const p = sigmoid(dot(w, x));
      const [g, h] = [balance[i] * (p - target[i]), balance[i] * Math.max(p * (1 - p), 1e-6)];
      for (let k = 0; k <= d; k++) {
        gradient[k] += g * x[k];
        for (let j = 0; j <= k; j++) hessian[k][j] += h * x[k] * x[j];
      }
    });
    for (let k = 0; k <= d; k++) for (let j = k + 1; j <= d; j++) hessian[k][j] = hessian[j][k];
    const change = solve(hessian, gradient);
    const longest = Math.max(...change.map(Math.abs));
    const damp = Math.min(1, 2 / longest);
    w = w.map((value, k) => value - damp * change[k]);
    if (longest < 1e-6) break;
  }
  const weights = mean.map((_, k) => w[k + 1] / deviation[k]);
  return { offset: w[0] - weights.reduce((sum, weight, k) => sum + weight * mean[k], 0), weights };
}

export const sigmoid = (logit) => 1 / (1 + Math.exp(-logit));
const dot = (a, b) => a.reduce((sum, value, k) => sum + value * b[k], 0);
export const logitOf = ({ offset, weights }, row) => offset + dot(weights, row);

/** Cholesky; `matrix` is symmetric and positive definite. */
function solve(matrix, right) {
  const n = right.length;
  const L = matrix.map((row) => [...row]);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i][j];
      for (let k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
      L[i][j] = i === j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / L[j][j];
    }
  const y = [];
  for (let i = 0; i < n; i++) {
    let sum = right[i];
    for (let k = 0; k < i; k++) sum -= L[i][k] * y[k];
    y[i] = sum / L[i][i];
  }
  const x = new Array(n);
  for (let i = n - 1; i >= 0; i--) {
    let sum = y[i];
    for (let k = i + 1; k < n; k++) sum -= L[k][i] * x[k];
    x[i] = sum / L[i][i];
  }
  return x;
}

/** Two parts of the samples by a group's name, so that no group is on both sides: [1, 0] and [0, 1]. */
export function folds(groups) {
  const names = [...new Set(groups)].sort();
  return [0, 1].map((part) => groups.map((group) => names.indexOf(group) % 2 === part));
}

/** Scores of each sample by the model that was fitted without its group. */
export function crossFitted(rows, truths, groups, options) {
  const scores = new Array(rows.length);
  for (const held of folds(groups)) {
    const inside = rows.map((_, i) => i).filter((i) => !held[i]);
    const model = fitLogistic(
      inside.map((i) => rows[i]),
      inside.map((i) => truths[i]),
      options,
    );
    rows.forEach((row, i) => {
      if (held[i]) scores[i] = logitOf(model, row);
    });
  }
  return scores;
}

/**
 * Bounds by which scores become names. Those that all samples chose are shipped; a figure counts each sample by those that the other
 * half chose (`counted[sample.half]`), for a bound that was chosen so that few are wrong says nothing about how many will be.
 * @param {{ half: 0 | 1 }[]} samples
 * @param {(samples) => unknown} choose
 */
export const boundsBy = (samples, choose) => ({
  shipped: choose(samples),
  counted: [0, 1].map((half) => choose(samples.filter((sample) => sample.half !== half))),
});
