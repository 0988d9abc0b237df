/** The sampled frames of a sequence, item by item in the order of time. A file that fails is reported and skipped. */
import { readFile, stat } from 'node:fs/promises';
import { asScenedeltaError, ScenedeltaError } from '../errors.js';
import { workingSize } from '../frames/decode.js';
import { previewReduction } from '../frames/preview.js';
import { sniffImage } from '../image-type.js';
import type { Preview, RgbImage } from '../images.js';
import type { Every, FootageItem, FootageSequence } from './recording-plan.js';
import { type Damage, damageOf } from './video/damage.js';
import { decodeVideo, type VideoFrame } from './video/decode.js';
import { probeVideo, type VideoInfo } from './video/probe.js';
import { cellAt, phaseOf, type Sampling } from './video/sampling.js';

/** The picture of a frame: pixels out of a video at working size, or the bytes of an image file. */
export type Picture =
  | { readonly from: 'video'; readonly image: () => RgbImage; readonly preview: Preview }
  | { readonly from: 'image'; readonly bytes: Uint8Array; readonly contentType: string };

export interface SourceFrame {
  /** epoch ms */
  readonly at: number;
  /** presentation time from the beginning of the file */
  readonly seconds: number;
  readonly picture: Picture;
  /** Gives the memory back; the picture must not be used afterwards. */
  release(): void;
}

/** `item` is the index of the item in the sequence. end: the item is done; `duration` in seconds, null of an image. */
export type SourceEvent =
  | { readonly type: 'frame'; readonly item: number; readonly frame: SourceFrame }
  | { readonly type: 'failure'; readonly item: number; readonly error: ScenedeltaError }
  | { readonly type: 'damage'; readonly item: number; readonly damage: Damage }
  | { readonly type: 'end'; readonly item: number; readonly duration: number | null };

/** Position of a run: everything before it has been processed. */
export interface Position {
  readonly item: number;
  /** presentation time of the last frame of the item; null: none yet */
  readonly seconds: number | null;
  /** of the last frame of all, epoch ms; null: none yet */
  readonly at: number | null;
}

export const BEGINNING: Position = { item: 0, seconds: null, at: null };

export interface SourceOptions {
  readonly ffmpeg: string;
  readonly every: Every;
  /** largest width x height of a video */
  readonly videoPixelLimit: number;
  /** largest image file, bytes */
  readonly frameLimit: number;
  /** Makes an item readable as a local file. */
  readonly materialize: Materialize;
  /** Around each wait for the bytes of an item, during which nothing is decoded. */
  readonly aside?: Aside;
  readonly signal: AbortSignal;
}

export type Aside = <T>(wait: Promise<T>) => Promise<T>;

/** @throws ScenedeltaError of the item */
export type Materialize = (
  item: FootageItem,
  signal: AbortSignal,
) => Promise<{ readonly path: string; release(): Promise<void> }>;

const AUTO_KEY_FRAMES_S = 4;
const AUTO_STEP_S = 1;
/** Clocks of recorders drift, and their files overlap by a pre-roll. Above it, the files are of two cameras. */
const MAX_OVERLAP_MS = 10_000;
/** A key frame may come this late, seconds. */
const KEY_FRAME_TOLERANCE = 0.1;

