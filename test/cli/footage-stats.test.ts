/** `scenedelta footage --clips` and `--from-stats` as processes, on a tiny video with the bundle of test/fixtures. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { jest } from '@jest/globals';
import { FFMPEG, THING, writeVideo } from '../footage/videos.js';
import { copyOfTiny } from '../model/tiny-bundle.js';

// Processes and threads start slowly on a busy machine.
jest.setTimeout(240_000);

const main = resolve('dist/cli/main.js');
let folder: string;
let models: string;
interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}
const footage = (...args: string[]): Promise<Ended> =>
  new Promise((done) => {
    const env = {
      ...process.env,
      ...{ MODELS_DIR: models, DEFAULT_MODEL: 'bundle-tiny', DEVICE: 'cpu', DATA_DIR: join(folder, 'data'), FFMPEG },
    };
    execFile(process.execPath, [main, 'footage', ...args], { env, cwd: folder }, (error, stdout, stderr) => {
      done({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
const linesOf = async (file: string): Promise<Record<string, unknown>[]> =>
  (await readFile(join(folder, file), 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

let recorded: Ended;
beforeAll(async () => {
  models = (await copyOfTiny(() => {})).modelsDir;
  folder = await mkdtemp(join(tmpdir(), 'sd-stats-'));
  // 40 s: empty, from 20 s on with a thing, from 30 s on empty again
  await writeVideo(join(folder, 'yard.mp4'), [
    { frames: 80, blocks: [] },
    { frames: 40, blocks: [THING] },
    { frames: 40, blocks: [] },
  ]);
  const privacy = {
    zones: [
      {
        id: 'p',
        type: 'privacy',
        polygon: [
          [0, 0],
          [0.1, 0],
          [0, 0.1],
        ],
      },
    ],
  };
  await writeFile(join(folder, 'privacy.json'), JSON.stringify(privacy));
  await writeFile(join(folder, 'late.json'), JSON.stringify({ alerts: { confirm_frames: 4 } }));
  await writeFile(join(folder, 'previous.json'), JSON.stringify({ before: 'previous' }));
  const start = ['--start', '2026-06-01T12:00:00Z', '--tz', 'Asia/Tokyo'];
  recorded = await footage('yard.mp4', '-d', 'out', ...start, '--every', '1s', '--clips', '-q');
});
afterAll(() => Promise.all([folder, models].map((made) => rm(made, { recursive: true }))));

it('scenedelta footage --tz also decides the time zone of the report', async () => {
  const { summary } = JSON.parse(await readFile(join(folder, 'out/changes.json'), 'utf8'));
  expect(summary.cameras[0].timezone).toBe('Asia/Tokyo');
  expect(await readFile(join(folder, 'out/report.html'), 'utf8')).toContain('"when":"2026-06-01 21:00:20 Asia/Tokyo"');
});

describe('scenedelta footage --clips', () => {
  it('cuts a clip per change, from some seconds before it', async () => {
    expect(recorded).toMatchObject({ status: 0, stderr: '' });
    const [change] = await linesOf('out/changes.ndjson');
    expect(change?.clip).toBe(`clips/${change?.id}.mp4`);
    const probe = [
      '-v',
      'error',
      '-show_entries',
      'format=duration',
      '-of',
      'csv=p=0',
      join(folder, 'out', String(change?.clip)),
    ];
    const { stdout } = await promisify(execFile)(FFMPEG.replace(/ffmpeg$/, 'ffprobe'), probe);
    // 5 s before the change, and at least 5 s after its first frame.
    expect(Number(stdout)).toBeGreaterThan(9);
    expect(Number(stdout)).toBeLessThan(20);
  });

  it('is refused with privacy zones, which clips would not hide', async () => {
    const { status, stderr } = await footage('yard.mp4', '-d', 'other', '--clips', '-c', 'privacy.json');
    expect(status).toBe(2);
    expect(stderr).toContain('the settings have privacy zones');
  });
});

describe('scenedelta footage --from-stats', () => {
  it('with the same settings prints the alerts of the recorded changes, and how many there are per day', async () => {
    const { status, stdout, stderr } = await footage('out', '-d', 'same', '--from-stats');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout.split('\n')[0]).toMatch(
      /^camera: 2 alerts in 0\.0 h of footage \(\d+ per day\), 0 suppressed, 1 change(?!s)/,
    );
    expect(stdout).toContain('change.opened (medium): A green thing has appeared on the right.');
    const [change, same] = [await linesOf('out/changes.ndjson'), await linesOf('same/changes.ndjson')];
    const times = (records: Record<string, unknown>[]) =>
      records.map(({ id, kind, first_seen, confirmed, reverted }) => ({ id, kind, first_seen, confirmed, reverted }));
    expect(times(same)).toEqual(times(change));
    expect((await linesOf('same/alerts.ndjson')).map(({ type }) => type)).toEqual(['change.opened', 'change.reverted']);
    expect(JSON.parse(await readFile(join(folder, 'same/dry-run.json'), 'utf8'))).toMatchObject({
      v: 1,
      cameras: [{ camera: 'camera', frames: 40, alerts: 2, changes: 1 }],
    });
  });

  it('applies a zone, more frames to confirm, and a stricter threshold', async () => {
    const elsewhere = await footage('out/stats.ndjson', '-d', 'elsewhere', '--from-stats', '--roi', '0,0.5,0.3,0.5');
    expect(elsewhere.stdout).toContain('camera: 0 alerts');
    const late = await footage('out', '-d', 'late', '--from-stats', '-c', 'late.json');
    expect(late.stdout).toContain('2026-06-01T12:00:23.000Z change.opened');
  });

  it('says that privacy zones need a new run', async () => {
    const { status, stderr } = await footage('out', '-d', 'hidden', '--from-stats', '-c', 'privacy.json');
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^scenedelta footage: privacy zones hide nothing in/)]);
  });

  it('refuses evidence against another "before", a broken line, and the folder of the run itself', async () => {
    const previous = await footage('out', '-d', 'previous', '--from-stats', '-c', 'previous.json');
    expect(previous).toMatchObject({ status: 1, stderr: expect.stringContaining('expected "memory"') });
    const [first] = await linesOf('out/stats.ndjson');
    await writeFile(join(folder, 'broken.ndjson'), `${JSON.stringify(first)}\n{"v":1}\n`);
    const broken = await footage('broken.ndjson', '-d', 'broken', '--from-stats');
    expect(broken).toMatchObject({ status: 2, stderr: expect.stringContaining('broken.ndjson:2: ') });
    const overItself = await footage('out', '-d', 'out', '--from-stats');
    expect(overItself).toMatchObject({ status: 2, stderr: expect.stringContaining('expected another -d') });
  });

  it('says in one line what its options miss', async () => {
    const folderless = await footage('out', '--from-stats');
    expect([folderless.status, folderless.stderr]).toEqual([
      2,
      'scenedelta footage: expected -d, --output-dir <folder>\n',
    ]);
    for (const args of [['out', '--from-stats'], ['pairs.ndjson']]) {
      const { status, stderr } = await footage(...args, '--scan-only');
      expect([status, stderr]).toEqual([
        2,
        expect.stringMatching(/^scenedelta footage: --scan-only: expected rec.*\n$/),
      ]);
    }
  });
});
