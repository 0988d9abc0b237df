/** `scenedelta when` as a process, on tiny videos and with the small bundle of test/fixtures. */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { jest } from '@jest/globals';
import { FFMPEG, THING, writeVideo } from '../footage/videos.js';
import { copyOfTiny } from '../model/tiny-bundle.js';

// Processes and threads start slowly on a busy machine.
jest.setTimeout(240_000);

const main = resolve('dist/cli/main.js');
/** The thing lies in it. */
const ROI = '60,12,24,24';
let folder: string;
let models: string;
beforeAll(async () => {
  models = (await copyOfTiny(() => {})).modelsDir;
  folder = await mkdtemp(join(tmpdir(), 'sd-when-'));
  const [empty, thing] = [[], [THING]];
  // 64 s each, 4 frames per second
  await writeVideo(join(folder, 'stays.mp4'), [
    { frames: 4 * 41, blocks: empty },
    { frames: 4 * 23, blocks: thing },
  ]);
  await writeVideo(join(folder, 'leaves.mp4'), [
    { frames: 4 * 20, blocks: empty },
    { frames: 4 * 30, blocks: thing },
    { frames: 4 * 14, blocks: empty },
  ]);
});
afterAll(() => Promise.all([folder, models].map((made) => rm(made, { recursive: true }))));

