/** Files of a run's results, when it has ended. */
import { join } from 'node:path';
import { exactNdjson } from '../../footage/outputs/json.js';
import type { Recording } from '../../footage/outputs/recording.js';
import type { FootageChange } from '../../footage/records.js';
import { type FinishedRun, gatherResults, statsOf } from '../../footage/run/results.js';
import { writeAtOnce } from '../write-at-once.js';
import { writeOutputs } from './output-files.js';

/**
 * @param clip writes the clip of a change, and returns its path relative to `outputs`; null if there is none
 * @throws ScenedeltaError 'invalid-request' or 'storage-unavailable' naming the file that cannot be written
 */
export async function writeResults(
  outputs: string,
  run: FinishedRun,
  clip?: (change: FootageChange) => Promise<string | null>,
): Promise<Recording> {
  const gathered = await gatherResults(run);
  const recording = clip === undefined ? gathered : { ...gathered, changes: await withClips(gathered.changes, clip) };
  await writeOutputs(outputs, recording);
  await writeAtOnce(join(outputs, 'stats.ndjson'), exactNdjson(statsOf(run)));
  return recording;
}

async function withClips(
  changes: readonly FootageChange[],
  write: (change: FootageChange) => Promise<string | null>,
): Promise<FootageChange[]> {
  const clipped: FootageChange[] = [];
  for (const change of changes) {
    const clip = await write(change);
    clipped.push(clip === null ? change : { ...change, clip });
  }
  return clipped;
}
