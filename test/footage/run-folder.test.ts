/** The folder of a run of recordings. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunFolder, STATE_FOLDER } from '../../src/footage/run/run-folder.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-run-folder-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('goes on with a run of the same inputs and options, and refuses another one', async () => {
  expect(await new RunFolder(folder).begin('a', false)).toBe(false);
  expect(await new RunFolder(folder).begin('a', false)).toBe(true);
  await expect(new RunFolder(folder).begin('b', false)).rejects.toThrow(
    'has the run of other inputs, settings or options',
  );
});

it('refuses the run of a version with another format, and drops it if the caller says so', async () => {
  await mkdir(join(folder, STATE_FOLDER));
  await writeFile(join(folder, STATE_FOLDER, 'run.json'), JSON.stringify({ v: 1, fingerprint: 'a' }));
  await expect(new RunFolder(folder).begin('a', false)).rejects.toThrow(
    `${folder} has a run of another version of scenedelta: expected another -d, or --restart`,
  );
  expect(await new RunFolder(folder).begin('a', true)).toBe(false);
});
