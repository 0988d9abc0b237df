/** Work on the two frames of a comparison at the same time. */
import { ScenedeltaError } from '../base/errors.js';
import { ASPECT_TOLERANCE, type Side, type Size } from '../base/images.js';
import type { DecodedFrame } from './decode.js';

/**
 * Runs `work` for both frames concurrently. It settles when both runs have settled.
 * @throws the error of `before`, or of `after`
 */
export async function mapSides<T>(work: (side: Side) => Promise<T>): Promise<Record<Side, T>> {
  const [before, after] = await allSettledOrThrow(work('before'), work('after'));
  return { before, after };
}

/**
 * Waits until all promises have settled, even if one fails early: until then a thread may still read the frames'
 * buffers.
 * @throws the error of the first argument that failed
 */
export async function allSettledOrThrow<T extends readonly unknown[]>(
  ...work: { readonly [K in keyof T]: Promise<T[K]> }
): Promise<T> {
  const settled = await Promise.allSettled(work);
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  }) as unknown as T;
}

export const sourceSize = ({ sourceWidth, sourceHeight }: DecodedFrame): Size => ({
  width: sourceWidth,
  height: sourceHeight,
});

/** @param sizes upright sizes of the encoded frames */
export function differInShape(sizes: Readonly<Record<Side, Size>>): ScenedeltaError {
  const [before, after] = [sizes.before, sizes.after].map(({ width, height }) => `${width}x${height} px`);
  const expected = `the same aspect ratio (within ${ASPECT_TOLERANCE * 100} %), or one view that was stretched`;
  return new ScenedeltaError(
    'frames-differ-in-shape',
    `before has ${before} and after ${after}, expected ${expected}`,
    {
      field: 'after',
    },
  );
}

export const haveSamePixels = ({ before, after }: Readonly<Record<Side, DecodedFrame>>): boolean =>
  before.width === after.width && before.height === after.height && Buffer.compare(before.data, after.data) === 0;
