/** Frames of two sizes are compared at one, which enlarges neither. */
import type { Size } from '../../src/base/images.js';
import type { DecodedFrame } from '../../src/frames/decode.js';
import { fitPair } from '../../src/pipeline/fitted-pair.js';

const frame = (width: number, height: number, lost: DecodedFrame['lost'] = null): DecodedFrame => ({
  ...{ width, height, lost, decodedShare: 1, sourceWidth: 2 * width, sourceHeight: 2 * height },
  data: new Uint8Array(width * height * 3).fill(90),
});
const fitted = (before: DecodedFrame, after: DecodedFrame) =>
  fitPair({ before, after }, (bytes) => new Uint8Array(bytes));

it.each<[string, Size, Size, Size]>([
  ['a smaller after', { width: 96, height: 54 }, { width: 48, height: 27 }, { width: 48, height: 27 }],
  ['a smaller before', { width: 48, height: 27 }, { width: 96, height: 54 }, { width: 48, height: 27 }],
  ['an after of half the width', { width: 96, height: 54 }, { width: 48, height: 54 }, { width: 48, height: 27 }],
  ['a before of twice the height', { width: 96, height: 108 }, { width: 96, height: 54 }, { width: 48, height: 54 }],
  ['a coder that adds rows', { width: 96, height: 54 }, { width: 96, height: 55 }, { width: 96, height: 54 }],
])('%s: the shape of before, and no pixel enlarged', async (_name, before, after, expected) => {
  const { frames } = await fitted(frame(before.width, before.height), frame(after.width, after.height));
  for (const { width, height, data } of [frames.before, frames.after]) {
    expect({ width, height }).toEqual(expected);
    expect(data).toEqual(new Uint8Array(expected.width * expected.height * 3).fill(90));
  }
});

it('keeps frames of one size as they are, with their buffers', async () => {
  const [before, after] = [frame(96, 54), frame(96, 54)];
  const { frames, stretchedFrom } = await fitted(before, after);
  expect([frames.before.data === before.data, frames.after.data === after.data, stretchedFrom]).toEqual([
    ...[true, true, null],
  ]);
});

it('keeps the size of the encoded frame, says what was stretched, and scales lost rows', async () => {
  const { frames, stretchedFrom } = await fitted(frame(96, 54), frame(48, 54, { x: 0, y: 41, width: 48, height: 13 }));
  expect(frames.after).toMatchObject({ sourceWidth: 96, sourceHeight: 108 });
  expect(stretchedFrom).toEqual({ width: 96, height: 108 });
  expect(frames.after.lost).toEqual({ x: 0, y: 20, width: 48, height: 7 });
});
