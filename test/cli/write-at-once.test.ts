/** Outputs of commands: whole files, and the reason if one cannot be written. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeAtOnce } from '../../src/cli/write-at-once.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-whole-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function* parts(): AsyncGenerator<string> {
  yield 'one\n';
  yield 'two\n';
}

it('writes a text in parts', async () => {
  await writeAtOnce(join(folder, 'text'), parts());
  expect(await readFile(join(folder, 'text'), 'utf8')).toBe('one\ntwo\n');
});

it.each([
  ['ENOSPC', 'storage-unavailable', 'cannot be written: the disk is full (ENOSPC)'],
  ['EACCES', 'invalid-request', 'cannot be written (EACCES)'],
])('leaves the earlier file, no half of a new one, and gives the reason %s', async (code, type, message) => {
  const file = join(folder, 'kept');
  await writeAtOnce(file, 'before');
  async function* failing(): AsyncGenerator<string> {
    yield 'half';
    throw Object.assign(new Error('the write failed'), { code });
  }
  await expect(writeAtOnce(file, failing())).rejects.toMatchObject({ code: type, message: `${file}: ${message}` });
  expect(await readFile(file, 'utf8')).toBe('before');
  expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});
