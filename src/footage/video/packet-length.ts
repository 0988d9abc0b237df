/**
 * Times of the packets of a video, without decoding it: its length, for files whose container states none (raw streams,
 * and Matroska from a pipe or after a loss of power), and the times of its frames and key frames.
 */
import { ScenedeltaError } from '../../base/errors.js';
import { CONFINED, ffprobeBeside, inputName, run } from './run.js';

/** Reading takes as long as the disk or the network needs; a file of a day has 100 GB. */
const READ_TIMEOUT_MS = 30 * 60_000;

interface ReadOptions {
  /** a name in PATH, or a path */
  readonly ffmpeg: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads the file to its end.
 * @returns seconds from the beginning of the first picture to the end of the last one; null if the packets do not say,
 *   or if reading did not end in time
 * @throws ScenedeltaError 'not-found' (no ffprobe), 'cancelled'
 */
export async function packetLength(path: string, options: ReadOptions): Promise<number | null> {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { at, end } of packetsIn(await packetLines(path, options, LENGTHS))) {
    first = Math.min(first, at);
    last = Math.max(last, end);
  }
  return last > first ? last - first : null;
}

/**
 * @param from seconds of the container; the reader begins at the key frame before; 0: at the beginning
 * @returns presentation times of the frames in their order, seconds of the container; none if reading did not end in
 *   time
 * @throws ScenedeltaError as packetLength does
 */
export async function frameTimes(path: string, options: ReadOptions, from = 0): Promise<readonly number[]> {
  const packets = packetsIn(await packetLines(path, options, LENGTHS, from > 0 ? `${from.toFixed(6)}%` : null));
  return Array.from(packets, ({ at }) => at).sort((a, b) => a - b);
}

/**
 * @param from,until seconds of the container
 * @returns decoding time of the last key frame between them, at which reading must begin; null: none has times
 * @throws ScenedeltaError as packetLength does
 */
export async function lastKeyFrame(path: string, options: ReadOptions, from: number, until: number) {
  const part = `${Math.max(0, from).toFixed(6)}%${until.toFixed(6)}`;
  const lines = await packetLines(path, options, 'pts_time,dts_time,flags', part);
  const keys = lines.filter((line) => line.includes('K')).map((line) => line.split(',').map(Number));
  return keys.findLast(([shown = Number.NaN]) => shown <= until)?.[1] ?? null;
}

/** The times that packetsIn reads. */
const LENGTHS = 'pts_time,dts_time,duration_time';

/** @param part of the file, as ffprobe states it; null: all of it */
async function packetLines(
  path: string,
  { ffmpeg, signal }: ReadOptions,
  entries: string,
  part: string | null = null,
): Promise<readonly string[]> {
  const packets = ['-select_streams', 'V:0', '-show_entries', `packet=${entries}`];
  const interval = part === null ? [] : ['-read_intervals', part];
  const args = ['-v', 'error', ...CONFINED, '-of', 'csv=p=0', ...packets, ...interval, inputName(path)];
  try {
    // A damaged end changes the status, and the packets before it count.
    const { stdout } = await run(ffprobeBeside(ffmpeg), args, { signal, timeoutMs: READ_TIMEOUT_MS });
    return stdout.toString('latin1').split('\n');
  } catch (thrown) {
    const isUnknown = thrown instanceof ScenedeltaError && UNKNOWN.includes(thrown.code);
    if (isUnknown) return [];
    throw thrown;
  }
}
const UNKNOWN: readonly string[] = ['processing-timeout', 'payload-too-large'];

/** @param lines of times of presentation and decoding and of durations, in the order of the file; N/A: not stated */
function* packetsIn(lines: readonly string[]): Generator<{ readonly at: number; readonly end: number }> {
  let end = 0;
  for (const line of lines) {
    if (line.trim() === '') continue;
    const [shown, decoded, duration] = line.split(',').map((text) => (text === '' ? Number.NaN : Number(text)));
    // The packets of a raw stream have no times: each begins at the end of the one before.
    const at = [shown, decoded].find(Number.isFinite) ?? end;
    end = at + (Number.isFinite(duration) ? (duration as number) : 0);
    yield { at, end };
  }
}
