import type { EncodeInput } from '../../src/inference/protocol.js';
import { resizeBatch, resizeShared } from '../../src/inference/resize.js';
import type { Bundle } from '../../src/model/manifest.js';

const input = { mean: [0.4, 0.5, 0.6], std: [0.2, 0.2, 0.3] };
const bundle = { manifest: { input } } as unknown as Bundle;
const frame = { width: 24, height: 16, data: Uint8Array.from({ length: 24 * 16 * 3 }, (_, i) => (i * 37) % 256) };
const boxes = [
  { x: 0, y: 0, width: 24, height: 16 },
  { x: 3.5, y: 2, width: 9, height: 7.25 },
];
const encode = (more: Partial<EncodeInput> = {}): EncodeInput => ({ frame, boxes, width: 12, height: 8, ...more });

it('gives a graph the same images whether another thread resized them or not', () => {
  const images = resizeShared(encode(), bundle);
  expect(images.map(({ buffer }) => buffer instanceof SharedArrayBuffer)).toEqual([true, true]);
  const unshared = resizeBatch([encode(), encode()], bundle).map((image) => [...image]);
  expect(new Set(unshared.map((image) => image.join())).size).toBe(2);
  const empty = { ...frame, data: new Uint8Array(frame.data.length) };
  const given = resizeBatch([encode({ frame: empty, images }), encode()], bundle);
  expect(given.map((image) => [...image])).toEqual(unshared);
});

it('puts the images of a batch one after the other', () => {
  const images = resizeBatch([encode(), encode({ boxes: boxes.slice(1) })], bundle);
  const bytes = 3 * 12 * 8 * Float32Array.BYTES_PER_ELEMENT;
  expect(images.map(({ byteOffset }) => byteOffset)).toEqual([0, bytes, 2 * bytes]);
});
