/** The sampled frames of a sequence, item by item in the order of time. A file that fails is reported and skipped. */
import { counted } from '../../base/counted.js';
import { asScenedeltaError, type ScenedeltaError } from '../../base/errors.js';
import { sniffImage } from '../../base/image-type.js';
import type { Preview, RgbImage } from '../../base/images.js';
import type { Config } from '../../process/config.js';
import { type FrameAccount, FrameLedger } from '../run/frame-account.js';
import { type Damage, damageOf } from '../video/damage.js';
import type { VideoFrame } from '../video/decode.js';
import { FileClock } from '../video/file-clock.js';
import type { VideoInfo } from '../video/probe.js';
import { cellAt, type Sampling, samplingOf } from '../video/sampling.js';
import { endsBy } from './bounds.js';
import { isFaultOfItem, type ReadOptions, Recording } from './recording.js';
import type { Every, FootageItem, FootageSequence } from './recording-plan.js';

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
  /** decoded frames of the file so far, if its clock has jumped; else null */
  readonly jumpedAfter: number | null;
  /** Gives the memory back; the picture must not be used afterwards. */
  release(): void;
}

/**
 * `item` is the index of the item in the sequence. end: the item is done; `duration` in seconds, null of an image;
 * `doubts`: sentences about its times. `account` has the frames since the event before; one of type `frame` is not
 * skipped yet.
 */
export type SourceEvent = { readonly item: number; readonly account: FrameAccount } & (
  | { readonly type: 'frame'; readonly frame: SourceFrame }
  | { readonly type: 'failure'; readonly error: ScenedeltaError }
  | { readonly type: 'damage'; readonly damage: Damage }
  | { readonly type: 'end'; readonly duration: number | null; readonly doubts: readonly string[] }
);

/** Position of a run: everything before it has been processed. */
export interface Position {
  readonly item: number;
  /** presentation time of the last frame of the item; null: none yet */
  readonly seconds: number | null;
  /** of the last frame of all, epoch ms; null: none yet */
  readonly at: number | null;
  /** decoded frames of the item if its clock has jumped: it is then read from its beginning; absent: it has not */
  readonly jumpedAfter?: number;
}

export const BEGINNING: Position = { item: 0, seconds: null, at: null };

export interface SourceOptions extends ReadOptions, Pick<Config, 'ffmpegHwaccel'> {
  readonly every: Every;
  /** Around each wait for the bytes of an item, during which nothing is decoded. */
  readonly aside?: Aside;
}

export type Aside = <T>(wait: Promise<T>) => Promise<T>;

/** @throws ScenedeltaError 'cancelled', and anything that is not the fault of one item */
export async function* framesOf(
  sequence: FootageSequence,
  position: Position,
  options: SourceOptions,
): AsyncGenerator<SourceEvent, void> {
  const { items, range } = sequence;
  const { aside = (wait) => wait } = options;
  let lastAt = position.at;
  const ledger = new FrameLedger();
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
      if (item.at < range.from && (await endsBy(items, i, range.from, options, options.signal))) continue;
      const jumpedAfter = i === position.item ? (position.jumpedAfter ?? 0) : 0;
      const from = i === position.item && jumpedAfter === 0 ? position.seconds : null;
      const doubts: string[] = [];
      const state = { ...options, range, from, jumpedAfter, lastAt, ledger, doubts };
      try {
        const frames =
          item.kind === 'video' ? videoFrames(item, await aside(opened(i, from)), state) : imageFrame(item, state);
        let step = await frames.next();
        try {
          for (; !step.done; step = await frames.next()) {
            openAhead(i + 1);
            lastAt = step.value.at;
            const account = ledger.take();
            if ('error' in step.value) yield { type: 'damage', item: i, damage: step.value, account };
            else yield { type: 'frame', item: i, frame: step.value, account };
          }
        } finally {
          await frames.return(null);
        }
        yield { type: 'end', item: i, duration: step.value, doubts, account: ledger.take() };
      } catch (thrown) {
        const error = asScenedeltaError(thrown);
        if (!isFaultOfItem(error)) throw thrown;
        if (item.kind === 'image') ledger.skip('unreadable');
        yield { type: 'failure', item: i, error, account: ledger.take() };
      }
    }
  } finally {
    for (const video of ahead.values()) await video.then(({ close }) => close()).catch(() => {});
  }
}

interface ItemOptions extends SourceOptions {
  readonly range: FootageSequence['range'];
  /** presentation time of the last frame that was processed */
  readonly from: number | null;
  /** decoded frames that were processed, if the clock of the file has jumped; else 0 */
  readonly jumpedAfter: number;
  /** of the frame before, epoch ms */
  readonly lastAt: number | null;
  readonly ledger: FrameLedger;
  /** receives sentences about the times of the item */
  readonly doubts: string[];
}
/** @returns the length of the item in seconds; null of an image */
type ItemFrames = AsyncGenerator<SourceFrame | Damage, number | null>;

