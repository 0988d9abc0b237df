/** `scenedelta shift` as a process, on a folder of pictures and with the small bundle of test/fixtures. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, jest } from '@jest/globals';
import { frameOf } from '../helpers/sequences.js';
import { copyOfTiny } from '../model/tiny-bundle.js';

// Processes and threads start slowly on a busy machine.
jest.setTimeout(240_000);

const main = resolve('dist/cli/main.js');
const call = promisify(execFile);

it('prints a line per camera and day, and writes the record and the pictures', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sd-shift-'));
  const { modelsDir } = await copyOfTiny(() => {});
  try {
    await mkdir(join(folder, 'gate'));
    for (const time of ['20260601-165000', '20260602-070003', '20260602-165000']) {
      await writeFile(join(folder, 'gate', `${time}.jpg`), await frameOf({ noise: time }));
    }
    const env = {
      ...process.env,
      MODELS_DIR: modelsDir,
      DEFAULT_MODEL: 'bundle-tiny',
      DEVICE: 'cpu',
      DATA_DIR: folder,
    };
    const args = ['shift', 'gate', '--at', '07:00', '--with', '16:50 yesterday', '--tz', 'UTC', '-d', 'out'];
    const options = { env, cwd: folder };
    const template = ['--template', '{camera}/{time:%Y%m%d-%H%M%S}.jpg'];
    const { stdout } = await call(process.execPath, [main, ...args, ...template], options);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^2026-06-02 gate: .+; between 2026-06-01.16:50:00.* and 2026-06-02.07:00:03/),
      '',
    ]);
    const [record] = JSON.parse(await readFile(join(folder, 'out/shift.json'), 'utf8'));
    expect(record).toMatchObject({ camera: 'gate', day: '2026-06-02', missing: [] });
    expect((await readdir(join(folder, 'out'))).sort()).toEqual([
      'gate-2026-06-02-after.jpg',
      'gate-2026-06-02-before.jpg',
      'shift.json',
    ]);
    const refused = call(process.execPath, [main, 'shift', 'gate', '--at', '07:00', '--with', '07:00'], options);
    await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('a time before 07:00') });
  } finally {
    await Promise.all([folder, modelsDir].map((made) => rm(made, { recursive: true })));
  }
});
