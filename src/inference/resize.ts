/** Images for the graphs: boxes of frames, resized and normalised by an inference thread. */
import type { Bundle } from '../model/manifest.js';
import { resizeNormalised } from '../model/preprocess.js';
import type { EncodeInput } from './protocol.js';

const lengthOf = ({ width, height }: EncodeInput): number => 3 * height * width;

/** @returns planar float32 [3,height,width] per box, in shared memory, for another thread */
export function resizeShared(input: EncodeInput, { manifest }: Bundle): Float32Array[] {
  const { boxes, frame, width, height } = input;
  return boxes.map((box) => {
    const out = new Float32Array(new SharedArrayBuffer(lengthOf(input) * Float32Array.BYTES_PER_ELEMENT));
    resizeNormalised(frame, box, width, height, manifest.input, out);
    return out;
  });
}

/** Pixels of the batch that is encoded now. Reused, because a new buffer per batch keeps the garbage collector busy. */
let batchPixels = new Float32Array(0);

/** @returns planar float32 [3,height,width] per box of all inputs, one after the other; valid until the next call */
export function resizeBatch(inputs: readonly EncodeInput[], { manifest }: Bundle): Float32Array[] {
  const total = inputs.reduce((sum, input) => sum + input.boxes.length * lengthOf(input), 0);
  if (batchPixels.length < total) batchPixels = new Float32Array(total);
  let end = 0;
  return inputs.flatMap((input) =>
    input.boxes.map((box, i) => {
      const out = batchPixels.subarray(end, end + lengthOf(input));
      end += out.length;
      const image = input.images?.[i];
      if (image !== undefined) out.set(image);
      else resizeNormalised(input.frame, box, input.width, input.height, manifest.input, out);
      return out;
    }),
  );
}
