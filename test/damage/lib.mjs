/** Recordings whose picture is another one in each second, their damage, and the frames that are seen of them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BEGINNING, framesOf } from '../../dist/footage/inputs/source-frames.js';

const FFMPEG = process.env.FFMPEG ?? 'ffmpeg';
const execute = promisify(execFile);
const SECONDS = 30;
const START = Date.UTC(2026, 5, 1, 12);

const h264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-g', '4', '-sc_threshold', '0'];
const hevc = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'keyint=4:min-keyint=4:log-level=none'];
const mpeg4 = ['-c:v', 'mpeg4', '-q:v', '4', '-g', '4'];
/** name of the file: its options; five containers, three codecs */
export const CODINGS = {
  'h264.mp4': h264,
  'h264.mkv': h264,
  'h264.ts': h264,
  'h264.flv': h264,
  'h264.avi': h264,
  'hevc.mp4': hevc,
  'hevc.mkv': hevc,
  'hevc.ts': hevc,
  'mpeg4.mp4': mpeg4,
  'mpeg4.mkv': mpeg4,
  'mpeg4.avi': mpeg4,
};

/** A moving test picture over noise: no picture is like the one of the second before. */
export const makeVideo = (path, coding) =>
  execute(FFMPEG, [
    ...['-v', 'error', '-nostdin', '-y', '-f', 'lavfi', '-i', `testsrc2=s=320x240:r=4:d=${SECONDS}`],
    ...['-vf', 'noise=alls=12:allf=t', '-pix_fmt', 'yuv420p', ...coding, path],
  ]);

/** @returns a copy with altered bytes in one tenth: 200 in each of ten places */
export function damagedFrames(intact, tenth) {
  const bytes = Buffer.from(intact);
  const [from, length] = [Math.floor((tenth * bytes.length) / 10), Math.floor(bytes.length / 10)];
  let state = 12_345 + tenth;
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
  for (let place = 0; place < 10; place++) {
    const at = from + Math.floor(((place + random()) * length) / 10);
    for (let i = 0; i < 200 && at + i < bytes.length; i++) bytes[at + i] = Math.floor(random() * 256);
  }
  return bytes;
}

/** Mean difference of two pictures that are the same, in steps of brightness. */
const SAME = 6;

/**
 * @param every 'keyframes' or 'seconds'
 * @returns the pictures by their time, and the failures
 */
export async function lookAt(path, every = 'seconds') {
  const [pictures, failures] = [[], []];
  const item = { kind: 'video', file: 'a', location: { from: 'file', path }, at: START };
  const range = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
  const options = {
    ...{ ffmpeg: FFMPEG, ffmpegHwaccel: 'none', videoPixelLimit: 10_000_000, frameLimit: 1_000_000 },
    signal: new AbortController().signal,
    every: every === 'keyframes' ? { mode: 'keyframes' } : { mode: 'seconds', seconds: 1, exact: true },
    materialize: async () => ({ path, release: async () => {} }),
  };
  const sequence = { camera: 'yard', items: [item], range, endsAt: START, gapMs: 60_000 };
  for await (const event of framesOf(sequence, BEGINNING, options)) {
    if (event.type === 'failure') failures.push(event.error.message);
    if (event.type === 'damage') failures.push(event.damage.error.message);
    if (event.type !== 'frame') continue;
    pictures.push({ seconds: event.frame.seconds, data: event.frame.picture.image().data });
    event.frame.release();
  }
  const at = (seconds) => pictures.find((one) => Math.abs(one.seconds - seconds) < 0.01);
  return {
    pictures,
    failures,
    /** Whether a picture was seen without damage. */
    covers: ({ seconds, data }) => difference(at(seconds)?.data ?? [255], data) < SAME,
    /** Whether another picture stood in its place that looks like the one before it: a change there stays unseen. */
    repeats: ({ seconds }) => {
      const [before, now] = [pictures.findLast((one) => one.seconds < seconds - 0.01), at(seconds)];
      return now === undefined || (before !== undefined && difference(before.data, now.data) < SAME);
    },
  };
}

function difference(a, b) {
  let sum = 0;
  const length = Math.max(a.length, b.length);
  for (let i = 0; i < length; i += 7) sum += Math.abs((a[i] ?? 255) - (b[i] ?? 255));
  return sum / (length / 7);
}
