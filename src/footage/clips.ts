/**
 * Short clips of changes, cut out of the videos without coding them again: a clip begins at the last key frame before
 * its time, and shows the video as it was recorded, without privacy masks.
 */
import { rename, rm } from 'node:fs/promises';
import { ScenedeltaError } from '../errors.js';
import type { FootageChange } from './records.js';
import { CONFINED, inputName, lastReason, run } from './video/run.js';

/** Seconds before the first frame that shows the change, and longest time after it. */
const BEFORE_S = 5;
const AFTER_S = { min: 5, max: 25 };
const CLIP_TIMEOUT_MS = 120_000;

/** @returns begin and length of the clip in the video in which the change was first seen, seconds */
function clipOf({ first_seen, last_seen }: Pick<FootageChange, 'first_seen' | 'last_seen'>) {
  const from = Math.max(0, first_seen.seconds - BEFORE_S);
  const seen = last_seen.file === first_seen.file ? last_seen.seconds - first_seen.seconds : AFTER_S.max;
  const until = first_seen.seconds + Math.min(Math.max(seen, AFTER_S.min), AFTER_S.max);
  return { from, length: until - from };
}

/**
 * Writes the clip of a change as MP4; the file is complete or absent.
 * @param video local path of the file of `first_seen`
 * @throws ScenedeltaError 'image-unreadable' if ffmpeg cannot cut it; 'not-found' (ffmpeg); 'processing-timeout';
 *   'cancelled'
 */
export async function writeClip(
  change: FootageChange,
  video: string,
  path: string,
  { ffmpeg, signal }: { readonly ffmpeg: string; readonly signal: AbortSignal },
): Promise<void> {
  const { from, length } = clipOf(change);
  const unfinished = `${path}.tmp`;
  const input = ['-ss', from.toFixed(3), '-i', inputName(video), '-t', length.toFixed(3)];
  const output = ['-map', '0:V:0', '-c', 'copy', '-avoid_negative_ts', 'make_zero', '-movflags', '+faststart'];
  const args = ['-v', 'error', '-nostdin', '-y', ...CONFINED, ...input, ...output, '-f', 'mp4', inputName(unfinished)];
  try {
    const { status, stderr } = await run(ffmpeg, args, { signal, timeoutMs: CLIP_TIMEOUT_MS });
    if (status !== 0) {
      const reason = lastReason(stderr);
      throw new ScenedeltaError('image-unreadable', `${change.first_seen.file}: no clip could be cut (${reason})`);
    }
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}
