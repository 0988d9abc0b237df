/** Videos of a folder, sampled as a run samples them, or read frame by frame as a search reads them. */
import { join } from 'node:path';
import { Recording } from '../../src/footage/inputs/recording.js';
import type { Every, FootageItem } from '../../src/footage/inputs/recording-plan.js';
import { BEGINNING, framesOf } from '../../src/footage/inputs/source-frames.js';
import { StillFrames } from '../../src/footage/inputs/still-frames.js';
import { EMPTY_ACCOUNT, type FrameAccount, sumOfAccounts } from '../../src/footage/run/frame-account.js';
import { FFMPEG, ffmpeg } from './videos.js';

export const START = Date.UTC(2026, 5, 1, 12);
export const SECOND: Every = { mode: 'seconds', seconds: 1, exact: true };
const WHOLE = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

interface Read {
  readonly times: number[];
  readonly sizes: string[];
  readonly failures: string[];
  readonly doubts: string[];
  readonly account: FrameAccount;
}

export function videosIn(folder: string) {
  const item = (file: string, at = START): FootageItem => ({
    kind: 'video',
    file,
    location: { from: 'file', path: join(folder, file) },
    at,
  });

  /** @param onFrame is called with each frame */
  async function read(
    items: readonly FootageItem[],
    every = SECOND,
    range = WHOLE,
    program = FFMPEG,
    onFrame: () => Promise<void> = async () => {},
  ): Promise<Read> {
    const [times, sizes, failures, doubts]: [number[], string[], string[], string[]] = [[], [], [], []];
    let account = EMPTY_ACCOUNT;
    const sequence = { camera: 'yard', items, range, endsAt: START, gapMs: 60_000 };
    const options = {
      ...{
        ffmpeg: program,
        ffmpegHwaccel: 'none' as const,
        every,
        videoPixelLimit: 4096 * 2304,
        frameLimit: 1_000_000,
      },
      materialize: async ({ location }: FootageItem) => ({
        path: location.from === 'file' ? location.path : '',
        release: async () => {},
      }),
      signal: new AbortController().signal,
    };
    for await (const event of framesOf(sequence, BEGINNING, options)) {
      account = sumOfAccounts([account, event.account]);
      if (event.type === 'end') doubts.push(...event.doubts);
      if (event.type === 'failure') failures.push(`${event.error.code}: ${event.error.message}`);
      if (event.type === 'damage') failures.push(`${event.damage.error.code}: ${event.damage.error.message}`);
      if (event.type !== 'frame') continue;
      await onFrame();
      times.push((event.frame.at - START) / 1000);
      if (event.frame.picture.from === 'video') {
        const { width, height } = event.frame.picture.image();
        sizes.push(`${width}x${height}`);
      }
      event.frame.release();
    }
    return { times, sizes, failures, doubts, account };
  }

  /** @returns presentation times of the frames that a search may look at, each of them read */
  async function momentsOf(file: string): Promise<number[]> {
    const frames = await StillFrames.of([item(file)], {
      ...{ ffmpeg: FFMPEG, videoPixelLimit: 1e7, frameLimit: 1e7, signal: new AbortController().signal },
      materialize: async () => ({ path: join(folder, file), release: async () => {} }),
      ...{ every: 1, range: WHOLE },
    });
    const indices = Array.from({ length: frames.count }, (_, i) => i);
    for (const i of indices) expect((await frames.frame(i)).length).toBeGreaterThan(100);
    expect(frames.failures).toEqual([]);
    return indices.map((i) => frames.moment(i).seconds);
  }

  /** @returns the reasons for which single frames of a file were not shown */
  async function stillsOf(file: string, seconds: readonly number[]): Promise<string[]> {
    const damage: string[] = [];
    const recording = await Recording.open(item(file), {
      ...{ ffmpeg: FFMPEG, videoPixelLimit: 1e7, frameLimit: 1e7, signal: new AbortController().signal },
      materialize: async () => ({ path: join(folder, file), release: async () => {} }),
    });
    for (const at of seconds) await recording.at(at, (reason) => damage.push(reason));
    return damage;
  }

  /** @param size e.g. '96x64' */
  const pattern = (file: string, size: string, seconds: number, rate: number, coding: readonly string[] = []) =>
    ffmpeg([
      ...['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=${rate}:d=${seconds}`, '-pix_fmt', 'yuv420p'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', ...coding, join(folder, file)],
    ]);

  return { item, read, momentsOf, stillsOf, pattern };
}
