/** Two frames that belong together: worked on beside each other, and held to one shape. */
import { ScenedeltaError } from '../errors.js';
import { ASPECT_TOLERANCE, type Side, sameAspectRatio } from '../images.js';
import type { Frame } from './decode.js';

/** Does something for both frames beside each other, and returns only when both have ended, also where one fails. */
export async function ofBoth<T>(work: (side: Side) => Promise<T>): Promise<Record<Side, T>> {
  const [before, after] = await together(work('before'), work('after'));
  return { before, after };
}

/** Both results when both have ended, also where one fails: until then somebody reads the frames' memory. */
export async function together<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled([a, b]);
  if (first.status === 'rejected') throw first.reason;
  if (second.status === 'rejected') throw second.reason;
  return [first.value, second.value];
}

/** Both frames are squashed to one input: a slightly other aspect is harmless, a really other one is another view. */
export function refuseOtherShape({ before, after }: Record<Side, Frame>): void {
  if (sameAspectRatio(before, after)) return;
  throw new ScenedeltaError(
    'frames-differ-in-shape',
    `before has ${before.sourceWidth}x${before.sourceHeight} px and after ${after.sourceWidth}x${after.sourceHeight} px, expected the same aspect ratio (within ${ASPECT_TOLERANCE * 100} %)`,
    { field: 'after' },
  );
}

export const haveSamePixels = ({ before, after }: Record<Side, Frame>): boolean =>
  before.width === after.width &&
  before.height === after.height &&
  Buffer.compare(before.data, after.data) === 0;