/** A video of which the first frames are being decoded. */
interface OpenedVideo {
  readonly info: VideoInfo;
  readonly sampling: Sampling;
  readonly first: Promise<IteratorResult<VideoFrame, void>>;
  readonly frames: AsyncGenerator<VideoFrame, void>;
  readonly hasGrown: () => Promise<boolean>;
  close(): Promise<void>;
}

/** @param from presentation time from which frames are needed; null: the beginning */
async function openVideo(
  item: FootageItem,
  from: number | null,
  range: FootageSequence['range'],
  options: SourceOptions,
): Promise<OpenedVideo> {
  const recording = await Recording.open(item, options);
  try {
    const info = await recording.info();
    const sampling = samplingOf(item, info, options.every);
    const frames = recording.frames({
      sampling,
      ffmpegHwaccel: options.ffmpegHwaccel,
      from: Math.max(0, (range.from - item.at) / 1000, from ?? 0),
      until: (range.until - item.at) / 1000,
    });
    const first = frames.next();
    first.catch(() => {});
    const close = async () => {
      await frames.return();
      await recording.close();
    };
    return { info, sampling, first, frames, hasGrown: () => recording.hasGrown(), close };
  } catch (thrown) {
    await recording.close();
    throw thrown;
  }
}

async function* videoFrames(item: FootageItem, video: OpenedVideo, options: ItemOptions): ItemFrames {
  const { range, from, lastAt, jumpedAfter, ledger, doubts } = options;
  const { info, sampling, frames } = video;
  let damaged: VideoFrame[] = [];
  const damage = (): Damage[] => {
    if (damaged.length === 0) return [];
    ledger.skip('damaged', damaged.length);
    const found = damageOf(item.at, damaged);
    damaged = [];
    return [found];
  };
  const clock = new FileClock();
  let [seenTwice, decoded] = [0, 0];
  let last = lastAt;
  try {
    const earliest = (range.from - item.at) / 1000;
    for (let step = await video.first; !step.done; step = await frames.next()) {
      const frame = step.value;
      const seconds = frame.damage === null ? clock.read(frame.seconds) : clock.near(frame.seconds);
      decoded++;
      if (decoded <= jumpedAfter || (from !== null && seconds <= from)) {
        frame.release();
        continue;
      }
      ledger.came();
      const at = item.at + Math.round(seconds * 1000);
      if (seconds < earliest) {
        ledger.skip('outside');
        frame.release();
      } else if (frame.damage !== null) {
        damaged.push({ ...frame, seconds });
        frame.release();
      } else {
        yield* damage();
        if (isDue(at, last, sampling.step)) {
          last = at;
          const picture: Picture = { from: 'video', image: () => frame.image(), preview: frame.preview() };
          const jumped = clock.jumps > 0 ? decoded : null;
          yield { at, seconds: frame.seconds, picture, jumpedAfter: jumped, release: () => frame.release() };
        } else {
          const isEarlier = last !== null && at <= last;
          if (isEarlier) seenTwice++;
          ledger.skip(isEarlier ? 'seen_twice' : 'same_interval');
          frame.release();
        }
      }
    }
    yield* damage();
    if (seenTwice > 0) doubts.push(`skipped ${counted(seenTwice, 'frame')} of a time that an earlier file shows`);
    if (clock.jumps > 0)
      doubts.push(`its clock jumped ${counted(clock.jumps, 'time')}: the frames after it follow without a pause`);
    const isWanted = range.until >= item.at + (info.duration ?? 0) * 1000;
    if (isWanted && (await video.hasGrown()))
      doubts.push('it was written to while it was read: its end may not have been seen');
    if (info.absurdSeconds !== null) doubts.push(`its header states ${info.absurdSeconds} s, which cannot be`);
    return info.duration ?? clock.latest;
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
 * and starts again with each file, after a resume, and if the picture size changes.
 */
const isDue = (at: number, lastAt: number | null, step: number | null): boolean =>
  lastAt === null || (at > lastAt && (step === null || cellAt(at, step) > cellAt(lastAt, step)));

async function* imageFrame(item: FootageItem, options: ItemOptions): ItemFrames {
  const { every, range, lastAt, from, ledger, aside = (wait) => wait } = options;
  const step = every.mode === 'seconds' ? every.seconds : null;
  // Names with a resolution of seconds may give two images one time.
  const isSampled = step === null ? lastAt === null || item.at >= lastAt : isDue(item.at, lastAt, step);
  if (from !== null) return null;
  ledger.came();
  if (item.at < range.from || !isSampled) {
    ledger.skip(item.at < range.from ? 'outside' : 'same_interval');
    return null;
  }
  const recording = await aside(Recording.open(item, options));
  try {
    const bytes = await recording.bytes();
    const picture: Picture = { from: 'image', bytes, contentType: sniffImage(bytes, 'the file') };
    yield { at: item.at, seconds: 0, picture, jumpedAfter: null, release: () => {} };
    return null;
  } finally {
    await recording.close();
  }
}
