/** Bounds of a sequence that follow from its files: its end, and the pauses that separate its frames. */
import pLimit from 'p-limit';
import type { CameraSettings } from '../../camera/settings/settings.js';
import type { Config } from '../../process/config.js';
import { probeVideo, type VideoInfo } from '../video/probe.js';
import type { Every, FootageItem, FootageSequence } from './recording-plan.js';

type Items = Pick<FootageSequence, 'items'>;

/**
 * @returns at: capture time of the end, epoch ms; of a file that cannot be read, its begin counts. keyFrameSeconds,
 *   frameSeconds: time between two key frames and two frames of the last file; null: unknown
 */
export async function endOf({ items }: Items, config: Probing, signal: AbortSignal): Promise<End> {
  const last = items.slice(-LOOK_BACK);
  const ends = await Promise.all(last.map((item) => limit(() => endOfItem(item, config, signal))));
  return { ...(ends.at(-1) as End), at: Math.max(...ends.map(({ at }) => at)) };
}

interface End extends Pick<VideoInfo, 'keyFrameSeconds' | 'frameSeconds'> {
  readonly at: number;
}

/** A recording may go on while so many shorter files begin. More are not read for it: each costs a start of ffprobe. */
const LOOK_BACK = 50;
const limit = pLimit(4);

type Probing = Pick<Config, 'ffmpeg' | 'videoPixelLimit'>;

/** @returns as `endOf`, of one file; of one that is not on this disk, its begin */
async function endOfItem(
  { kind, at, location }: FootageItem,
  { ffmpeg, videoPixelLimit: pixelLimit }: Probing,
  signal: AbortSignal,
): Promise<End> {
  if (kind === 'image' || location.from !== 'file') return { at, keyFrameSeconds: null, frameSeconds: null };
  const info = await probeVideo(location.path, { ffmpeg, pixelLimit, signal }).catch(() => null);
  const { duration = 0, keyFrameSeconds = null, frameSeconds = null } = info ?? {};
  return { at: at + (duration ?? 0) * 1000, keyFrameSeconds, frameSeconds };
}

/**
 * Whether no frame of a file is wanted, because it ends by then.
 * @param i its index. @param from begin of the wanted part, epoch ms
 */
export async function endsBy(
  items: readonly FootageItem[],
  i: number,
  from: number,
  config: Probing,
  signal: AbortSignal,
): Promise<boolean> {
  const [item, next, later] = [items[i], items[i + 1], items[i + 1 + LOOK_BACK]] as const;
  if (item === undefined || next === undefined || next.at > from) return false;
  if (item.kind === 'image' || (later !== undefined && later.at <= from)) return true;
  return (await endOfItem(item, config, signal)).at <= from;
}

/** Snapshots and frames of time-lapse recordings come every few minutes or hours; a pause is much longer than that. */
const GAP_INTERVALS = 4;

/**
 * @param frameSeconds between two frames of its videos; null: unknown
 * @returns ms; the camera's `gap_s`, or four times the usual interval of its frames if that is longer
 */
export function usualGap(
  { items }: Items,
  { gap_s }: Pick<CameraSettings, 'gap_s'>,
  every: Every,
  frameSeconds: number | null,
): number {
  const images = items.filter(({ kind }) => kind === 'image');
  const intervals = images
    .slice(1)
    .map(({ at }, i) => at - (images[i] as FootageItem).at)
    .sort((a, b) => a - b);
  const typical = intervals[Math.floor(intervals.length / 2)] ?? 0;
  const step = every.mode === 'seconds' ? every.seconds : 0;
  return Math.max(gap_s * 1000, GAP_INTERVALS * Math.max(typical, step * 1000, (frameSeconds ?? 0) * 1000));
}