/** @throws ScenedeltaError 'cancelled', and anything that is not the fault of one item */
export async function* framesOf(
  sequence: FootageSequence,
  position: Position,
  options: SourceOptions,
): AsyncGenerator<SourceEvent, void> {
  const { items, range } = sequence;
  const { aside = (wait) => wait } = options;
  let lastAt = position.at;
  // The next video is opened while one is read, so that decoding goes on at the end of a file.
  const ahead = new Map<number, Promise<OpenedVideo>>();
  const opened = (i: number, from: number | null): Promise<OpenedVideo> => {
    const video = ahead.get(i) ?? openVideo(items[i] as FootageItem, from, range, options);
    ahead.delete(i);
    return video;
  };
  const openAhead = (i: number) => {
    const item = items[i];
    if (item?.kind !== 'video' || item.at >= range.until || ahead.has(i)) return;
    const video = openVideo(item, null, range, options);
    video.catch(() => {});
    ahead.set(i, video);
  };
  try {
    for (let i = position.item; i < items.length; i++) {
      const item = items[i] as FootageItem;
      if (item.at >= range.until || options.signal.aborted) return;
      const next = items[i + 1];
      if (next !== undefined && next.at <= range.from) continue;
      const from = i === position.item ? position.seconds : null;
      const state = { ...options, range, from, lastAt };
      try {
        const frames =
          item.kind === 'video' ? videoFrames(item, await aside(opened(i, from)), state) : imageFrame(item, state);
        let step = await frames.next();
        try {
          for (; !step.done; step = await frames.next()) {
            openAhead(i + 1);
            lastAt = step.value.at;
            if ('error' in step.value) yield { type: 'damage', item: i, damage: step.value };
            else yield { type: 'frame', item: i, frame: step.value };
          }
        } finally {
          await frames.return(null);
        }
        yield { type: 'end', item: i, duration: step.value };
      } catch (thrown) {
        const error = asScenedeltaError(thrown);
        if (!isFaultOfItem(error)) throw thrown;
        yield { type: 'failure', item: i, error };
      }
    }
  } finally {
    for (const video of ahead.values()) await video.then(({ close }) => close()).catch(() => {});
  }
}

const FAULTS: readonly string[] = [
  'image-unreadable',
  'image-too-large',
  'image-too-small',
  'payload-too-large',
  'not-found',
  'processing-timeout',
  'url-failed',
  'invalid-value',
];
/** Whether the item is to blame, so that the others can still be processed. */
export const isFaultOfItem = ({ code }: ScenedeltaError): boolean => FAULTS.includes(code);

interface ItemOptions extends SourceOptions {
  readonly range: FootageSequence['range'];
  /** presentation time of the last frame that was processed */
  readonly from: number | null;
  /** of the frame before, epoch ms */
  readonly lastAt: number | null;
}
/** @returns the length of the item in seconds; null of an image */
type ItemFrames = AsyncGenerator<SourceFrame | Damage, number | null>;

/** A video of which the first frames are being decoded. */
interface OpenedVideo {
  readonly info: VideoInfo;
  readonly sampling: Sampling;
  readonly first: Promise<IteratorResult<VideoFrame, void>>;
  readonly frames: AsyncGenerator<VideoFrame, void>;
  close(): Promise<void>;
}

/** @param from presentation time from which frames are needed; null: the beginning */
async function openVideo(
  item: FootageItem,
  from: number | null,
  range: FootageSequence['range'],
  options: SourceOptions,
): Promise<OpenedVideo> {
  const { ffmpeg, signal } = options;
  const local = await options.materialize(item, signal);
  try {
    const info = await probeVideo(local.path, { ffmpeg, pixelLimit: options.videoPixelLimit, signal });
    const sampling = samplingOf(item, info, options.every);
    const working = workingSize(info);
    const frames = decodeVideo(local.path, {
      ...{ ffmpeg, info, sampling, working, signal, pixelLimit: options.videoPixelLimit },
      previewReduction: previewReduction(working.width),
      from: Math.max(0, (range.from - item.at) / 1000, from ?? 0),
      until: (range.until - item.at) / 1000,
    });
    const first = frames.next();
    first.catch(() => {});
    const close = async () => {
      await frames.return();
      await local.release();
    };
    return { info, sampling, first, frames, close };
  } catch (thrown) {
    await local.release();
    throw thrown;
  }
}

