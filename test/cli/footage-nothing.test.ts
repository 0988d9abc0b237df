/** `scenedelta footage` and `scenedelta when` over files of which none can be read. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { jest } from '@jest/globals';
import { FFMPEG } from '../footage/videos.js';
import { copyOfTiny } from '../model/tiny-bundle.js';

// Processes and threads start slowly on a busy machine.
jest.setTimeout(240_000);

const main = resolve('dist/cli/main.js');
let folder: string;
let models: string;
beforeAll(async () => {
  models = (await copyOfTiny(() => {})).modelsDir;
  folder = await mkdtemp(join(tmpdir(), 'sd-nothing-'));
  await writeFile(join(folder, 'text.mp4'), 'no video');
});
afterAll(() => Promise.all([folder, models].map((made) => rm(made, { recursive: true }))));

const run = (...args: string[]): Promise<{ status: number; stderr: string }> =>
  new Promise((done) => {
    const env = {
      ...process.env,
      ...{ MODELS_DIR: models, DEFAULT_MODEL: 'bundle-tiny', DEVICE: 'cpu', DATA_DIR: join(folder, 'data'), FFMPEG },
    };
    execFile(process.execPath, [main, ...args], { env, cwd: folder }, (error, _, stderr) => {
      done({ status: error === null ? 0 : Number(error.code), stderr });
    });
  });

it('footage ends with status 1, with the reasons in its results', async () => {
  const { status, stderr } = await run('footage', 'text.mp4', '-d', 'out', '--start', '2026-06-01T12:00:00Z', '-q');
  expect(status).toBe(1);
  expect(stderr).toContain('none of 1 file could be examined: the results have the reasons');
  const { failures } = JSON.parse(await readFile(join(folder, 'out/changes.json'), 'utf8'));
  expect(failures).toMatchObject([{ file: 'text.mp4', reason: expect.stringContaining('as a video') }]);
});

it('when says why no recording can be read', async () => {
  const { status, stderr } = await run('when', 'text.mp4', '--roi', '0,0,9,9', '--start', '2026-06-01T12:00:00Z');
  expect(status).toBe(1);
  expect(stderr).toContain('no recording can be read: text.mp4 cannot be read as a video');
});
