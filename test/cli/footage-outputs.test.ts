import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from '../../src/frames/sharp.js';
import { change, moment, recording } from '../footage/records.js';

// The compiled program, because the report needs its compiled page.
const { writeOutputs } = await import(`${process.cwd()}/dist/cli/footage/output-files.js`);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-outputs-'));
});
afterEach(() => rm(folder, { recursive: true }));

const videos = (...files: string[]) => {
  const made = recording([change(1, { first_seen: moment(5, files[0]) })]);
  const cameras = made.summary.cameras.map((camera) => ({
    ...camera,
    files: files.map((file) => ({ file, at: null, duration: 60 })),
  }));
  return { ...made, summary: { ...made.summary, cameras } };
};

it('writes every output, and leaves no temporary file', async () => {
  const names = await writeOutputs(folder, videos('yard.mp4'));
  expect(names).toEqual([
    'changes.ndjson',
    'visits.ndjson',
    'changes.csv',
    'changes.json',
    'changes.vtt',
    'report.html',
  ]);
  expect((await readdir(folder)).sort()).toEqual([...names].sort());
  expect(await readFile(join(folder, 'changes.vtt'), 'utf8')).toContain('a person in red');
  expect(await readFile(join(folder, 'report.html'), 'utf8')).toContain('</html>');
});

it('gives each of several videos its own captions, also if their names are the same or strange', async () => {
  const names: string[] = await writeOutputs(
    folder,
    videos('a/12.mp4', 'b/12.mp4', '../../..', 'x/é "?.mkv', 'A/12.MOV'),
  );
  expect(names.filter((name) => name.endsWith('.vtt'))).toEqual([
    'vtt/12.vtt',
    'vtt/12-2.vtt',
    'vtt/video.vtt',
    'vtt/é_.vtt',
    'vtt/12-3.vtt',
  ]);
  expect(await readFile(join(folder, 'vtt/12.vtt'), 'utf8')).toContain('a person in red');
  expect(await readFile(join(folder, 'vtt/12-2.vtt'), 'utf8')).not.toContain('a person in red');
});

it('has no captions for a folder of images', async () => {
  const made = videos('1.jpg');
  const cameras = made.summary.cameras.map((camera) => ({
    ...camera,
    files: [{ file: '1.jpg', at: null, duration: null }],
  }));
  const names: string[] = await writeOutputs(folder, { ...made, summary: { ...made.summary, cameras } });
  expect(names.filter((name) => name.endsWith('.vtt'))).toEqual([]);
});

it('embeds pictures of its own folder, and reads none outside of it', async () => {
  const picture = await sharp({ create: { width: 32, height: 32, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer();
  const out = join(folder, 'out');
  await mkdir(join(out, 'pictures'), { recursive: true });
  await writeFile(join(out, 'pictures/a.jpg'), picture);
  await writeFile(join(folder, 'secret.jpg'), picture);
  const pictures = { before: 'pictures/a.jpg', after: '../secret.jpg' };
  await writeOutputs(out, recording([change(1, { pictures })]));
  expect((await readFile(join(out, 'report.html'), 'utf8')).match(/id="picture-/g)).toHaveLength(1);
});

it('names the file that cannot be written', async () => {
  await mkdir(join(folder, 'changes.csv'));
  await expect(writeOutputs(folder, recording([]))).rejects.toThrow(
    `${join(folder, 'changes.csv')}: cannot be written (EISDIR)`,
  );
});
