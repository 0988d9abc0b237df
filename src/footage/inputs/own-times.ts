/** Time and length that a file itself states: its container, its EXIF, or else the file system. */
import { stat } from 'node:fs/promises';
import exifReader from 'exif-reader';
import sharp from '../../frames/sharp.js';
import { probeVideo } from '../video/probe.js';
import { parseCalendarTime } from './times.js';

export interface OwnTime {
  /** capture time of the beginning, epoch ms */
  readonly at: number;
  readonly source: 'container' | 'exif' | 'file';
  /** seconds; null of an image, and of a video that does not say */
  readonly duration: number | null;
}

interface VideoOptions {
  readonly ffmpeg: string;
  readonly pixelLimit: number;
  readonly signal: AbortSignal;
}

/** @throws ScenedeltaError as probeVideo does */
export async function ownTimeOfVideo(path: string, options: VideoOptions): Promise<OwnTime> {
  const { createdAt, duration } = await probeVideo(path, options);
  if (createdAt !== null) return { at: createdAt, source: 'container', duration };
  // A recorder writes a file until the end of its recording.
  const { mtimeMs } = await stat(path);
  return { at: Math.round(mtimeMs - (duration ?? 0) * 1000), source: 'file', duration };
}

/** @param timeZone of EXIF times without an offset */
export async function ownTimeOfImage(path: string, timeZone: string): Promise<OwnTime> {
  const at = await exifTime(path, timeZone);
  if (at !== null) return { at, source: 'exif', duration: null };
  return { at: Math.round((await stat(path)).mtimeMs), source: 'file', duration: null };
}

/** @returns null without readable EXIF; a damaged picture fails when it is decoded */
async function exifTime(path: string, timeZone: string): Promise<number | null> {
  try {
    const { exif } = await sharp(path, { limitInputPixels: false }).metadata();
    if (exif === undefined) return null;
    const { Photo = {} } = exifReader(exif);
    // The reader takes the digits as UTC.
    const taken = Photo.DateTimeOriginal?.toISOString().slice(0, 19);
    if (taken === undefined) return null;
    const fraction = /^\d+$/.test(String(Photo.SubSecTimeOriginal ?? '')) ? `.${Photo.SubSecTimeOriginal}` : '';
    return parseCalendarTime(`${taken}${fraction}${Photo.OffsetTimeOriginal ?? ''}`, timeZone);
  } catch {
    return null;
  }
}
