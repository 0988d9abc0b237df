/** `--clips`: a clip per change, as files of the outputs. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidRequest, ScenedeltaError } from '../../base/errors.js';
import type { Zone } from '../../camera/settings/settings.js';
import type { FootageSequence } from '../../footage/inputs/recording-plan.js';
import type { FootageChange } from '../../footage/records.js';
import { lastKeyFrame } from '../../footage/video/packet-length.js';
import { probeVideo } from '../../footage/video/probe.js';
import { CONFINED, inputName, lastReason, run } from '../../footage/video/run.js';
import type { Config } from '../../process/config.js';
import { printError } from '../print.js';
import { makeFolder } from '../write-at-once.js';

/** @throws ScenedeltaError 'invalid-request': a clip would show what the zones hide */
export function assertNoPrivacy(zones: readonly Zone[]): void {
  if (!zones.some(({ type }) => type === 'privacy')) return;
  throw invalidRequest(
    '--clips: the settings have privacy zones, and clips show the video as it was recorded; expected one of both',
  );
}

/**
 * @returns a function that writes `clips/ID.mp4` and returns this path; null for a change of single pictures, and for a
 *   clip that cannot be cut, which is reported on stderr
 */
export async function clipWriter(
  outputs: string,
  sequences: readonly Pick<FootageSequence, 'items'>[],
  config: Probing,
  signal: AbortSignal,
): Promise<(change: FootageChange) => Promise<string | null>> {
  const videos = new Map(
    sequences.flatMap(({ items }) =>
      items.flatMap(({ kind, file, location }) =>
        kind === 'video' && location.from === 'file' ? [[file, location.path] as const] : [],
      ),
    ),
  );
  await makeFolder(join(outputs, 'clips'));
  return async (change) => {
    const video = videos.get(change.first_seen.file);
    if (video === undefined || signal.aborted) return null;
    const name = `clips/${change.id}.mp4`;
    try {
      await writeClip(change, video, join(outputs, name), config, signal);
      return name;
    } catch (thrown) {
      if (!(thrown instanceof ScenedeltaError)) throw thrown;
      printError(`scenedelta footage: ${thrown.message}`);
      return null;
    }
  };
}

type Probing = Pick<Config, 'ffmpeg' | 'videoPixelLimit'>;

/** Seconds before the first frame that shows the change, and longest time after it. */
const BEFORE_S = 5;
const AFTER_S = { min: 5, max: 25 };
const CLIP_TIMEOUT_MS = 120_000;

/** @returns begin and end of the clip in the video in which the change was first seen, seconds */
function clipOf({ first_seen, last_seen }: Pick<FootageChange, 'first_seen' | 'last_seen'>) {
  const from = Math.max(0, first_seen.seconds - BEFORE_S);
  const seen = last_seen.file === first_seen.file ? last_seen.seconds - first_seen.seconds : AFTER_S.max;
  const until = first_seen.seconds + Math.min(Math.max(seen, AFTER_S.min), AFTER_S.max);
  return { from, until };
}

/** @returns the time at or before another one from which on a clip can be cut without decoding, seconds */
async function readableFrom(video: string, from: number, config: Probing, signal: AbortSignal): Promise<number> {
  const { ffmpeg, videoPixelLimit: pixelLimit } = config;
  const { lead, startTime } = await probeVideo(video, { ffmpeg, pixelLimit, signal });
  // The reader itself begins at the key frame before.
  if (lead === 0) return from;
  const end = from + startTime;
  const key = await lastKeyFrame(video, { ffmpeg, signal }, end - lead, end);
  return Math.max(0, (key ?? 0) - startTime);
}

/**
 * Writes the clip of a change as MP4; the file is complete or absent.
 * @param video local path of the file of `first_seen`
 * @throws ScenedeltaError 'image-unreadable' if ffmpeg cannot cut it; 'not-found' (ffmpeg); 'processing-timeout';
 *   'cancelled'
 */
async function writeClip(
  change: FootageChange,
  video: string,
  path: string,
  config: Probing,
  signal: AbortSignal,
): Promise<void> {
  const { ffmpeg } = config;
  const { from, until } = clipOf(change);
  const begin = await readableFrom(video, from, config, signal);
  const unfinished = `${path}.tmp`;
  const start = begin > 0 ? ['-ss', begin.toFixed(6)] : [];
  const input = ['-abort_on', 'empty_output', ...start, '-i', inputName(video), '-t', (until - begin).toFixed(3)];
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
