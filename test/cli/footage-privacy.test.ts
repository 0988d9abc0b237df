/** Privacy zones in footage: `scenedelta footage` and `scenedelta when` write no pixel of them into any file. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { jest } from '@jest/globals';
import sharp from 'sharp';
import { FramePreviews } from '../../src/footage/run/frame-previews.js';
import { FFMPEG, THING, writeVideo } from '../footage/videos.js';
import { type Block, scene } from '../frames/pictures.js';
import { brightest } from '../helpers/brightest.js';
import { copyOfTiny } from '../model/tiny-bundle.js';

// Processes and threads start slowly on a busy machine.
jest.setTimeout(240_000);

const main = resolve('dist/cli/main.js');
let folder: string;
let models: string;
/** Something bright that moves every second in what the zone hides. */
const secret = (second: number): Block => ({ x: 2, y: 4 + 3 * second, width: 14, height: 8, colour: [255, 200, 255] });
/** Width over height of the frames. */
const SHAPE = 96 / 64;
/** The strip in which nothing but black may be seen: coding blurs the edge of what is painted. */
const HIDDEN = { x: 0, y: 0, width: 0.2, height: 1 };
const ZONE = {
  id: 'neighbour',
  type: 'privacy',
  polygon: [
    [0, 0],
    [0.2, 0],
    [0.2, 1],
    [0, 1],
  ],
};

beforeAll(async () => {
  models = (await copyOfTiny(() => {})).modelsDir;
  folder = await mkdtemp(join(tmpdir(), 'sd-privacy-'));
  const part = (from: number, to: number, blocks: readonly Block[]) =>
    Array.from({ length: to - from }, (_, i) => ({ frames: 4, blocks: [...blocks, secret(from + i)] }));
  await writeVideo(join(folder, 'yard.mp4'), [...part(0, 8, []), ...part(8, 16, [THING])]);
  for (let second = 0; second < 16; second++) {
    const blocks = [...(second < 8 ? [] : [THING]), secret(second)];
    const name = `shot-${String(second).padStart(2, '0')}.png`;
    await writeFile(join(folder, name), await scene(96, 64, blocks).png().toBuffer());
  }
  await writeFile(join(folder, 'camera.json'), JSON.stringify({ zones: [ZONE] }));
});
afterAll(() => Promise.all([folder, models].map((made) => rm(made, { recursive: true }))));

const run = (...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> =>
  new Promise((done) => {
    const env = {
      ...process.env,
      ...{ MODELS_DIR: models, DEFAULT_MODEL: 'bundle-tiny', DEVICE: 'cpu', DATA_DIR: join(folder, 'data'), FFMPEG },
    };
    execFile(process.execPath, [main, ...args], { env, cwd: folder }, (error, stdout, stderr) => {
      done({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });

/** @returns all files below a folder */
async function filesIn(name: string): Promise<{ path: string; bytes: Buffer }[]> {
  const entries = await readdir(join(folder, name), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(paths.map(async (path) => ({ path, bytes: await readFile(path) })));
}
/** @returns whether a pixel has the colour of what the zone hides, which nothing else has */
async function showsSecret(picture: Buffer): Promise<boolean> {
  const data = await sharp(picture).removeAlpha().raw().toBuffer();
  return data.some((red, i) => i % 3 === 0 && red > 200 && (data[i + 2] ?? 0) > 200);
}
const isPicture = (bytes: Buffer): boolean => bytes[0] === 0xff || bytes.subarray(1, 4).toString() === 'PNG';
const START = ['--start', '2026-06-01T12:00:00Z'];

describe.each([
  ['a video', 'yard.mp4'],
  ['pictures', 'shot-%02d.png'],
])('scenedelta footage with a privacy zone, over %s', (_, input) => {
  const out = `out-${input.slice(0, 4)}`;
  it('finds the change outside of it, and writes pictures that are black in it', async () => {
    const { status, stderr } = await run(
      'footage',
      input,
      '-d',
      out,
      ...START,
      '--every',
      '1s',
      '-q',
      '-c',
      'camera.json',
    );
    expect([status, stderr]).toEqual([0, '']);
    const { changes, summary } = JSON.parse(await readFile(join(folder, out, 'changes.json'), 'utf8'));
    expect(changes).toMatchObject([{ kind: 'appear', caption: 'A green thing has appeared on the right.' }]);
    // Motion in the zone keeps no frame from being quiet.
    expect(summary.cameras[0].examined).toBeLessThan(8);
    const pictures = (await filesIn(out)).filter(({ bytes }) => isPicture(bytes));
    expect(pictures.length).toBeGreaterThanOrEqual(3);
    for (const { bytes } of pictures) expect(await brightest(bytes, HIDDEN)).toBeLessThan(10);
  });

  it('embeds pictures into the report that are black in it', async () => {
    const page = await readFile(join(folder, out, 'report.html'), 'utf8');
    const embedded = [...page.matchAll(/\/9j\/[A-Za-z0-9+/=]{100,}/g)].map(([text]) => text);
    expect(embedded.length).toBeGreaterThanOrEqual(2);
    for (const text of embedded) {
      const bytes = Buffer.from(text, 'base64');
      const { width, height } = await sharp(bytes).metadata();
      expect(await showsSecret(bytes)).toBe(false);
      // A crop around the change begins beside the strip.
      if (Math.abs(width / height - SHAPE) < 0.05) expect(await brightest(bytes, HIDDEN)).toBeLessThan(10);
    }
  });

  it('saves previews with its checkpoint that are black in it', async () => {
    const saved = (await filesIn(`${out}/.footage`)).filter(({ path }) => path.includes('previews'));
    expect(saved).toHaveLength(1);
    const previews = new FramePreviews();
    expect(previews.restore('previews/a', saved[0]?.bytes as Buffer)).toBe(true);
    const preview = await previews.load({ sha256: 'a' } as never);
    if (preview === null) throw new Error('no preview');
    const { width, height, luma, chroma } = preview;
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < 0.2 * width; x++) expect(luma[y * width + x]).toBe(0);
      for (let x = 0; x < 0.1 * width && y < height / 2 - 1; x++) {
        expect(chroma?.red[y * Math.floor(width / 2) + x]).toBe(128);
      }
    }
    expect(Math.max(...luma)).toBeGreaterThan(30);
  });
});

describe('scenedelta when -c with a privacy zone', () => {
  it.each(['yard.mp4', 'shot-%02d.png'])('writes both frames of %s black in it', async (input) => {
    const out = `when-${input.slice(0, 4)}`;
    const args = [input, '--roi', '60,12,24,24', ...START, '--covered', '2s', '-c', 'camera.json', '-d', out, '--json'];
    const { status, stdout, stderr } = await run('when', ...args);
    expect([status, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout).changed).toMatchObject({ before: { at: '2026-06-01T12:00:07.000Z' }, exact: true });
    for (const side of ['before', 'after']) {
      const bytes = await readFile(join(folder, out, `changed-${side}.jpg`));
      expect(await brightest(bytes, HIDDEN)).toBeLessThan(10);
      expect(await brightest(bytes, { x: 0.6, y: 0, width: 0.4, height: 1 })).toBeGreaterThan(30);
    }
  });

  it('refuses a place that the zone hides', async () => {
    const { status, stderr } = await run('when', 'yard.mp4', '--roi', '0,0,10,10', ...START, '-c', 'camera.json');
    expect([status, stderr]).toEqual([2, expect.stringContaining('the place lies in a privacy zone')]);
  });
});
