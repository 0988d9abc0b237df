/** Time and length that a file itself states: its container, its EXIF, or else the file system. */
import { stat } from 'node:fs/promises';
import exifReader from 'exif-reader';
import sharp from '../../frames/sharp.js';
import { probeVideo } from '../video/probe.js';
import { throwUnreadable } from './read-image.js';
import { parseCalendarTime } from './times.js';

export interface OwnTime {
  /** capture time of the beginning, epoch ms */
  readonly at: number;
  readonly source: 'container' | 'exif' | 'file';
  /** seconds; null of an image, and of a video that does not say */
  readonly duration: number | null;
  /** the time of its container or its EXIF if that cannot be, epoch ms; null: none */
  readonly doubted: number | null;
}

/** The year of the first network camera. Cameras without a clock write 1899, 1904, 1970 or the day they were made. */
const EARLIEST = Date.UTC(1996, 0, 1);
/** Clocks and time zones differ by less. */
const TOLERANCE_MS = 86_400_000;

/** @param at epoch ms @param now epoch ms @returns whether a camera can have recorded at this time */
export const isPlausible = (at: number, now: number): boolean => at >= EARLIEST && at <= now + TOLERANCE_MS;

interface VideoOptions {
  readonly ffmpeg: string;
  readonly pixelLimit: number;
  readonly signal: AbortSignal;
  /** epoch ms */
  readonly now: number;
}

/** @throws ScenedeltaError as probeVideo does; 'not-found' if the file is gone */
export async function ownTimeOfVideo(path: string, options: VideoOptions): Promise<OwnTime> {
  const { createdAt, duration } = await probeVideo(path, options);
  const doubted = createdAt === null || isPlausible(createdAt, options.now) ? null : createdAt;
  if (createdAt !== null && doubted === null) return { at: createdAt, source: 'container', duration, doubted };
  // A recorder writes a file until the end of its recording.
  return { at: Math.round((await modifiedAt(path)) - (duration ?? 0) * 1000), source: 'file', duration, doubted };
}

/**
 * @param timeZone of EXIF times without an offset
 * @param now epoch ms
 * @throws ScenedeltaError 'not-found' if the file is gone
 */
export async function ownTimeOfImage(path: string, timeZone: string, now: number): Promise<OwnTime> {
  const at = await exifTime(path, timeZone);
  if (at !== null && isPlausible(at, now)) return { at, source: 'exif', duration: null, doubted: null };
  return { at: Math.round(await modifiedAt(path)), source: 'file', duration: null, doubted: at };
}

/** @returns epoch ms */
const modifiedAt = async (path: string): Promise<number> => (await stat(path).catch(throwUnreadable(''))).mtimeMs;

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
