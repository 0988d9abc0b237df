/** Hardware decoders, with a program that has one: it decodes with the CPU, and reports what drivers report. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BEGINNING, framesOf } from '../../src/footage/inputs/source-frames.js';
import { hardwareDecoder } from '../../src/footage/video/hardware.js';
import type { Config } from '../../src/process/config.js';
import { ffmpeg } from './videos.js';

let folder: string;
let video: string;
const { signal } = new AbortController();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-hardware-'));
  video = join(folder, 'yard.mp4');
  await ffmpeg(['-f', 'lavfi', '-i', 'testsrc=size=96x64:rate=5:duration=4', '-c:v', 'libx264', '-g', '5', video]);
});
afterAll(() => rm(folder, { recursive: true }));

/** @param device the only one that can be opened @returns ffmpeg; `limit` and `arguments` of decodings are beside it */
async function programWith(device: string): Promise<string> {
  const program = join(folder, device, 'ffmpeg');
  const script = `#!/bin/sh
last=
for argument; do
  if [ "$last" = -init_hw_device ]; then
    [ "$argument" = ${device} ] && exit 0
    echo "Device creation failed: -1." >&2; exit 1
  fi
  last=$argument
done
[ "$1" = -version ] && { echo 'ffmpeg version 5.1.9 Copyright'; exit 0; }
here=$(dirname "$0"); ulimit -v > "$here/limit"; echo "$@" > "$here/arguments"
echo "[h264 @ 0x1] [error] No support for codec h264 profile 110." >&2
count=$#
while [ $count -gt 0 ]; do
  argument=$1; shift; count=$((count - 1))
  if [ "$argument" = -hwaccel ]; then shift; count=$((count - 1)); else set -- "$@" "$argument"; fi
done
exec ffmpeg "$@"
`;
  await mkdir(join(folder, device));
  await writeFile(program, script, { mode: 0o700 });
  await writeFile(join(folder, device, 'ffprobe'), '#!/bin/sh\nexec ffprobe "$@"\n', { mode: 0o700 });
  return program;
}

async function decode(program: string, ffmpegHwaccel: Config['ffmpegHwaccel']) {
  const range = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
  const items = [{ kind: 'video' as const, file: 'yard.mp4', location: { from: 'file' as const, path: video }, at: 0 }];
  const events = framesOf({ camera: 'yard', items, range, endsAt: 0, gapMs: 60_000 }, BEGINNING, {
    ...{ ffmpeg: program, ffmpegHwaccel, videoPixelLimit: 1e6, frameLimit: 1e6, signal },
    every: { mode: 'seconds', seconds: 1, exact: true },
    materialize: async () => ({ path: video, release: async () => {} }),
  });
  const frames: number[] = [];
  for await (const event of events) {
    if (event.type === 'failure') throw event.error;
    if (event.type === 'damage') throw event.damage.error;
    if (event.type !== 'frame') continue;
    frames.push(event.frame.at / 1000);
    event.frame.release();
  }
  const [limit, given] = await Promise.all(
    ['limit', 'arguments'].map((name) => readFile(join(program, '..', name), 'utf8')),
  );
  return { frames, limit: limit?.trim(), given };
}

it('auto takes the one that can be opened, and what its driver reports before the first frame is no damage', async () => {
  const program = await programWith('vaapi');
  expect(await decode(program, 'auto')).toEqual({
    frames: [0, 1, 2, 3],
    // Drivers of GPUs reserve more than the limit that the decoder of the CPU has.
    limit: 'unlimited',
    given: expect.stringContaining(' -hwaccel vaapi '),
  });
});

it('a kind that cannot be opened is refused with the reason; auto and none leave the decoding to the CPU', async () => {
  const program = await programWith('drm');
  await expect(hardwareDecoder(program, 'cuda', signal)).rejects.toMatchObject({
    code: 'not-found',
    message:
      `FFMPEG_HWACCEL cuda: ${program} cannot use it (Device creation failed: -1.), ` +
      'expected auto, none or another kind',
  });
  expect(await hardwareDecoder(program, 'auto', signal)).toBeNull();
  expect(await hardwareDecoder('/no/program', 'none', signal)).toBeNull();
});

it('with the CPU, an error before the first frame is damage', async () => {
  const program = await programWith('none');
  await expect(decode(program, 'none')).rejects.toThrow('is damaged from 0.00 s');
});
