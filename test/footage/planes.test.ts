/** Planes of a decoded picture: colours, and the preview. */
import { planesLength, previewLength, previewOf, rgbOf } from '../../src/footage/video/planes.js';

const SIZE = { width: 5, height: 3 };
const filled = (luma: number, blue: number, red: number): Uint8Array => {
  const planes = new Uint8Array(planesLength(SIZE));
  planes.fill(luma, 0, 15).fill(blue, 15, 21).fill(red, 21, 27);
  return planes;
};
const colourOf = (planes: Uint8Array, matrix: string) => [...rgbOf(planes, SIZE, matrix).data.subarray(-3)];

it('gives the colours of the matrix that the stream names, and BT.601 without one', () => {
  expect(planesLength(SIZE)).toBe(27);
  expect(colourOf(filled(200, 128, 128), 'unknown')).toEqual([200, 200, 200]);
  for (const [planes, matrix] of [
    [filled(76, 85, 255), 'unknown'],
    [filled(76, 85, 255), 'smpte170m'],
    [filled(54, 99, 255), 'bt709'],
  ] as const) {
    const [red = 0, green = 255, blue = 255] = colourOf(planes, matrix);
    expect(red).toBeGreaterThan(252);
    expect(green).toBeLessThan(4);
    expect(blue).toBeLessThan(4);
  }
});

it('takes the colour of each pixel from its own square of two by two', () => {
  const planes = filled(100, 128, 128);
  // the colour of the pixels 2..3 of the lowest row
  planes[15 + 3 + 1] = 228;
  const blues = Array.from({ length: 5 }, (_, x) => rgbOf(planes, SIZE, 'unknown').data[3 * (2 * 5 + x) + 2]);
  expect(blues).toEqual([100, 100, 255, 255, 100]);
});

it.each([1, 2, 4])('reduces brightness and colour by %d to their means', (ratio) => {
  const source = { width: 8 * ratio + 1, height: 6 * ratio + 1 };
  const planes = new Uint8Array(planesLength(source));
  const pixels = source.width * source.height;
  for (let i = 0; i < pixels; i++) planes[i] = Math.floor((i % source.width) / ratio) * 10;
  planes.fill(90, pixels, pixels + (planes.length - pixels) / 2).fill(160, pixels + (planes.length - pixels) / 2);
  const size = { width: 8, height: 6 };
  const { luma, chroma } = previewOf(planes, source, size, ratio, new Uint8Array(previewLength(size)));
  expect(luma).toHaveLength(48);
  expect([...luma.subarray(40)]).toEqual([0, 10, 20, 30, 40, 50, 60, 70]);
  expect([...(chroma?.blue ?? [])]).toEqual(Array(12).fill(90));
  expect([...(chroma?.red ?? [])]).toEqual(Array(12).fill(160));
});
