/** `scenedelta footage` as a process, on tiny videos and with the small bundle of test/fixtures. */
import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { Value } from 'typebox/value';
import { FootageChangeSchema, FrameStatsSchema } from '../../src/footage/records.js';
import { FFMPEG, THING, writeVideo } from '../footage/videos.js';
import { scene } from '../frames/pictures.js';
import { eventually } from '../helpers/eventually.js';
import { copyOfTiny } from '../model/tiny-bundle.js';

// Processes and threads start slowly on a busy machine.
jest.setTimeout(240_000);

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
let folder: string;
let models: string;
beforeAll(async () => {
  models = (await copyOfTiny(() => {})).modelsDir;
  folder = await mkdtemp(join(tmpdir(), 'sd-footage-'));
  // 20 s: empty, from 8 s on with a thing, from 14 s on empty again
  await writeVideo(join(folder, 'yard.mp4'), [
    { frames: 32, blocks: [] },
    { frames: 24, blocks: [THING] },
    { frames: 24, blocks: [] },
  ]);
});
afterAll(() => Promise.all([folder, models].map((made) => rm(made, { recursive: true }))));

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

const environment = () => ({
  ...process.env,
  MODELS_DIR: models,
  DEFAULT_MODEL: 'bundle-tiny',
  DEVICE: 'cpu',
  DATA_DIR: join(folder, 'no-data'),
  FFMPEG,
});

const footage = (args: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { env: environment(), cwd: folder };
    execFile(process.execPath, [main, 'footage', ...args], options, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });

