/** The memory of planes: shared within one call, reused by the next, and back to own memory outside. */
import { plane, withPlaneMemory } from '../../src/viewpoint/planes.js';

const SIZE = { width: 4, height: 2 };

it('planes of one call do not overlap, and start as zeros also if their memory was used before', () => {
  for (let call = 0; call < 3; call++) {
    withPlaneMemory(() => {
      const [a, b] = [plane(SIZE), plane(SIZE)];
      expect([...a.data, ...b.data].every((value) => value === 0)).toBe(true);
      a.data.fill(1);
      expect(b.data.every((value) => value === 0)).toBe(true);
      b.data.fill(2);
      expect(a.data.every((value) => value === 1)).toBe(true);
    });
  }
});

it('the second call of a kind takes its planes from the memory of the first', () => {
  const use = () => withPlaneMemory(() => [plane(SIZE), plane(SIZE)].map(({ data }) => data.buffer));
  use();
  const [first, second] = [use(), use()];
  expect(new Set([...first, ...second]).size).toBe(1);
});

it('a plane outside of a call, or after one that failed, has a memory of its own', () => {
  expect(() =>
    withPlaneMemory(() => {
      plane(SIZE);
      throw new Error('broken');
    }),
  ).toThrow('broken');
  expect(plane(SIZE).data.buffer).not.toBe(plane(SIZE).data.buffer);
});
