/** Outputs of an inference thread in shared memory, which the main thread and other threads read without a copy. */

type Numbers = Float32Array | BigInt64Array;

/** Arrays begin at multiples of the size of the largest number. */
const ALIGNMENT = BigInt64Array.BYTES_PER_ELEMENT;

/**
 * Copies the arrays of an output, which are views of the tensors of a batch, to a block of shared memory of its own.
 * They are not transferred, because a detached buffer slows all typed arrays of its thread.
 * @param output plain data
 * @returns the output; arrays of bytes, which are short, and arrays in shared memory stay what they are
 */
export function inSharedMemory<T>(output: T): T {
  let length = 0;
  mapNumbers(output, (numbers) => {
    length += alignedLength(numbers);
    return numbers;
  });
  const memory = new SharedArrayBuffer(length);
  let end = 0;
  return mapNumbers(output, (numbers) => {
    const start = end;
    end += alignedLength(numbers);
    new Uint8Array(memory, start).set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
    return numbers instanceof Float32Array
      ? new Float32Array(memory, start, numbers.length)
      : new BigInt64Array(memory, start, numbers.length);
  }) as T;
}

const alignedLength = ({ byteLength }: Numbers): number => Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT;

function mapNumbers(value: unknown, map: (numbers: Numbers) => Numbers): unknown {
  if (value instanceof Float32Array || value instanceof BigInt64Array) {
    return value.buffer instanceof SharedArrayBuffer ? value : map(value);
  }
  if (Array.isArray(value)) return value.map((one) => mapNumbers(one, map));
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapNumbers(one, map)]));
}