const linesOf = async (...path: string[]): Promise<unknown[]> =>
  (await readFile(join(folder, ...path), 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const changesOf = async (out: string) =>
  (await linesOf(out, 'changes.ndjson')).map((line) => Value.Parse(FootageChangeSchema, line));

const START = ['--start', '2026-06-01T12:00:00Z'];

describe('scenedelta footage', () => {
  it('finds a thing that comes and goes in a video, with sentence, times and pictures', async () => {
    const { status, stdout } = await footage(['yard.mp4', '-d', 'out', ...START, '--every', '1s']);
    expect(status).toBe(0);
    expect(stdout).toContain('20 frames looked at');
    const [appeared, ...others] = await changesOf('out');
    expect(others).toEqual([]);
    expect(appeared).toMatchObject({
      camera: 'camera',
      kind: 'appear',
      caption: 'A green thing has appeared on the right.',
      first_seen: { at: '2026-06-01T12:00:08.000Z', file: 'yard.mp4', seconds: 8 },
      reverted: { seconds: 14 },
    });
    for (const picture of ['before', 'after']) {
      const bytes = await readFile(join(folder, 'out', `pictures/${appeared?.id}-${picture}.jpg`));
      expect(bytes.subarray(0, 2).toString('hex')).toBe('ffd8');
    }
    const stats = await linesOf('out', 'stats.ndjson');
    expect(stats).toHaveLength(20);
    for (const line of stats) expect(Value.Errors(FrameStatsSchema, line)).toEqual([]);
    const compared = stats.filter((line) => (line as { examined: boolean }).examined);
    expect(compared.length).toBeLessThan(10);
    expect(await readFile(join(folder, 'out/changes.vtt'), 'utf8')).toContain('00:00:08.000 --> ');
  });

  it('finds a change in a part of a video, by times, frame numbers and rectangles', async () => {
    const part = async (out: string, ...args: string[]) => {
      const { status, stderr } = await footage(['yard.mp4', '-d', out, ...START, '--every', '1s', '-q', ...args]);
      expect([status, stderr]).toEqual([0, '']);
      return (await changesOf(out)).map(({ kind, first_seen }) => [kind, first_seen.seconds]);
    };
    const right = ['--roi', '0.5,0,0.5,1'];
    expect(await part('part-1', '-st', '00:00:05.000', '-et', '11s', ...right)).toEqual([['appear', 8]]);
    expect(await part('part-2', '-st', '40', '-dt', '8s')).toEqual([['disappear', 14]]);
    expect(await part('part-3', '--roi', '0,0,40,64')).toEqual([]);
  });

  it('names the file that shows a change, although another one begins meanwhile', async () => {
    await cp(join(folder, 'yard.mp4'), join(folder, 'mix/2026-06-01_12-00-00.mp4'));
    await writeFile(join(folder, 'mix/2026-06-01_12-00-05.jpg'), 'no picture');
    const first = { file: 'mix/2026-06-01_12-00-00.mp4', seconds: 8 };
    for (const part of [[], ['-st', '2026-06-01T12:00:06']]) {
      await footage(['mix', '-d', 'out-mix', '--restart', '--tz', 'UTC', '--every', '1s', '-q', ...part]);
      expect(await changesOf('out-mix')).toMatchObject([{ first_seen: first, reverted: { ...first, seconds: 14 } }]);
    }
  });

  it('refuses options that contradict each other or cannot be read, before it works', async () => {
    const refusal = async (...args: string[]) => {
      const { status, stderr } = await footage(['yard.mp4', '-d', 'refused', ...args]);
      return `${status} ${stderr.trim()}`;
    };
    expect(await refusal('--every', 'often')).toBe(
      '2 scenedelta footage: --every "often": expected a duration above 0 as 10s, 500ms, 5m, 2h or HH:MM:SS',
    );
    expect(await refusal('--tz', 'Mars')).toContain('--tz "Mars": expected an IANA time zone');
    expect(await refusal('--start', 'noon')).toContain('--start "noon": expected a time as 2026-06-01T12:00:00');
    expect(await refusal('-et', '5s', '-dt', '5s')).toContain('-et and -dt are both given');
    expect(await refusal('--roi', '90,0,40,64')).toContain('within the frame');
    expect(await refusal('--template', '{date:%Q}')).toContain('%Q, expected one of');
    expect(await refusal('no-such-folder')).toContain('no-such-folder does not exist');
    await expect(stat(join(folder, 'refused'))).rejects.toThrow();
  });
});

/** Frames every 10 s: `night` is a pause of 8 hours, after which the thing is there. */
async function writeFrigateLayout(root: string): Promise<void> {
  const [empty, full] = await Promise.all([
    scene(96, 64).jpeg({ quality: 95 }).toBuffer(),
    scene(96, 64, [THING]).jpeg({ quality: 95 }).toBuffer(),
  ]);
  const put = async (camera: string, at: number, bytes: Buffer) => {
    const [day = '', time = ''] = new Date(at).toISOString().split('T');
    const [hour = '', minute = '', second = ''] = time.split(/[:.]/);
    await mkdir(join(root, day, hour, camera), { recursive: true });
    await writeFile(join(root, day, hour, camera, `${minute}.${second}.jpg`), bytes);
  };
  const evening = Date.UTC(2026, 5, 1, 20);
  const morning = Date.UTC(2026, 5, 2, 4);
  for (let i = 0; i < 30; i++) {
    await put('front', evening + i * 10_000, empty);
    await put('front', morning + i * 10_000, full);
    await put('back', evening + i * 10_000, i < 15 ? empty : full);
    await put('back', morning + i * 10_000, full);
    await put('side', evening + i * 10_000, i < 15 ? empty : full);
    await put('side', morning + i * 10_000, i >= 10 && i < 20 ? full : empty);
  }
  await writeFile(join(root, 'wrong-name.jpg'), empty);
}

describe('folders of frames', () => {
  beforeAll(() => writeFrigateLayout(join(folder, 'frigate')));

  it('takes cameras and times from a recorder layout, and compares nothing across a pause of a night', async () => {
    const { status, stdout } = await footage(['frigate', '-d', 'out-frigate', '--template', 'frigate']);
    expect(status).toBe(0);
    expect(stdout).toContain('failed: frigate/wrong-name.jpg the name does not fit');
    const changes = await changesOf('out-frigate');
    expect(changes.map(({ camera, kind, first_seen: { at, file } }) => ({ camera, kind, at, file }))).toEqual([
      {
        ...{ camera: 'back', kind: 'appear', at: '2026-06-01T20:02:30.000Z' },
        file: 'frigate/2026-06-01/20/back/02.30.jpg',
      },
      {
        ...{ camera: 'side', kind: 'appear', at: '2026-06-01T20:02:30.000Z' },
        file: 'frigate/2026-06-01/20/side/02.30.jpg',
      },
      {
        ...{ camera: 'side', kind: 'appear', at: '2026-06-02T04:01:40.000Z' },
        file: 'frigate/2026-06-02/04/side/01.40.jpg',
      },
    ]);
    expect(changes.map(({ reverted }) => reverted?.at)).toEqual([undefined, undefined, '2026-06-02T04:03:20.000Z']);
    const { gaps, summary } = JSON.parse(await readFile(join(folder, 'out-frigate/changes.json'), 'utf8'));
    expect(gaps).toHaveLength(3);
    expect(gaps[0]).toMatchObject({ camera: 'back', from: { at: '2026-06-01T20:04:50.000Z' } });
    expect(summary.cameras.map(({ frames }: { frames: number }) => frames)).toEqual([60, 60, 60]);
  });

  it('compares across the pause if asked to, and writes all results before too many failures end it', async () => {
    const options = ['--template', 'frigate', '--across-gaps', '--max-failure-rate', '0.001', '-q'];
    const { status, stderr } = await footage(['frigate', '-d', 'out-across', ...options]);
    expect(status).toBe(1);
    expect(stderr).toContain('1 failure in 181 files, expected a share of at most 0.001 (--max-failure-rate)');
    const changes = await changesOf('out-across');
    expect(changes.map(({ camera, first_seen }) => [camera, first_seen.at])).toEqual([
      ['back', '2026-06-01T20:02:30.000Z'],
      ['front', '2026-06-02T04:00:00.000Z'],
      ['side', '2026-06-01T20:02:30.000Z'],
      ['side', '2026-06-02T04:01:40.000Z'],
    ]);
  });

  it('only lists cameras, files and times with --scan-only', async () => {
    const { stdout } = await footage(['frigate', '--template', 'frigate', '--scan-only']);
    expect(stdout).toMatch(/^back\n {2}files {5}0 videos, 60 pictures\n {2}first {5}2026-06-01T20:00:00.000Z frigate/);
    expect(stdout).toMatch(/\n {2}gaps {6}1\n {12}[\d.]+ s from 2026-06-01T\S+Z to 2026-06-02T04:00:00.000Z\n/);
  });
});

describe('a manifest of pairs', () => {
  it('gives one result per line, and the reason of each line that fails', async () => {
    await writeFile(join(folder, 'empty.png'), await scene(96, 64).png().toBuffer());
    await writeFile(join(folder, 'full.png'), await scene(96, 64, [THING]).png().toBuffer());
    const lines = [
      '{"before": "empty.png", "after": "full.png", "id": "first"}',
      'not json',
      '',
      '{"before": "empty.png"}',
      '{"before": "empty.png", "after": "missing.png"}',
      '{"before": "full.png", "after": "empty.png"}',
    ];
    await writeFile(join(folder, 'pairs.ndjson'), lines.join('\n'));
    const { status, stdout } = await footage(['pairs.ndjson', '-d', 'out-pairs']);
    expect([status, stdout]).toEqual([0, '5 pairs, 3 failures\nresults in out-pairs\n']);
    expect(await linesOf('out-pairs', 'comparisons.ndjson')).toEqual([
      expect.objectContaining({ line: 1, id: 'first', finding: expect.objectContaining({ verdict: 'change' }) }),
      expect.objectContaining({ line: 2, code: 'invalid-request', reason: expect.stringContaining('no JSON') }),
      expect.objectContaining({ line: 4, code: 'invalid-request', reason: expect.stringContaining('after') }),
      expect.objectContaining({ line: 5, code: 'not-found', reason: 'after cannot be read (ENOENT)' }),
      expect.objectContaining({ line: 6, finding: expect.objectContaining({ verdict: 'change' }) }),
    ]);
  });
});

describe('interruptions', () => {
  /** 640 pictures, of which every other score shows the thing for a while: changes in every chunk. */
  const frames = 640;
  beforeAll(async () => {
    await mkdir(join(folder, 'many'));
    const [empty, full] = await Promise.all([scene(96, 64).png().toBuffer(), scene(96, 64, [THING]).png().toBuffer()]);
    for (let i = 0; i < frames; i++) {
      const name = `20260601-${new Date(i * 1000).toISOString().slice(11, 19).replaceAll(':', '')}.png`;
      await writeFile(join(folder, 'many', name), Math.floor(i / 20) % 2 === 0 ? empty : full);
    }
  });
  const begin = (out: string) =>
    spawn(process.execPath, [main, 'footage', 'many', '-d', out, '--tz', 'UTC', '-q'], {
      env: environment(),
      cwd: folder,
      stdio: 'ignore',
    });
  const ended = (child: ReturnType<typeof begin>) =>
    new Promise<number | null>((resolve) => child.once('exit', (status) => resolve(status)));
  const checkpointOf = async (out: string) =>
    JSON.parse(await readFile(join(folder, out, '.footage/cameras/many/checkpoint.json'), 'utf8'));
  const atChunk = (out: string, chunk: number) =>
    eventually(async () => expect((await checkpointOf(out)).chunk).toBeGreaterThanOrEqual(chunk), 60_000);
  const filesOf = async (out: string) => {
    const names = await readdir(join(folder, out), { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile() && !join(entry.path, entry.name).includes('.footage'));
    const paths = files.map((entry) => join(entry.path, entry.name)).sort();
    return Promise.all(paths.map(async (path) => [path.replace(out, ''), (await readFile(path)).toString('base64')]));
  };

  it('gives the same bytes after kill -9 in the middle as without it', async () => {
    expect(await ended(begin('whole'))).toBe(0);
    const killed = begin('killed');
    await atChunk('killed', 1);
    killed.kill('SIGKILL');
    await ended(killed);
    expect((await checkpointOf('killed')).done).toBe(false);
    const again = begin('killed');
    await atChunk('killed', 2);
    again.kill('SIGKILL');
    await ended(again);
    expect(await ended(begin('killed'))).toBe(0);
    expect((await changesOf('whole')).length).toBeGreaterThan(10);
    expect(await filesOf('killed')).toEqual(await filesOf('whole'));
  });

  it('writes the results so far at Ctrl-C, and goes on with the same command', async () => {
    const stopped = begin('stopped');
    await atChunk('stopped', 1);
    stopped.kill('SIGINT');
    expect(await ended(stopped)).toBe(130);
    const { summary } = JSON.parse(await readFile(join(folder, 'stopped/changes.json'), 'utf8'));
    expect(summary.complete).toBe(false);
    expect(summary.cameras[0].frames).toBeLessThan(frames);
    expect(await ended(begin('stopped'))).toBe(0);
    const withoutLengths = async (out: string) => (await filesOf(out)).filter(([path]) => path?.includes('changes'));
    expect(await withoutLengths('stopped')).toEqual(await withoutLengths('whole'));
  });

  it('refuses a folder with the run of other inputs unless it is to be dropped', async () => {
    await cp(join(folder, 'whole'), join(folder, 'other'), { recursive: true });
    const args = ['many', '-d', 'other', '--tz', 'UTC', '--every', '5s', '-q'];
    const { status, stderr } = await footage(args);
    expect([status, stderr]).toEqual([2, expect.stringContaining('other has the run of other inputs')]);
    expect((await footage([...args, '--restart'])).status).toBe(0);
    expect(await linesOf('other', 'stats.ndjson')).toHaveLength(frames / 5);
  });
});
