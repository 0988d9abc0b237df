/** Decoded frames: which are kept, and when their buffers are free. */
import sharp from 'sharp';
import { decodeFrame } from '../../src/frames/decode.js';
import { DecodedFrames, type HeldBuffers } from '../../src/frames/decoded-frames.js';
import { noisy } from './pictures.js';

const OPTIONS = { field: 'frame', pixelLimit: 1e6 };
const [SIDE, LIMIT] = [64, 16_384];

const jpegOf = (background: string) =>
  sharp({ create: { width: SIDE, height: SIDE, channels: 3, background } })
    .jpeg()
    .toBuffer();
const nothing = new Uint8Array();

it('a frame is decoded once while it is kept', async () => {
  const frames = new DecodedFrames(2 * LIMIT);
  const first = await frames.decode(await jpegOf('red'), 'red', OPTIONS, []);
  // Its bytes are not read again.
  expect(await frames.decode(nothing, 'red', OPTIONS, [])).toBe(first);
  for (const colour of ['green', 'blue']) await frames.decode(await jpegOf(colour), colour, OPTIONS, []);
  await expect(frames.decode(nothing, 'red', OPTIONS, [])).rejects.toMatchObject({ code: 'image-unreadable' });
});

it('a frame that the caller has decoded is copied, and its bytes are not read', async () => {
  const frames = new DecodedFrames(LIMIT);
  const decoded = await decodeFrame(await jpegOf('red'), OPTIONS);
  const copy = await frames.decode(nothing, 'red', { ...OPTIONS, decoded }, []);
  expect(copy).toEqual({ ...decoded, data: Uint8Array.from(decoded.data) });
  expect(copy.data.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(await frames.decode(nothing, 'red', OPTIONS, [])).toBe(copy);
});

it.each([
  ['without a key', undefined, LIMIT],
  ['that alone exceeds the limit', 'red', LIMIT - 1],
  ['with the limit 0', 'red', 0],
])('a frame %s is not kept, and its buffer is free', async (_name, key, limit) => {
  const frames = new DecodedFrames(limit);
  const held: HeldBuffers = [];
  await frames.decode(await jpegOf('red'), key, OPTIONS, held);
  frames.giveBack(held);
  expect(frames.take(LIMIT, []).buffer).toBe(held[0]?.buffer);
  await expect(frames.decode(nothing, key, OPTIONS, [])).rejects.toMatchObject({ code: 'image-unreadable' });
});

it('a buffer is free when the frame is not kept and no comparison uses it', async () => {
  const frames = new DecodedFrames(LIMIT);
  const [first, second]: [HeldBuffers, HeldBuffers] = [[], []];
  const { data } = await frames.decode(await jpegOf('red'), 'red', OPTIONS, first);
  await frames.decode(nothing, 'red', OPTIONS, second);
  frames.giveBack(first);
  // The next one takes the place of the first.
  await frames.decode(await jpegOf('blue'), 'blue', OPTIONS, []);
  expect(frames.take(LIMIT, []).buffer).not.toBe(data.buffer);
  frames.giveBack(second);
  expect(frames.take(LIMIT, []).buffer).toBe(data.buffer);
});

it('a frame with lost rows is not kept, because they get the pixels of another frame', async () => {
  const frames = new DecodedFrames(LIMIT);
  const uncut = await noisy(SIDE, SIDE).jpeg().toBuffer();
  const cut = uncut.subarray(0, Math.round(uncut.length / 2));
  expect((await frames.decode(cut, 'cut', OPTIONS, [])).lost).not.toBeNull();
  await expect(frames.decode(nothing, 'cut', OPTIONS, [])).rejects.toMatchObject({ code: 'image-unreadable' });
});
