/**
 * Shapes of the inputs, hidden in a graph that is optimised already. From them ONNX Runtime derives the shapes of all
 * tensors and plans which of them share memory: it compares each tensor with all that are free by then, which takes
 * half of the time of opening `statements`. Without shapes a run takes each tensor from the arena instead, which costs
 * nothing that can be measured.
 */
import { BYTES, fieldsAt } from './onnx-fields.js';

/** Numbers of the fields from a model to the shape of an input: graph, input, type, tensor type, shape. */
const PATH = [7, 11, 2, 1, 2];
/** A field that a tensor type does not have: readers skip it. */
const NONE = 15;

/** @param model bytes of an ONNX file, changed in place. @throws RangeError if the bytes are no Protocol Buffers */
export function hideInputShapes(model: Uint8Array): void {
  // All fields are found before the first changes.
  for (const { tag } of [...fieldsAt(model, PATH)]) tag[0] = (NONE << 3) | BYTES;
}
