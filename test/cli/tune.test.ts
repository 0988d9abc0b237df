/** The built command as a process, with the small bundle of test/fixtures. */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { loadBundle } from '../../src/model/manifest.js';
import { scene } from '../frames/pictures.js';
import { copyOfTiny } from '../model/tiny-bundle.js';

// Processes and threads start slowly on a busy machine.
jest.setTimeout(120_000);

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
let folder: string;
let models: string;
beforeAll(async () => {
  models = (await copyOfTiny(() => {})).modelsDir;
  folder = await mkdtemp(join(tmpdir(), 'sd-tune-'));
  const thing = (level: number) => ({
    ...{ x: 64, y: 16, width: 16, height: 16 },
    colour: [level, level, level] as const,
  });
  await writeFile(join(folder, 'before.png'), await scene(96, 64).png().toBuffer());
  // By the formula of the bundle: log-odds of a change about 0.5, and 6.
  await writeFile(
    join(folder, 'faint.png'),
    await scene(96, 64, [thing(100)])
      .png()
      .toBuffer(),
  );
  await writeFile(
    join(folder, 'plain.png'),
    await scene(96, 64, [thing(250)])
      .png()
      .toBuffer(),
  );
});
afterAll(() => Promise.all([folder, models].map((made) => rm(made, { recursive: true }))));

function tune(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const env = { ...process.env, MODELS_DIR: models, DEFAULT_MODEL: 'bundle-tiny', DEVICE: 'cpu' };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'tune', ...args], { env, cwd: folder }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** Writes a manifest. Equal pictures under other paths, because equal frames count once. */
async function feedback(name: string, lines: readonly { after: string; verdict: 'change' | 'none' }[]) {
  const written = lines.map(({ after, verdict }, i) =>
    JSON.stringify({
      ...{ id: `chg_${1000 + i}`, before: `${'./'.repeat(i)}before.png`, after, verdict, scene: 'gate' },
      ...{ references: ['a thing has appeared'], caption: 'a thing has appeared' },
    }),
  );
  await writeFile(join(folder, name), written.map((line) => `${line}\n`).join(''));
  return name;
}

const alternating = Array.from({ length: 60 }, (_, i) =>
  i % 2 === 0 ? { after: 'plain.png', verdict: 'change' as const } : { after: 'faint.png', verdict: 'none' as const },
);

describe('scenedelta tune', () => {
  it('writes a bundle that states fewer false alarms', async () => {
    const file = await feedback('alternating.ndjson', alternating);
    const { status, stdout, stderr } = await tune('--feedback', file, '--out', 'mine', '--json', 'report.json');
    // On a busy machine it shows its progress.
    expect([status, stderr.replace(/^\d+\/\d+ pairs after \d+ s\n/gm, '')]).toEqual([0, '']);
    expect(stdout).toContain('kept  probability of a change');
    const { manifest } = await loadBundle(join(folder, 'mine'));
    const source = await loadBundle(join(models, 'bundle-tiny'));
    expect(manifest).toMatchObject({ name: 'mine', version: expect.stringMatching(/^0\.0\.1-tuned\.[0-9a-f]{8}$/) });
    expect(manifest.tuned?.from).toEqual({ name: 'bundle-tiny', version: '0.0.1', sha256: source.sha256 });
    expect(manifest.tuned?.feedback).toMatchObject({ used: 60, contradictory: 0 });
    const border = -manifest.calibration.change.offset / manifest.calibration.change.scale;
    expect(border).toBeGreaterThan(0.5);
    expect(border).toBeLessThan(6);
    expect(JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'))).toMatchObject({ checked: 0 });
    // Nothing temporary remains, and a second tuning replaces nothing unless it is asked to.
    expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([]);
    const again = await tune('--feedback', file, '--out', 'mine');
    expect([again.status, again.stderr]).toEqual([2, expect.stringContaining(`the tuned bundle ${manifest.version};`)]);
    expect((await tune('--feedback', file, '--out', 'mine', '--replace')).status).toBe(0);
    const fewer = await feedback('fewer.ndjson', alternating.slice(4));
    expect((await tune('--feedback', fewer, '--out', 'new/parent/mine')).status).toBe(0);
    const other = await loadBundle(join(folder, 'new/parent/mine'));
    const first = await loadBundle(join(folder, 'mine'));
    expect(new Set([first.sha256, other.sha256, source.sha256]).size).toBe(3);
    expect(other.manifest.version).not.toBe(first.manifest.version);
  });

  it('keeps nothing that makes the check pairs worse', async () => {
    const file = await feedback('alternating.ndjson', alternating);
    const checks = Array.from({ length: 4 }, (_, i) =>
      JSON.stringify({
        ...{ id: `${i}`, before: 'before.png', after: 'faint.png', verdict: 'change', kind: 'appear' },
        references: ['a thing has appeared'],
      }),
    );
    await writeFile(join(folder, 'checks.ndjson'), `${checks.join('\n')}\n`);
    const { status, stdout } = await tune('--feedback', file, '--out', 'other', '--check', 'checks.ndjson');
    expect([status, stdout]).toEqual([1, expect.stringContaining('the check pairs lose: verdict 100.0 % -> 0.0 %')]);
    await expect(access(join(folder, 'other'))).rejects.toThrow('ENOENT');
  });

  it('learns nothing from feedback of one kind, and exits with 1', async () => {
    const right = alternating.map(() => ({ after: 'plain.png', verdict: 'change' as const }));
    const { status, stdout } = await tune('--feedback', await feedback('right.ndjson', right), '--out', 'none');
    expect(status).toBe(1);
    expect(stdout).toContain('0 false alarms to learn from, expected 5');
    expect(stdout).toContain('nothing was accepted: no bundle is written');
  });

  it('refuses feedback of which no frame is left', async () => {
    const gone = alternating.map(({ verdict }) => ({ after: 'gone.png', verdict }));
    const { status, stderr } = await tune('--feedback', await feedback('gone.ndjson', gone), '--out', 'none');
    expect([status, stderr]).toEqual([2, expect.stringContaining('no feedback that counts (60 frames missing)')]);
  });

  it.each([
    [['--out', 'UPPER'], 2, 'the bundle is named like its folder'],
    [['--out', 'taken'], 2, 'is there already, and is no tuned bundle'],
    [['--out', 'none', '--most', '0'], 2, '--most 0: expected a whole number'],
    [['--out', 'none', '--bundle', 'missing'], 1, 'missing'],
  ])('refuses %j', async (args, expected, message) => {
    await mkdir(join(folder, 'taken'), { recursive: true });
    const file = await feedback('alternating.ndjson', alternating);
    const { status, stderr } = await tune('--feedback', file, ...args);
    expect([status, stderr]).toEqual([expected, expect.stringContaining(message)]);
  });
});
