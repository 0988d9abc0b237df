/** Transport streams: files that were joined, zeros behind the end, and packets that were lost. */
import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { videosIn } from './read-videos.js';

jest.setTimeout(240_000);

const folder = mkdtempSync(join(tmpdir(), 'sd-streams-'));
const { item, read, stillsOf, pattern } = videosIn(folder);
afterAll(() => rm(folder, { recursive: true }));

it('takes files that were joined, and zeros behind the end, for whole, and reads single frames of them', async () => {
  const options = ['-g', '20', '-bf', '2', '-sc_threshold', '0'];
  await pattern('first.ts', '96x64', 5, 4, options);
  await pattern('second.ts', '96x64', 5, 4, [...options, '-output_ts_offset', '5']);
  const [first, second] = await Promise.all(['first.ts', 'second.ts'].map((file) => readFile(join(folder, file))));
  await writeFile(join(folder, 'joined.ts'), Buffer.concat([first as Buffer, second as Buffer, Buffer.alloc(300_000)]));
  const { times, failures } = await read([item('joined.ts')]);
  expect([times, failures]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], []]);
  expect(await stillsOf('joined.ts', [1, 4, 6])).toEqual([]);
});

it('reports packets that were lost once and at their place, and takes the frames elsewhere for whole', async () => {
  await pattern('lost.ts', '96x64', 12, 4, ['-g', '8', '-bf', '2', '-sc_threshold', '0', '-crf', '1']);
  const bytes = await readFile(join(folder, 'lost.ts'));
  const from = 188 * Math.floor((bytes.length / 188) * 0.6);
  await writeFile(join(folder, 'lost.ts'), Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 188 * 20)]));
  const { times, failures } = await read([item('lost.ts')]);
  expect(failures).toHaveLength(1);
  expect(failures[0]).toMatch(/^image-unreadable: is damaged from [678]\.\d+ s to (8|9|10)\.\d+ s/);
  expect(times).toEqual(expect.arrayContaining([0, 1, 2, 3, 4, 5, 11]));
  expect(await stillsOf('lost.ts', [1, 3, 11])).toEqual([]);
});
