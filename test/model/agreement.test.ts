import { agreement } from '../../src/model/agreement.js';
import type { Features } from '../../src/model/graph-io.js';

/** Channels first: cell i of a frame is the i-th column. */
const frame = (...columns: number[][]): Features => ({
  coarse: Float32Array.from((columns[0] as number[]).flatMap((_, channel) => columns.map((c) => c[channel] as number))),
  fine: new Float32Array(0),
});

describe('agreement', () => {
  const here = frame([1, 0], [0, 2], [3, 4], [1, 1]);

  it('is 1 for equal features of any scale, and -1 for opposite ones', () => {
    const stronger = frame([5, 0], [0, 1], [6, 8], [9, 9]);
    expect(agreement(here, stronger, 4)).toBeCloseTo(1, 6);
    expect(agreement(here, frame([-1, 0], [0, -2], [-3, -4], [-1, -1]), 4)).toBeCloseTo(-1, 6);
  });

  it('is the median: a minority of different cells has no effect, a majority has', () => {
    const one = frame([0, 1], [0, 2], [3, 4], [1, 1]);
    const three = frame([0, 1], [2, 0], [-4, 3], [1, 1]);
    expect(agreement(here, one, 4)).toBeCloseTo(1, 6);
    expect(agreement(here, three, 4)).toBeCloseTo(0, 6);
  });

  it('is the mean of the middle two, and 0 for cells without features', () => {
    expect(agreement(here, frame([1, 0], [0, 2], [0, 0], [0, 0]), 4)).toBeCloseTo(0.5, 6);
    expect(agreement(frame([1], [1], [1]), frame([1], [0], [1]), 3)).toBe(1);
  });
});