const when = (...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> =>
  new Promise((done) => {
    const env = {
      ...process.env,
      ...{ MODELS_DIR: models, DEFAULT_MODEL: 'bundle-tiny', DEVICE: 'cpu', DATA_DIR: join(folder, 'data'), FFMPEG },
    };
    execFile(process.execPath, [main, 'when', ...args], { env, cwd: folder }, (error, stdout, stderr) => {
      done({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
const shell = (script: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  promisify(execFile)('/bin/sh', ['-c', script, ...args], { cwd: folder, env: { ...process.env, ...env } });
const NOON = ['--start', '2026-06-01T12:00:00Z', '--tz', 'UTC'];
const START = [...NOON, '--covered', '2s'];

describe('scenedelta when', () => {
  it('finds the second in which a thing appeared, with its sentence and both frames', async () => {
    const { status, stdout, stderr } = await when('stays.mp4', '--roi', ROI, ...START, '--json', '-d', 'out');
    expect([status, stderr]).toEqual([0, '']);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({
      changed: {
        before: { at: '2026-06-01T12:00:40.000Z', file: 'stays.mp4', seconds: 40 },
        after: { at: '2026-06-01T12:00:41.000Z', file: 'stays.mp4', seconds: 41 },
        exact: true,
        change: { kind: 'appear', caption: 'A green thing has appeared on the right.' },
      },
      changed_back: null,
      frames: 64,
    });
    expect(result.looks).toBeLessThanOrEqual(2 * Math.log2(64));
    expect(JSON.parse(await readFile(join(folder, 'out/when.json'), 'utf8'))).toEqual(result);
    for (const side of ['before', 'after']) {
      expect((await readFile(join(folder, `out/changed-${side}.jpg`))).subarray(0, 2).toString('hex')).toBe('ffd8');
    }
  });

  it.each(['mkv', 'h264'])('finds it in a recording (%s) whose header states no length', async (type) => {
    const coded = { mkv: ['-c', 'copy', '-f', 'matroska'], h264: ['-c', 'copy', '-f', 'h264'] }[type] as string[];
    const file = join(folder, `measured.${type}`);
    // A pipe cannot be wound back to the header, where the length would be written.
    await shell('"$0" -v error -i stays.mp4 "$@" - | cat > "$OUT"', [FFMPEG, ...coded], { OUT: file });
    const { stdout, stderr } = await when(`measured.${type}`, '--roi', ROI, ...START, '--json');
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ changed: { before: { seconds: 40 }, after: { seconds: 41 } } });
  });

  it('finds that it left again', async () => {
    const { stdout } = await when('leaves.mp4', '--roi', ROI, ...START);
    const [changed, back, looks] = stdout.split('\n');
    expect(changed).toContain('(leaves.mp4, 19 s) and 2026-06-01T12:00:20.000Z (leaves.mp4, 20 s): A green thing has');
    expect(back).toMatch(/^back between .*leaves\.mp4, 49 s\) and .*leaves\.mp4, 50 s\): .* is gone\.$/);
    expect(looks).toMatch(/^looked at \d+ of 64 frames/);
  });

  it('finds nothing at another place, or in a time without a change', async () => {
    const elsewhere = await when('stays.mp4', '--roi', '0,0.6,0.3,0.3', ...NOON);
    expect(elsewhere.stdout).toMatch(/^no change of the place was found \(looked at \d+ of 64 frames\)/);
    expect(elsewhere.stdout).toContain('one that lasts no longer than --covered 60s is no change');
    const earlier = await when('stays.mp4', '--roi', ROI, ...START, '--between', '0s', '30s');
    expect(earlier.stdout).toMatch(/^no change of the place was found \(looked at \d+ of 31 frames\)/);
  });

  it('leaves out a file that cannot be read, also the first one, and names it', async () => {
    await writeFile(join(folder, 'a_20260601_115900.mp4'), 'cut off');
    await copyFile(join(folder, 'stays.mp4'), join(folder, 'a_20260601_120000.mp4'));
    const both = await when('a_20260601_115900.mp4', 'a_20260601_120000.mp4', '--roi', ROI, '--tz', 'UTC');
    expect(both.stdout).toMatch(/^between 2026-06-01T12:00:40/);
    expect(both.stderr).toContain('a_20260601_115900.mp4 is left out: cannot be read as a video');
    const alone = await when('a_20260601_115900.mp4', '--roi', ROI, '--tz', 'UTC');
    expect(alone.stderr).toMatch(/^scenedelta when: a_20260601_115900.mp4 cannot be read as a video/);
    expect(alone.status).toBe(1);
  });

  it('names the setting that hides a visit, and the moments of it', async () => {
    const berlin = ['--start', '2026-06-01T12:00:00Z', '--tz', 'Europe/Berlin'];
    const { stdout } = await when('leaves.mp4', '--roi', ROI, ...berlin);
    const found = /it looked otherwise at (.*), but no longer than --covered 60s: a shorter one makes it/.exec(stdout);
    const moments = (found?.[1] ?? '').split(', ');
    expect(moments).toEqual([...moments].sort());
    expect(moments.length).toBeGreaterThan(0);
    for (const moment of moments) {
      expect(moment).toMatch(/^2026-06-01T14:00:\d\d\.000\+02:00$/);
      const second = (Date.parse(moment) - Date.parse('2026-06-01T12:00:00Z')) / 1000;
      expect(second).toBeGreaterThanOrEqual(20);
      expect(second).toBeLessThan(50);
    }
  });

  it('refuses a named pipe, and does not wait for it', async () => {
    await shell('mkfifo "$0"', ['pipe.mp4']);
    const { status, stderr } = await when('pipe.mp4', '--roi', ROI, ...START);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^scenedelta when: .*pipe\.mp4 is no regular file\n$/)]);
  });

  it.each([
    [['stays.mp4'], "required option '--roi <x,y,w,h>' not specified"],
    [['stays.mp4', '--roi', '90,0,20,20'], 'within the frame'],
    [['stays.mp4', '--roi', ROI, ...START, '--between', '9s', '3s'], 'expected two times, the earlier one first'],
    [
      ['stays.mp4', '--roi', ROI, ...START, '--between', '3s', '3.5s'],
      'the recording has 1 of the frames, expected two or more',
    ],
  ])('%j is refused in one line', async (args, message) => {
    const { status, stderr } = await when(...args);
    expect(status).toBe(2);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(message);
  });
});