async function* videoFrames(item: FootageItem, video: OpenedVideo, options: ItemOptions): ItemFrames {
  const { range, from, lastAt } = options;
  const { info, sampling, frames } = video;
  let damaged: VideoFrame[] = [];
  const damage = (): Damage[] => (damaged.length === 0 ? [] : [damageOf(item.at, damaged)]);
  try {
    if (from === null) assertNoOverlap(item, info, lastAt);
    const earliest = (range.from - item.at) / 1000;
    let last = lastAt;
    for (let step = await video.first; !step.done; step = await frames.next()) {
      const frame = step.value;
      const at = item.at + Math.round(frame.seconds * 1000);
      if (frame.damage !== null) {
        if (frame.seconds >= earliest) damaged.push(frame);
        frame.release();
        continue;
      }
      yield* damage();
      damaged = [];
      if (frame.seconds >= earliest && isDue(at, last, sampling.step)) {
        last = at;
        const picture: Picture = { from: 'video', image: () => frame.image(), preview: frame.preview() };
        yield { at, seconds: frame.seconds, picture, release: () => frame.release() };
      } else frame.release();
    }
    yield* damage();
    damaged = [];
    return info.duration;
  } catch (thrown) {
    // The failure states the end alone, not the damage before it.
    yield* damage();
    throw thrown;
  } finally {
    await video.close();
  }
}

/**
 * Whether a frame is later than the one before and the first of its cell. The filter of ffmpeg samples by the same grid
 * and starts anew with each file, after a resume, and if the picture size changes.
 */
const isDue = (at: number, lastAt: number | null, step: number | null): boolean =>
  lastAt === null || (at > lastAt && (step === null || cellAt(at, step) > cellAt(lastAt, step)));

function samplingOf({ at }: FootageItem, { keyFrameSeconds }: VideoInfo, every: Every): Sampling {
  if (every.mode === 'all' || every.mode === 'keyframes') {
    return { keyFrames: every.mode === 'keyframes', step: null, phase: 0 };
  }
  const step = every.mode === 'seconds' ? every.seconds : AUTO_STEP_S;
  const farthest = every.mode === 'seconds' ? step : AUTO_KEY_FRAMES_S;
  const close = keyFrameSeconds !== null && keyFrameSeconds <= farthest + KEY_FRAME_TOLERANCE;
  const exact = every.mode === 'seconds' && every.exact;
  return { keyFrames: close && !exact, step, phase: phaseOf(at, step) };
}

function assertNoOverlap(item: FootageItem, { duration }: VideoInfo, lastAt: number | null): void {
  if (lastAt === null || item.at >= lastAt - Math.min(MAX_OVERLAP_MS, ((duration ?? 0) * 1000) / 2)) return;
  const begin = new Date(item.at).toISOString();
  const expected = 'expected files of one camera that follow each other (--template with {camera} separates cameras)';
  throw new ScenedeltaError(
    'invalid-value',
    `begins at ${begin}, before ${new Date(lastAt).toISOString()}, to which the file before it lasts: ${expected}`,
  );
}

async function* imageFrame(item: FootageItem, options: ItemOptions): ItemFrames {
  const { every, range, lastAt, from, aside = (wait) => wait } = options;
  const step = every.mode === 'seconds' ? every.seconds : null;
  // Names with a resolution of seconds may give two images one time.
  const isSampled = step === null ? lastAt === null || item.at >= lastAt : isDue(item.at, lastAt, step);
  if (from !== null || item.at < range.from || !isSampled) return null;
  const local = await aside(options.materialize(item, options.signal));
  try {
    const bytes = await readImage(local.path, options.frameLimit);
    const picture: Picture = { from: 'image', bytes, contentType: sniffImage(bytes, 'the file') };
    yield { at: item.at, seconds: 0, picture, release: () => {} };
    return null;
  } finally {
    await local.release();
  }
}

/** @param limit bytes @throws ScenedeltaError 'payload-too-large', 'not-found' */
export async function readImage(path: string, limit: number): Promise<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size > limit) {
      throw new ScenedeltaError('payload-too-large', `has ${size} bytes, expected at most ${limit} (FRAME_LIMIT)`);
    }
    return await readFile(path);
  } catch (thrown) {
    if (thrown instanceof ScenedeltaError) throw thrown;
    const { code } = thrown as NodeJS.ErrnoException;
    throw new ScenedeltaError('not-found', `cannot be read (${code})`, { cause: thrown });
  }
}
