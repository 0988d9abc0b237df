/** The built command as a process, with the small bundle of test/fixtures. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import sharp from 'sharp';
import { Value } from 'typebox/value';
import { type Finding, FindingSchema } from '../../src/schemas/comparison.js';
import { roundFigures } from '../../src/schemas/rounding.js';
import { scene } from '../frames/pictures.js';
import { copyOfTiny, put } from '../model/tiny-bundle.js';
import { street } from '../viewpoint/scenes.js';

// Processes and threads start slowly on a busy machine.
jest.setTimeout(120_000);

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const [before, after, heatmap] = ['before.png', 'after.png', 'maps.png'];
let folder: string;
let models: string;
beforeAll(async () => {
  models = (await copyOfTiny(() => {})).modelsDir;
  folder = await mkdtemp(join(tmpdir(), 'sd-cli-'));
  await writeFile(join(folder, before), await scene(96, 64).png().toBuffer());
  const thing = { x: 64, y: 16, width: 16, height: 16, colour: [60, 250, 80] as const };
  await writeFile(join(folder, after), await scene(96, 64, [thing]).png().toBuffer());
});
afterAll(() => Promise.all([folder, models].map((made) => rm(made, { recursive: true }))));

function scenedelta(
  args: string[],
  modelsDir = models,
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<{ status: number; stdout: string; stderr: string }> {
  const env = {
    ...process.env,
    MODELS_DIR: modelsDir,
    DEFAULT_MODEL: 'bundle-tiny',
    DEVICE: 'cpu',
    ...environment,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env, cwd: folder }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

describe('scenedelta compare', () => {
  it('is in English for a language without sentences, and says so; a region is no other language', async () => {
    const unknown = await scenedelta(['compare', before, after, '--locale', 'nl-BE']);
    expect([unknown.status, unknown.stdout.split('\n')[0]]).toEqual([0, 'A green thing has appeared on the right.']);
    expect(unknown.stderr).toBe('scenedelta: no sentences in "nl-BE", so they are in English\n');
    expect((await scenedelta(['compare', before, after, '--locale', 'de-AT'])).stderr).toBe('');
  });

  it('prints the sentence first, then verdict, kind, place and model', async () => {
    const { status, stdout, stderr } = await scenedelta(['compare', before, after]);
    expect([status, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toBe('A green thing has appeared on the right.');
    expect(lines.slice(2).map((line) => line.split(/\s+/)[0])).toEqual(['verdict', 'kind', 'region', 'model']);
    expect(stdout).toContain('bundle-tiny 0.0.1, cpu');
  });

  it('prints the finding as JSON and writes both frames with outlines side by side', async () => {
    const { stdout } = await scenedelta(['compare', before, after, '--json', '--heatmap', heatmap]);
    const finding = JSON.parse(stdout) as Finding;
    expect(Value.Check(FindingSchema, finding)).toBe(true);
    expect(finding).toEqual(roundFigures(finding));
    expect(Object.keys(finding)).not.toContain('facts');
    const { data, info } = await sharp(join(folder, heatmap)).raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height]).toEqual([96 + 4 + 96, 64]);
    const at = (x: number, y: number) => [...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3)];
    expect(at(72, 24)).toEqual([50, 50, 50]); // no change in before
    const [, green = 0] = at(100 + 72, 24);
    expect(green).toBeGreaterThan(200); // the thing in after is tinted, and stays visible
    const row = Array.from({ length: 96 }, (_, x) => at(100 + x, 24));
    expect(row.some(([r = 0, g = 0, b = 0]) => b > 150 && b > g && g > r)).toBe(true); // a line crosses it
    expect(at(100 + 10, 24)).toEqual([50, 50, 50]);
  });

  it('writes a .jpg as JPEG', async () => {
    await scenedelta(['compare', before, after, '--heatmap', 'maps.jpg']);
    expect((await sharp(join(folder, 'maps.jpg')).metadata()).format).toBe('jpeg');
  });

  it.each([
    ['a folder that is not there', join('no', 'such', heatmap), 'cannot be written (ENOENT)'],
    ['another format', 'maps.gif', 'expected a name that ends in .png, .jpg, .jpeg'],
  ])('refuses %s for the heatmaps before it loads a model', async (_, file, reason) => {
    const { status, stdout, stderr } = await scenedelta(['compare', before, after, '--heatmap', file], 'no-models');
    expect([status, stdout, stderr]).toEqual([2, '', `scenedelta compare: ${file}: ${reason}\n`]);
  });

  it('keeps the optimised graphs in the home of the user, without a DATA_DIR, and sends nothing about them', async () => {
    const temporary = await mkdtemp(join(folder, 'tmp-'));
    // ONNX Runtime sends nothing if CI is set.
    const unset = { CI: undefined, XDG_CACHE_HOME: undefined, ORT_DISABLE_TELEMETRY: undefined };
    const home = { HOME: folder, TMPDIR: temporary, DATA_DIR: join(folder, 'none') };
    await scenedelta(['compare', before, after], models, { ...unset, ...home });
    expect(await readdir(join(folder, '.cache/scenedelta/graphs'))).not.toEqual([]);
    // Its events would wait in folders of its own.
    expect(await readdir(join(folder, '.cache'))).toEqual(['scenedelta']);
    expect(await readdir(temporary)).toEqual([]);
  });

  it('gives tampering as the reason why the model was not asked', async () => {
    const { modelsDir } = await copyOfTiny((manifest) => put(manifest, 'calibration.least_agreement', 1));
    for (const [file, view] of [
      ['road.png', street('a road')],
      ['yard.png', street('another view')],
    ] as const) {
      const { data, width, height } = view;
      await sharp(data, { raw: { width, height, channels: 3 } }).toFile(join(folder, file));
    }
    const { stdout } = await scenedelta(['compare', 'road.png', 'yard.png'], modelsDir);
    await rm(modelsDir, { recursive: true });
    expect(stdout).toMatch(/^verdict +tamper \(probability of tampering /m);
    expect(stdout).toContain('not asked: the camera was tampered with');
  });

  it.each<[string, string[], number, string]>([
    ['one picture', ['compare', before], 2, "scenedelta compare: missing required argument 'after'"],
    [
      'a missing file',
      ['compare', before, 'none.png'],
      1,
      'scenedelta compare: none.png cannot be read (ENOENT), expected a picture',
    ],
    ['an unknown option', ['compare', before, after, '--loud'], 2, "scenedelta compare: unknown option '--loud'"],
    [
      'a bad device',
      ['compare', before, after, '--device', 'tpu'],
      2,
      'scenedelta compare: DEVICE="tpu": expected auto, cpu or cuda:N',
    ],
    ['an unknown model', ['compare', before, after, '--model', 'no-such'], 1, 'which has bundle-tiny)'],
  ])('answers %s with one line', async (_, args, expected, message) => {
    const { status, stderr } = await scenedelta(args);
    expect([status, stderr.trimEnd().split('\n')]).toEqual([expected, [expect.stringContaining(message)]]);
  });
});

describe('scenedelta serve and worker', () => {
  it.each(['serve', 'worker'])('%s takes no options, and does not start with one', async (name) => {
    expect(await scenedelta([name, '--port', '9000'])).toEqual({
      status: 2,
      stdout: '',
      stderr: `scenedelta ${name}: unknown option '--port'\n`,
    });
    expect(await scenedelta([name, '9000'])).toEqual({
      status: 2,
      stdout: '',
      stderr: `scenedelta ${name}: too many arguments for '${name}'. Expected 0 arguments but got 1.\n`,
    });
  });
});

describe('scenedelta evaluate', () => {
  it('writes predictions at full precision, which `scenedelta compare --json` rounds', async () => {
    const pair = { id: 'p', before, after, references: ['a green thing has appeared on the right'] };
    await writeFile(join(folder, 'pairs.ndjson'), JSON.stringify({ ...pair, verdict: 'change', kind: 'appear' }));
    const { stderr } = await scenedelta(['evaluate', 'pairs.ndjson', '--predictions', 'said.ndjson']);
    expect(stderr).not.toContain('scenedelta evaluate:');
    const said = JSON.parse(await readFile(join(folder, 'said.ndjson'), 'utf8')) as Pick<Finding, 'confidence'>;
    const { confidence } = JSON.parse((await scenedelta(['compare', before, after, '--json'])).stdout) as Finding;
    expect(said.confidence).not.toBe(confidence);
    expect(roundFigures(said).confidence).toBe(confidence);
  });
});

describe('scenedelta models', () => {
  it('lists the bundles', async () => {
    const { status, stdout } = await scenedelta(['models']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^bundle-tiny {2}0\.0\.1 {2}hand-made rules {2}MIT {2}[0-9a-f]{12} {2}\(default\)\n$/);
    const [model] = JSON.parse((await scenedelta(['models', '--json'])).stdout) as { name: string }[];
    expect(model).toMatchObject({ name: 'bundle-tiny', licence: 'MIT', training_data: [] });
  });

  it('reports the fault of a broken default bundle, and fails', async () => {
    const { modelsDir } = await copyOfTiny((manifest) => put(manifest, 'colour', 1));
    const { status, stderr } = await scenedelta(['models'], modelsDir);
    await rm(modelsDir, { recursive: true });
    expect(status).toBe(1);
    expect(stderr).toContain('manifest.json: the manifest has the unknown key "colour"');
  });
});
