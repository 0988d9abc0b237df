/** Packing of items into batch tensors: values, padding, and when items are copied. */
import { stack } from '../../src/model/batches.js';

const items = (...values: number[][]) => values.map((list) => Float32Array.from(list));
/** Items that lie one after the other in one buffer, behind two other values. */
function contiguous(...values: number[][]): Float32Array[] {
  const all = Float32Array.from([8, 9, ...values.flat()]);
  let start = 2;
  return values.map((list) => {
    start += list.length;
    return all.subarray(start - list.length, start);
  });
}

it.each([
  ['in buffers of their own', items([1, 2], [3, 4])],
  ['one after the other in one buffer', contiguous([1, 2], [3, 4])],
  ['in one buffer, in another order', contiguous([3, 4], [1, 2]).reverse()],
  ['in one buffer, with a gap', [0, 2].map((at) => contiguous([1, 2], [0, 0], [3, 4])[at] as Float32Array)],
])('items %s are stacked in order', (_, list) => {
  expect(stack(list, [2], 2)).toEqual({ dims: [2, 2], data: Float32Array.from([1, 2, 3, 4]) });
});

it('items that already form the batch are not copied, and others are', () => {
  const batch = contiguous([1, 2], [3, 4]);
  expect(stack(batch, [2], 2).data.buffer).toBe(batch[0]?.buffer);
  const padded = stack(batch, [2], 3);
  expect(padded).toEqual({ dims: [3, 2], data: Float32Array.from([1, 2, 3, 4, 0, 0]) });
  expect(padded.data.buffer).not.toBe(batch[0]?.buffer);
});

it('an item of another length is refused, and a free size is what its length leaves', () => {
  expect(stack(items([1, 2, 3, 4]), [2, -1], 1).dims).toEqual([1, 2, 2]);
  expect(() => stack(items([1, 2, 3, 4], [1, 2]), [2, -1], 2)).toThrow(
    'item 1 has 2 values, item 0 has 4, expected 2xany',
  );
  expect(() => stack(items([1, 2, 3]), [2], 1)).toThrow('item 0 has 3 values, item 0 has 3, expected 2');
});
