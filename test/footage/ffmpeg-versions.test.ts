/** Programs that answer and behave as other versions of ffmpeg do. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { jest } from '@jest/globals';
import type { FootageItem } from '../../src/footage/inputs/recording-plan.js';
import { BEGINNING, framesOf } from '../../src/footage/inputs/source-frames.js';
import { parseVersion, passthroughOptions } from '../../src/footage/video/version.js';
import { copyOfTiny } from '../model/tiny-bundle.js';
import { ffmpeg, THING, writeVideo } from './videos.js';

// Processes and threads start slowly on a busy machine.
jest.setTimeout(240_000);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-versions-'));
});
afterAll(() => rm(folder, { recursive: true }));
const { signal } = new AbortController();

/** @param printed first line of `-version`. @param refused option that this version does not have */
async function fake(name: string, printed: string, refused: string): Promise<string> {
  const program = join(folder, name, 'ffmpeg');
  const script = `#!/bin/sh
if [ "$1" = -version ]; then echo '${printed}'; exit 0; fi
for argument; do [ "$argument" = ${refused} ] && { echo "Unrecognized option '${refused}'." >&2; exit 1; }; done
exec ffmpeg "$@"
`;
  await mkdir(join(folder, name));
  await writeFile(program, script, { mode: 0o700 });
  await writeFile(join(folder, name, 'ffprobe'), '#!/bin/sh\nexec ffprobe "$@"\n', { mode: 0o700 });
  return program;
}

it.each([
  ['ffmpeg version 4.2.7-0ubuntu0.1 Copyright (c) 2000-2022 the FFmpeg developers', [4, 2]],
  ['ffmpeg version 5.1.9-0+deb12u1 Copyright (c)', [5, 1]],
  ['ffmpeg version n6.1 Copyright (c)', [6, 1]],
  ['ffmpeg version 7.0-static https://example.org/', [7, 0]],
  ['ffmpeg version 8.0 Copyright (c)', [8, 0]],
  ['ffmpeg version N-118193-g5f38c82536 Copyright (c)', undefined],
  ['ffmpeg version git-2025-01-01-abc', undefined],
])('%s is %j', (printed, version) => expect(parseVersion(printed)).toEqual(version));

it.each([
  ['old', 'ffmpeg version 4.2.7-0ubuntu0.1 Copyright', '-fps_mode'],
  ['middle', 'ffmpeg version 4.4.2 Copyright', '-fps_mode'],
  ['first', 'ffmpeg version 5.1.9 Copyright', '-vsync'],
  ['newest', 'ffmpeg version 8.0 Copyright', '-vsync'],
  ['unreleased', 'ffmpeg version N-118193-g5f38c82536 Copyright', '-vsync'],
])('the %s one decodes all frames (%s, without %s)', async (name, printed, refused) => {
  const path = join(folder, `${name}.mp4`);
  await ffmpeg(['-f', 'lavfi', '-i', 'testsrc=size=96x64:rate=5:duration=4', '-c:v', 'libx264', path]);
  const program = await fake(name, printed, refused);
  const item: FootageItem = { kind: 'video', file: `${name}.mp4`, location: { from: 'file', path }, at: 0 };
  const range = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
  const events = framesOf({ camera: 'yard', items: [item], range, endsAt: 0, gapMs: 60_000 }, BEGINNING, {
    ...{ ffmpeg: program, ffmpegHwaccel: 'none', videoPixelLimit: 1e6, frameLimit: 1e6 },
    every: { mode: 'seconds', seconds: 1, exact: true },
    materialize: async () => ({ path, release: async () => {} }),
    signal,
  });
  const times: number[] = [];
  for await (const event of events) {
    if (event.type === 'failure') throw event.error;
    if (event.type !== 'frame') continue;
    times.push(event.frame.at / 1000);
    event.frame.release();
  }
  expect(times).toEqual([0, 1, 2, 3]);
});

it.each(['ffmpeg version 4.1.11', 'ffmpeg version 3.4.13-0ubuntu1'])('%s is refused in one line', async (printed) => {
  const program = await fake(printed.slice(-6), printed, '-none');
  await expect(passthroughOptions(program, signal)).rejects.toMatchObject({
    code: 'not-found',
    message: expect.stringMatching(/is version \d\.\d+, expected 4\.2 or a later version \(setting FFMPEG\)$/),
  });
});

it('a program that does not exist is named', async () => {
  await expect(passthroughOptions(join(folder, 'none'), signal)).rejects.toMatchObject({ code: 'not-found' });
});

it('scenedelta footage finds the change with version 5.0, and names the version that it needs with 4.1', async () => {
  await writeVideo(join(folder, 'yard.mp4'), [
    { frames: 12, blocks: [] },
    { frames: 12, blocks: [THING] },
  ]);
  const { modelsDir: models } = await copyOfTiny(() => {});
  const footage = (out: string, program: string) =>
    new Promise<string>((done) => {
      const env = {
        ...process.env,
        ...{ MODELS_DIR: models, DEFAULT_MODEL: 'bundle-tiny', DEVICE: 'cpu', DATA_DIR: folder, FFMPEG: program },
      };
      const args = ['footage', 'yard.mp4', '-d', out, '--start', '2026-06-01T12:00:00Z', '--every', '1s'];
      execFile(
        process.execPath,
        [resolve('dist/cli/main.js'), ...args],
        { env, cwd: folder },
        (error, stdout, stderr) => done(`${error?.code ?? 0} ${stdout}${stderr}`),
      );
    });
  const last = await fake('last', 'ffmpeg version 5.0.3 Copyright', '-fps_mode');
  expect(await footage('out', last)).toMatch(/^0 .*\b0 failures/s);
  const { changes } = JSON.parse(await readFile(join(folder, 'out/changes.json'), 'utf8'));
  expect(changes).toMatchObject([{ kind: 'appear', first_seen: { seconds: 3 } }]);
  const tooOld = await fake('too-old', 'ffmpeg version 4.1.11 Copyright', '-none');
  expect(await footage('refused', tooOld)).toMatch(
    /^1 scenedelta footage: \S+ is version 4\.1, expected 4\.2 or a later version \(setting FFMPEG\)\n$/,
  );
  await rm(models, { recursive: true });
});
