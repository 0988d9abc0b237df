/** Bounds of a sequence that follow from its files: its end, and the pauses that separate its frames. */
import type { CameraSettings } from '../../camera/settings/settings.js';
import type { Config } from '../../process/config.js';
import { probeVideo } from '../video/probe.js';
import type { Every, FootageItem, FootageSequence } from './recording-plan.js';

type Items = Pick<FootageSequence, 'items'>;

/**
 * @returns at: capture time of the end, epoch ms; of the begin of the last file if it cannot be read. keyFrameSeconds:
 *   time between two key frames of that file; null: unknown
 */
export async function endOf(
  { items }: Items,
  { ffmpeg, videoPixelLimit: pixelLimit }: Pick<Config, 'ffmpeg' | 'videoPixelLimit'>,
  signal: AbortSignal,
): Promise<{ readonly at: number; readonly keyFrameSeconds: number | null }> {
  const { kind, at, location } = items.at(-1) as FootageItem;
  if (kind === 'image' || location.from !== 'file') return { at, keyFrameSeconds: null };
  const info = await probeVideo(location.path, { ffmpeg, pixelLimit, signal }).catch(() => null);
  return { at: at + (info?.duration ?? 0) * 1000, keyFrameSeconds: info?.keyFrameSeconds ?? null };
}

/** Snapshots come every few minutes or hours; a pause is much longer than what is usual between them. */
const GAP_INTERVALS = 4;

/** @returns ms; the camera's `gap_s`, or four times the usual interval of its frames if that is longer */
export function usualGap({ items }: Items, { gap_s }: Pick<CameraSettings, 'gap_s'>, every: Every): number {
  const images = items.filter(({ kind }) => kind === 'image');
  const intervals = images
    .slice(1)
    .map(({ at }, i) => at - (images[i] as FootageItem).at)
    .sort((a, b) => a - b);
  const typical = intervals[Math.floor(intervals.length / 2)] ?? 0;
  const step = every.mode === 'seconds' ? every.seconds * 1000 : 0;
  return Math.max(gap_s * 1000, GAP_INTERVALS * typical, GAP_INTERVALS * step);
}
