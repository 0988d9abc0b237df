/** `--clips`: a clip per change, as files of the outputs. */
import { join } from 'node:path';
import type { Zone } from '../../cameras/settings.js';
import { invalidRequest, ScenedeltaError } from '../../errors.js';
import { writeClip } from '../../footage/clips.js';
import type { FootageSequence } from '../../footage/recording-plan.js';
import type { FootageChange } from '../../footage/records.js';
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
  ffmpeg: string,
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
      await writeClip(change, video, join(outputs, name), { ffmpeg, signal });
      return name;
    } catch (thrown) {
      if (!(thrown instanceof ScenedeltaError)) throw thrown;
      printError(`scenedelta footage: ${thrown.message}`);
      return null;
    }
  };
}
