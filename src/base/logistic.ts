/** Probabilities and their logits, and the likeness of vectors. */

/** @returns probability of a logit */
export const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));

/** @param least probabilities closer than this to 0 or 1, where the logit is infinite, are limited to it */
export function logitOf(probability: number, least = 1e-9): number {
  const p = Math.min(Math.max(probability, least), 1 - least);
  return Math.log(p / (1 - p));
}

/** @returns probabilities that sum to 1 */
export function softmax(logits: Float32Array): number[] {
  const highest = Math.max(...logits);
  const powers = Array.from(logits, (logit) => Math.exp(logit - highest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** Cosine of two vectors of one length. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (p: readonly number[], q: readonly number[]) => p.reduce((sum, x, i) => sum + x * (q[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
