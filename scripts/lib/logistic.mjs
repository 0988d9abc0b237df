/** Logistic regression by Newton's method, with a small ridge penalty on the weights (not on the offset). */
import { sigmoid } from '../../dist/logistic.js';

/**
 * @param {readonly (readonly number[])[]} rows features of each case
 * @param {readonly boolean[]} outcomes
 * @param {number} ridge penalty on the squared weights, divided by two
 * @returns {{ weights: number[], offset: number }}
 */
export function fitLogistic(rows, outcomes, ridge = 1) {
  const size = (rows[0]?.length ?? 0) + 1;
  const penalty = (i) => (i === size - 1 ? 1e-9 : ridge);
  let beta = Array(size).fill(0);
  for (let step = 0; step < 50; step++) {
    const gradient = beta.map((value, i) => -penalty(i) * value);
    const hessian = beta.map((_, i) => beta.map((_value, j) => (i === j ? penalty(i) : 0)));
    for (const [k, row] of rows.entries()) {
      const x = [...row, 1];
      const p = sigmoid(x.reduce((sum, value, i) => sum + value * beta[i], 0));
      for (let i = 0; i < size; i++) {
        gradient[i] += (Number(outcomes[k]) - p) * x[i];
        for (let j = 0; j < size; j++) hessian[i][j] += p * (1 - p) * x[i] * x[j];
      }
    }
    const delta = solve(hessian, gradient);
    beta = beta.map((value, i) => value + delta[i]);
    if (Math.max(...delta.map(Math.abs)) < 1e-8) break;
  }
  return { weights: beta.slice(0, -1), offset: beta[size - 1] };
}

/** Gaussian elimination with partial pivoting. */
function solve(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]);
  const n = rows.length;
  for (let column = 0; column < n; column++) {
    const pivot = rows.reduce(
      (best, row, i) => (i >= column && Math.abs(row[column]) > Math.abs(rows[best][column]) ? i : best),
      column,
    );
    [rows[column], rows[pivot]] = [rows[pivot], rows[column]];
    for (let i = column + 1; i < n; i++) {
      const factor = rows[i][column] / rows[column][column];
      for (let j = column; j <= n; j++) rows[i][j] -= factor * rows[column][j];
    }
  }
  const solution = Array(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    const rest = rows[i].slice(i + 1, n).reduce((sum, value, j) => sum + value * solution[i + 1 + j], 0);
    solution[i] = (rows[i][n] - rest) / rows[i][i];
  }
  return solution;
}
