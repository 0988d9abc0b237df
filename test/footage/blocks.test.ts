/** Blocks out of a byte stream, in memory that decoders share. */
import { Readable } from 'node:stream';
import { BlockPool, blocksOf } from '../../src/footage/video/blocks.js';

const LENGTH = 4;
const stream = (text: string, size: number) =>
  Readable.from(
    Array.from({ length: Math.ceil(text.length / size) }, (_, i) => Buffer.from(text.substr(i * size, size))),
  );
const textOf = (block: Uint8Array) => Buffer.from(block).toString();

it.each([1, 3, 4, 7, 100])('cuts a stream whose parts have %d bytes, without its unfinished end', async (size) => {
  const texts: string[] = [];
  const pool = BlockPool.of(LENGTH);
  for await (const block of blocksOf(stream('abcdefghijklmn', size), pool)) {
    texts.push(textOf(block));
    pool.give(block);
  }
  expect(texts).toEqual(['abcd', 'efgh', 'ijkl']);
});

it('gives no block to two owners, also if a stream is left in the middle', async () => {
  const pool = BlockPool.of(LENGTH);
  const kept: Uint8Array[] = [];
  for await (const block of blocksOf(stream('aaaabbbbcccc', 6), pool)) {
    kept.push(block);
    if (kept.length === 2) break;
  }
  for await (const block of blocksOf(stream('xxxxyyyyzzzz', 5), pool)) kept.push(block);
  expect(kept.map(textOf)).toEqual(['aaaa', 'bbbb', 'xxxx', 'yyyy', 'zzzz']);
});

it('uses a block again after it was given back, in the next file too', () => {
  const block = BlockPool.of(77).take();
  BlockPool.of(77).give(block);
  expect(BlockPool.of(77).take()).toBe(block);
});
