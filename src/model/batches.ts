/** Packing of items into batch tensors, and views of single items of a batch. Letters as in captioner.ts. */
import { FULL_FRAME } from '../base/images.js';
import { COARSE_STRIDE, FINE_STRIDE } from './bundle.js';
import type { CaptionInput, RegionCropFeatures } from './graph-io.js';
import type { CropRule } from './manifest.js';
import type { Tensor } from './session.js';

/**
 * Stacks items of one shape into a tensor [B, ...shape]; rows after the last item are zeros. Items that already lie one
 * after the other are not copied: the tensor is a view of them. ONNX Runtime reads no shared memory.
 * @param shape of one item; -1 stands for the size that the item's length leaves
 * @throws RangeError if an item has another length
 */
export function stack(items: readonly Float32Array[], shape: readonly number[], B: number): Tensor {
  const length = items[0]?.length ?? 0;
  const known = shape.reduce((product, size) => (size === -1 ? product : product * size), 1);
  items.forEach((item, i) => {
    if (item.length !== length || (shape.includes(-1) ? length % known !== 0 : length !== known)) {
      const expected = shape.map((size) => (size === -1 ? 'any' : size)).join('x');
      throw new RangeError(`item ${i} has ${item.length} values, item 0 has ${length}, expected ${expected}`);
    }
  });
  const dims = [B, ...shape.map((size) => (size === -1 ? length / known : size))];
  const { buffer, byteOffset = 0 } = items[0] ?? {};
  if (buffer instanceof ArrayBuffer && items.length === B && isContiguous(items)) {
    return { dims, data: new Float32Array(buffer, byteOffset, B * length) };
  }
  const data = new Float32Array(B * length);
  for (const [i, item] of items.entries()) data.set(item, i * length);
  return { dims, data };
}

/** Whether each item begins where the item before it ends, in one buffer. */
const isContiguous = (items: readonly Float32Array[]): boolean =>
  items.every(({ buffer, byteOffset }, i) => {
    const before = items[i - 1];
    return before === undefined || (buffer === before.buffer && byteOffset === before.byteOffset + before.byteLength);
  });

/**
 * @param buckets sizes of batches, ascending; null = any size
 * @returns the rows of a run with `count` items: the smallest bucket that holds them, else a multiple of the largest
 */
export function paddedSize(count: number, buckets: readonly number[] | null): number {
  if (buckets === null) return count;
  const largest = buckets.at(-1) as number;
  return buckets.find((size) => size >= count) ?? Math.ceil(count / largest) * largest;
}

/** @returns item i of a batch of B, as a view of the same memory */
export function row<T extends Float32Array | BigInt64Array>(data: T, i: number, B: number): T {
  const length = data.length / B;
  return data.subarray(i * length, (i + 1) * length) as T;
}

/**
 * The inputs of the caption graph that carry region crops. Their names on the graph keep the spelling of the bundle
 * format.
 * @param regions R, the number of crops per item; slots without a crop are zeros, and so is their mask
 * @param size side of a crop in pixels
 * @param channels Cc and Cf
 */
export function cropTensors(
  inputs: readonly Pick<CaptionInput, 'crops'>[],
  { regions: R, size }: CropRule,
  channels: { readonly coarse: number; readonly fine: number },
  B: number,
): Record<string, Tensor> {
  const zeros = (...dims: number[]) => ({ dims, data: new Float32Array(dims.reduce((a, b) => a * b)) });
  const [g, f] = [size / COARSE_STRIDE, size / FINE_STRIDE];
  const coarse = zeros(B, R, 2, channels.coarse, g, g); // axis 2: before, after
  const fine = zeros(B, R, 2, channels.fine, f, f);
  const cropBox = zeros(B, R, 4);
  const objectBox = zeros(B, R, 4);
  const mask = zeros(B, R);
  inputs.forEach((input, i) => {
    input.crops.slice(0, R).forEach(({ before, after, crop, object }, r) => {
      const slot = i * R + r;
      coarse.data.set(before.coarse, 2 * slot * before.coarse.length);
      coarse.data.set(after.coarse, (2 * slot + 1) * after.coarse.length);
      fine.data.set(before.fine, 2 * slot * before.fine.length);
      fine.data.set(after.fine, (2 * slot + 1) * after.fine.length);
      cropBox.data.set([crop.x, crop.y, crop.width, crop.height], slot * 4);
      objectBox.data.set([object.x, object.y, object.width, object.height], slot * 4);
      mask.data[slot] = 1;
    });
  });
  return { glance_coarse: coarse, glance_fine: fine, glance_box: cropBox, object_box: objectBox, glance_mask: mask };
}

/** @returns the inputs of a graph whose rows are single crops: [M, ...], without the axis of regions and the mask */
export function separateCropTensors(
  crops: readonly RegionCropFeatures[],
  cropRule: CropRule,
  channels: { readonly coarse: number; readonly fine: number },
  M: number,
): Record<string, Tensor> {
  const inputs = crops.map((crop) => ({ crops: [crop] }));
  const { glance_mask: _all, ...tensors } = cropTensors(inputs, { ...cropRule, regions: 1 }, channels, M);
  const withoutRegions = ({ dims: [m = 0, , ...dims], data }: Tensor): Tensor => ({ dims: [m, ...dims], data });
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, withoutRegions(tensor)]));
}

/** @param channels Cc and Cf @returns a crop of the full frame whose features are zeros */
export function blankCrop(
  { size }: CropRule,
  channels: { readonly coarse: number; readonly fine: number },
): RegionCropFeatures {
  const zeros = (depth: number, stride: number) => new Float32Array(depth * (size / stride) ** 2);
  const features = { coarse: zeros(channels.coarse, COARSE_STRIDE), fine: zeros(channels.fine, FINE_STRIDE) };
  return { before: features, after: features, crop: FULL_FRAME, object: FULL_FRAME };
}
