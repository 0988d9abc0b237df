/** `scenedelta footage` on a disk that gets full in the middle of a run. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { FFMPEG, THING } from '../footage/videos.js';
import { scene } from '../frames/pictures.js';
import { copyOfTiny } from '../model/tiny-bundle.js';

jest.setTimeout(240_000);

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
/** Two chunks of 256 pictures; the second one is not full. */
const FRAMES = 320;
/** Every write to it fails as on a full disk. */
const FULL = '/dev/full';

let folder: string;
let models: string;
beforeAll(async () => {
  models = (await copyOfTiny(() => {})).modelsDir;
  folder = await mkdtemp(join(tmpdir(), 'sd-full-'));
  await mkdir(join(folder, 'yard'));
  const [empty, full] = await Promise.all([scene(96, 64).png().toBuffer(), scene(96, 64, [THING]).png().toBuffer()]);
  for (let i = 0; i < FRAMES; i++) {
    const time = new Date(i * 1000).toISOString().slice(11, 19).replaceAll(':', '');
    await writeFile(join(folder, 'yard', `20260601-${time}.png`), Math.floor(i / 40) % 2 === 0 ? empty : full);
  }
});
afterAll(() => Promise.all([folder, models].map((made) => rm(made, { recursive: true }))));

const footage = (out: string): Promise<{ status: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const limits = {
      MODELS_DIR: models,
      DEFAULT_MODEL: 'bundle-tiny',
      DEVICE: 'cpu',
      DATA_DIR: join(folder, 'no'),
      FFMPEG,
    };
    const options = { env: { ...process.env, ...limits }, cwd: folder };
    execFile(
      process.execPath,
      [main, 'footage', 'yard', '-d', out, '--tz', 'UTC'],
      options,
      (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });

const state = (...path: string[]) => join(folder, 'out/.footage/cameras/yard', ...path);
const resultsOf = async (out: string) => {
  const names = (await readdir(join(folder, out, 'pictures'))).sort().map((name) => `pictures/${name}`);
  const read = ['changes.ndjson', 'changes.csv', 'stats.ndjson', ...names].map(async (name) => {
    return [name, (await readFile(join(folder, out, name))).toString('base64')];
  });
  return Object.fromEntries(await Promise.all(read));
};

const onLinux = existsSync(FULL) ? it : it.skip;
onLinux(
  'says that the disk is full, keeps what was saved, and goes on to the results of an undisturbed run',
  async () => {
    await mkdir(state(), { recursive: true });
    // The second chunk is written to a full disk.
    await symlink(FULL, state('chunk-000002.ndjson.tmp'));
    const { status, stderr } = await footage('out');
    expect(status).not.toBe(0);
    expect(stderr).toContain(
      'out/.footage/cameras/yard: cannot be written: the disk is full (ENOSPC); what was saved before is kept, and the ' +
        'same command goes on from there',
    );
    expect(JSON.parse(await readFile(state('checkpoint.json'), 'utf8'))).toMatchObject({ chunk: 1, done: false });
    await expect(readFile(join(folder, 'out/changes.ndjson'))).rejects.toThrow('ENOENT');

    await rm(state('chunk-000002.ndjson.tmp'));
    const again = await footage('out');
    expect([again.status, again.stdout]).toEqual([0, expect.stringContaining('going on with the run in out')]);
    expect((await footage('undisturbed')).status).toBe(0);
    const results = await resultsOf('out');
    expect(results).toEqual(await resultsOf('undisturbed'));
    expect(Object.keys(results).length).toBeGreaterThan(10);
  },
);
