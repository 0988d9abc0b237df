/** Videos that are damaged, hostile or unusual: each fails with its reason, or is sampled as it should be. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { ScenedeltaError } from '../../src/base/errors.js';
import type { Every } from '../../src/footage/inputs/recording-plan.js';
import { probeVideo, timeOfFrame } from '../../src/footage/video/probe.js';
import { run } from '../../src/footage/video/run.js';
import { wrapFfmpeg } from '../helpers/ffmpeg-wrapper.js';
import { SECOND, START, videosIn } from './read-videos.js';
import { FFMPEG, ffmpeg, THING, writeVideo } from './videos.js';

jest.setTimeout(240_000);

const folder = mkdtempSync(join(tmpdir(), 'sd-videos-'));
const { item, read, pattern } = videosIn(folder);
afterAll(() => rm(folder, { recursive: true }));

const failureOf = async (file: string): Promise<string> => {
  const { failures } = await read([item(file)]);
  expect(failures).toHaveLength(1);
  return failures[0] as string;
};

describe('files that are no usable video', () => {
  it('refuses a text, an empty file and a missing one', async () => {
    await Promise.all([writeFile(join(folder, 'text.mp4'), 'no video'), writeFile(join(folder, 'empty.mp4'), '')]);
    expect(await failureOf('text.mp4')).toMatch(/^image-unreadable: cannot be read as a video/);
    expect(await failureOf('empty.mp4')).toBe('image-unreadable: has zero bytes');
    expect(await failureOf('missing.mp4')).toBe('not-found: cannot be read (ENOENT)');
  });

  it.each([
    ['both.mp4', 'with sound', ['-f', 'lavfi', '-i', 'sine=d=4', '-pix_fmt', 'yuv420p']],
    ['bare.mjpeg', 'of JPEGs one after the other', ['-f', 'mjpeg']],
  ])('reads the video of %s, a file %s, and reports nothing', async (file, _, options) => {
    await ffmpeg(['-f', 'lavfi', '-i', 'testsrc2=s=96x64:r=25:d=4', ...options, join(folder, file)]);
    expect(await read([item(file)])).toMatchObject({ times: [0, 1, 2, 3], failures: [] });
  });

  it('stops at pictures that grow beyond the limit after the header', async () => {
    await pattern('small.ts', '96x64', 20, 4, ['-crf', '1', '-g', '4']);
    await pattern('huge.ts', '4096x4096', 4, 1, ['-output_ts_offset', '20']);
    const [small, huge] = await Promise.all(['small.ts', 'huge.ts'].map((file) => readFile(join(folder, file))));
    await writeFile(join(folder, 'grows.ts'), Buffer.concat([small as Buffer, huge as Buffer]));
    const { sizes, failures } = await read([item('grows.ts')]);
    expect(new Set(sizes)).toEqual(new Set(['96x64']));
    expect(failures.length).toBeGreaterThan(0);
  });

  it('refuses a file with sound only', async () => {
    await ffmpeg(['-f', 'lavfi', '-i', 'sine=d=1', join(folder, 'sound.mp4')]);
    expect(await failureOf('sound.mp4')).toBe('image-unreadable: has no video stream (of 1 streams)');
  });

  it('refuses more pixels than the limit before it decodes any', async () => {
    await pattern('8k.mp4', '7680x4320', 0.04, 25);
    expect(await failureOf('8k.mp4')).toBe(
      'image-too-large: has pictures of 7680x4320 px, expected at most 9437184 px in all (VIDEO_PIXEL_LIMIT)',
    );
  });

  it('refuses playlists that name the network or files, whatever their name', async () => {
    const hls = '#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://127.0.0.1:9/x.ts\n#EXT-X-ENDLIST\n';
    await writeFile(join(folder, 'list.m3u8'), hls);
    await writeFile(join(folder, 'list.mp4'), hls.replace('http://127.0.0.1:9/x.ts', '/etc/passwd'));
    await writeFile(join(folder, 'list.ffconcat'), 'ffconcat version 1.0\nfile /etc/passwd\n');
    for (const file of ['list.m3u8', 'list.mp4', 'list.ffconcat']) {
      expect(await failureOf(file)).toMatch(/^image-unreadable: is a playlist, which may name other files/);
    }
  });

  it('lets ffmpeg itself refuse a playlist that is not recognised by its beginning', async () => {
    await pattern('part.ts', '96x64', 1, 4);
    const hidden = `\n\n${'# padding\n'.repeat(20)}`;
    await writeFile(join(folder, 'hidden.ffconcat'), `${hidden}ffconcat version 1.0\nfile part.ts\n`);
    await writeFile(join(folder, 'dash.mpd'), `${' '.repeat(100)}<MPD></MPD>`);
    for (const file of ['hidden.ffconcat', 'dash.mpd']) {
      expect(await failureOf(file)).toMatch(/^image-unreadable: cannot be read as a video/);
    }
  });

  it('gives ffmpeg nothing of the environment of the service', async () => {
    const { program, environment } = await wrapFfmpeg();
    process.env.MQTT_PASSWORD = 'geheim';
    await run(program, ['-version'], { timeoutMs: 30_000 }).finally(() => {
      delete process.env.MQTT_PASSWORD;
    });
    const names = (await environment()).split('\n').map((line) => line.split('=')[0]);
    expect(names.filter((name) => !['', 'PWD', '_', 'SHLVL', 'OLDPWD'].includes(name ?? '')).sort()).toEqual([
      'LC_ALL',
      'MALLOC_ARENA_MAX',
      'PATH',
    ]);
  });

  it('names a missing ffmpeg and its setting', async () => {
    await pattern('fine.mp4', '96x64', 1, 4);
    const probing = probeVideo(join(folder, 'fine.mp4'), { ffmpeg: '/nowhere/ffmpeg', pixelLimit: 1e7 });
    await expect(probing).rejects.toThrow(/\/nowhere\/ffprobe cannot be started .* \(setting FFMPEG\)/);
    await expect(probing).rejects.toBeInstanceOf(ScenedeltaError);
  });
});

describe('damaged videos', () => {
  it.each(['keyframes', 'all'] as const)(
    'reports the frames that the decoder replaced by others (%s)',
    async (mode) => {
      await pattern('keys.mp4', '96x64', 20, 4, ['-g', '4', '-sc_threshold', '0', '-crf', '1']);
      const bytes = await readFile(join(folder, 'keys.mp4'));
      for (let at = bytes.length / 10; at < bytes.length * 0.9; at += bytes.length / 40) {
        bytes.fill(0x5a, Math.floor(at), Math.floor(at) + 200);
      }
      await writeFile(join(folder, 'keys.mp4'), bytes);
      const { times, failures } = await read([item('keys.mp4')], { mode });
      expect(times.length).toBeLessThan(mode === 'all' ? 80 : 20);
      expect(failures[0]).toMatch(/^image-unreadable: is damaged from .* frames? (was|were) not seen/);
    },
  );

  it('uses the frames before the end of a truncated file, and reports where it ends', async () => {
    await pattern('long.mkv', '96x64', 20, 4, ['-g', '4']);
    const { length } = await readFile(join(folder, 'long.mkv'));
    await truncate(join(folder, 'long.mkv'), Math.floor(length / 2));
    const { times, failures } = await read([item('long.mkv')]);
    expect(times.length).toBeGreaterThan(5);
    expect(times.length).toBeLessThan(15);
    expect(failures.at(-1)).toMatch(/^image-unreadable: is truncated or damaged: ends at .* of 20\.00 s/);
  });

  // Only readers of MP4 and Matroska always say that a file was cut: of others, more must be missing.
  it.each([
    ['mp4', 0.99],
    ['mkv', 0.99],
    ['avi', 0.9],
    ['flv', 0.8],
  ])('loses no whole frame before the cut of a file (%s), and reports it', async (type, share) => {
    const file = `whole.${type}`;
    await pattern(file, '96x64', 120, 4, ['-g', '4', '-bf', '0', '-sc_threshold', '0', '-movflags', '+faststart']);
    await truncate(join(folder, file), Math.floor((await readFile(join(folder, file))).length * share));
    for (const mode of ['keyframes', 'all'] as const) {
      const { times, failures, account } = await read([item(file)], { mode });
      const last = times.at(-1) as number;
      expect([account.in, failures]).toEqual([times.length, [expect.stringMatching(`truncated.*: ends at ${last}`)]]);
      expect(times).toHaveLength(1 + (mode === 'all' ? 4 : 1) * last);
    }
  });

  it('refuses a truncated file without an index', async () => {
    await pattern('cut.mp4', '96x64', 5, 4);
    await truncate(join(folder, 'cut.mp4'), 2_000);
    expect(await failureOf('cut.mp4')).toMatch(/^image-unreadable: cannot be read as a video \(.*moov atom not found/i);
  });

  it('goes on with the next file', async () => {
    await pattern('next.mp4', '96x64', 2, 4);
    const { times, failures } = await read([item('missing.mp4'), item('next.mp4', START + 5_000)]);
    expect([times, failures.length]).toEqual([[5, 6], 1]);
  });
});

describe('unusual videos', () => {
  it('refuses a named pipe, and goes on', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe.mp4')]);
    await pattern('beside.mp4', '96x64', 2, 4);
    const { times, failures } = await read([item('pipe.mp4'), item('beside.mp4')]);
    expect([times, failures]).toEqual([[0, 1], ['image-unreadable: is no regular file']]);
  });

  it('names the signal that ended ffmpeg', async () => {
    await pattern('ended.mp4', '96x64', 2, 4);
    const script = '#!/bin/sh\n[ "$1" = -version ] && exec ffmpeg "$@"\nkill -SEGV $$\n';
    await writeFile(join(folder, 'ffmpeg'), script, { mode: 0o700 });
    await writeFile(join(folder, 'ffprobe'), '#!/bin/sh\nexec ffprobe "$@"\n', { mode: 0o700 });
    const { failures } = await read([item('ended.mp4')], undefined, undefined, join(folder, 'ffmpeg'));
    expect(failures).toEqual([expect.stringMatching(/^image-unreadable: ffmpeg was ended by SIGSEGV /)]);
  });

  it('samples 240 frames per second by their times', async () => {
    await pattern('fast.mp4', '96x64', 3, 240);
    expect((await read([item('fast.mp4')])).times).toEqual([0, 1, 2]);
  });

  it('turns frames as the container asks for', async () => {
    await pattern('lying.mp4', '96x64', 1, 4);
    const rotate = ['-c', 'copy', '-metadata:s:v:0', 'rotate=90', join(folder, 'upright.mp4')];
    await ffmpeg(['-i', join(folder, 'lying.mp4'), ...rotate]);
    expect((await read([item('upright.mp4')])).sizes).toEqual(['64x96']);
  });

  it('keeps the times of a variable frame rate', async () => {
    const select = "select='not(between(n,5,10))'";
    const coding = ['-vf', select, '-fps_mode', 'vfr', '-c:v', 'libx264', join(folder, 'vfr.mp4')];
    await ffmpeg(['-f', 'lavfi', '-i', 'testsrc2=s=96x64:r=4:d=4', ...coding]);
    const { times } = await read([item('vfr.mp4')], { mode: 'all' });
    expect(times).toEqual([0, 0.25, 0.5, 0.75, 1, 2.75, 3, 3.25, 3.5, 3.75]);
  });

  it.each([0, 2])('keeps the times of key frames with %d reordered frames between them', async (count) => {
    await pattern(`order-${count}.mp4`, '96x64', 6, 4, [
      '-preset',
      'medium',
      '-sc_threshold',
      '0',
      '-g',
      '4',
      '-bf',
      String(count),
    ]);
    const path = join(folder, `order-${count}.mp4`);
    expect((await probeVideo(path, { ffmpeg: FFMPEG, pixelLimit: 1e7 })).reordered).toBe(count > 0);
    expect((await read([item(`order-${count}.mp4`)], { mode: 'keyframes' })).times).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('doubts the end of a file that is still written', async () => {
    await pattern('complete.ts', '96x64', 12, 4);
    const bytes = await readFile(join(folder, 'complete.ts'));
    const path = join(folder, 'growing.ts');
    await writeFile(path, bytes.subarray(0, 188 * Math.floor(bytes.length / 376)));
    const reading = read([item('growing.ts')], { mode: 'all' }, undefined, undefined, () => appendFile(path, bytes));
    expect((await reading).doubts).toEqual([expect.stringMatching(/^it was written to while it was read/)]);
  });

  it('decodes every frame if key frames need others (open GOP)', async () => {
    const coding = ['-preset', 'medium', '-x264opts', 'open-gop=1:keyint=8:bframes=3:scenecut=0', '-bf', '3'];
    for (const file of ['open.ts', 'open.mp4']) {
      await pattern(file, '96x64', 12, 4, coding);
      const { times, failures } = await read([item(file)], { mode: 'auto' });
      expect([times, failures]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], []]);
      expect((await read([item(file)], { mode: 'keyframes' })).times).toEqual([0, 2, 4, 6, 8, 10]);
    }
  });

  it('takes one field of interlaced pictures', async () => {
    await pattern('interlaced.ts', '96x64', 2, 25, ['-flags', '+ilme+ildct', '-x264opts', 'tff=1']);
    const info = await probeVideo(join(folder, 'interlaced.ts'), { ffmpeg: FFMPEG, pixelLimit: 1e7 });
    expect(info.interlaced).toBe(true);
    expect((await read([item('interlaced.ts')])).sizes).toEqual(['96x64', '96x64']);
  });

  it('counts presentation times from the begin of the file, also if its clock starts elsewhere', async () => {
    await pattern('clock.ts', '96x64', 3, 4, ['-output_ts_offset', '5000', '-muxdelay', '0']);
    expect((await read([item('clock.ts')])).times).toEqual([0, 1, 2]);
  });

  it('finds the time of a frame by its number in the order of presentation', async () => {
    await pattern('numbered.mp4', '96x64', 3, 4, ['-bf', '2']);
    const path = join(folder, 'numbered.mp4');
    const signal = undefined;
    expect(await timeOfFrame(path, 6, { ffmpeg: FFMPEG, signal })).toBe(1.5);
    await expect(timeOfFrame(path, 99, { ffmpeg: FFMPEG, signal })).rejects.toThrow('frame 99: expected at most 11');
  });
});

describe('sampling', () => {
  beforeAll(() => writeVideo(join(folder, 'keys.mp4'), [{ frames: 40, blocks: [THING] }]));

  it('takes the key frames alone if they are close enough', async () => {
    const every: Every = { mode: 'seconds', seconds: 2, exact: false };
    expect((await read([item('keys.mp4')], every)).times).toEqual([0, 2, 4, 6, 8]);
    expect((await read([item('keys.mp4')], { mode: 'keyframes' })).times).toHaveLength(10);
    expect((await read([item('keys.mp4')], { mode: 'auto' })).times).toHaveLength(10);
  });

  it('decodes every frame if key frames are too far apart', async () => {
    await pattern('far.mp4', '96x64', 6, 4, ['-g', '100', '-sc_threshold', '0']);
    expect((await read([item('far.mp4')], { mode: 'auto' })).times).toEqual([0, 1, 2, 3, 4, 5]);
    expect((await read([item('far.mp4')], { mode: 'keyframes' })).times).toEqual([0]);
    await pattern('farther.mp4', '96x64', 70, 2, ['-g', '1000', '-sc_threshold', '0']);
    expect(await read([item('farther.mp4')], { mode: 'keyframes' })).toMatchObject({ times: [0], failures: [] });
  });

  it('keeps one grid over files that follow each other', async () => {
    const items = [0, 10, 20, 30].map((seconds) => item('keys.mp4', START + seconds * 1000));
    expect((await read(items, { mode: 'seconds', seconds: 15, exact: true })).times).toEqual([0, 15, 30]);
  });

  it('keeps to the wanted range', async () => {
    const between = (from: number, until: number) => ({ from: START + from, until: START + until });
    expect((await read([item('keys.mp4')], SECOND, between(2_500, 5_500))).times).toEqual([2.5, 3, 4, 5]);
    expect((await read([item('keys.mp4'), item('keys.mp4')], SECOND, between(0, 60_000))).account.in).toBe(20);
  });

  it('skips the frames that an earlier file shows, and uses the others', async () => {
    const { times, failures, doubts, account } = await read([item('keys.mp4'), item('keys.mp4', START + 4_000)]);
    expect(account).toMatchObject({ in: 20, skipped: { seen_twice: 6 } });
    expect(times).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    expect(failures).toEqual([]);
    expect(doubts).toEqual([expect.stringMatching(/^skipped 6 frames of a time that an earlier file shows/)]);
  });
});
