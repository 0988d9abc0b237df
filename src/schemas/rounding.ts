/**
 * Rounding of the figures that leave the service: answers, webhooks and `--json`. Results are stored and evaluated at
 * full precision, because thresholds are compared with it. Pure.
 */

/** Decimal digits: a thousandth of a probability, of the frame, of a millisecond. */
const DIGITS = 3;
const STEP = 10 ** -DIGITS;
/** Members that hold a probability: only what is certain is shown as 0 or 1. */
const PROBABILITIES: ReadonlySet<string> = new Set(['confidence', 'caption_score', 'score', 'p']);
/** Members of the caller, which are echoed as they came. */
const ECHOED: ReadonlySet<string> = new Set(['metadata']);

interface BoxLike {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * @param resource a finding, a comparison, or a change
 * @returns a copy with every figure rounded to three decimal digits
 */
export function roundFigures<T extends object>(resource: T): T {
  return (Array.isArray(resource) ? resource.map((item) => rounded(item)) : roundedMembers(resource)) as T;
}

function rounded(value: unknown, name = ''): unknown {
  if (typeof value === 'number') return PROBABILITIES.has(name) ? nearestProbability(value) : nearest(value);
  if (value === null || typeof value !== 'object') return value;
  return isBox(value) ? roundedBox(value) : roundFigures(value);
}

const roundedMembers = (value: object) =>
  Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, ECHOED.has(name) ? member : rounded(member, name)]),
  );

const nearest = (value: number): number => Number(value.toFixed(DIGITS));

function nearestProbability(value: number): number {
  const near = nearest(value);
  // A score above 1 is no probability: the rule of quiet frames has such ones.
  if (near === value || value > 1) return near;
  return Math.min(1 - STEP, Math.max(STEP, near));
}

const isBox = (value: object): value is BoxLike => 'x' in value && 'width' in value;

/** Rounds the edges, not the lengths: a box inside the frame stays inside. */
function roundedBox({ x, y, width, height }: BoxLike): BoxLike {
  const [left, top] = [nearest(x), nearest(y)];
  return { x: left, y: top, width: nearest(nearest(x + width) - left), height: nearest(nearest(y + height) - top) };
}
