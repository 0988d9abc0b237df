/** The wanted part of each sequence, by `-st`, `-et` and `-dt`, and the pauses that separate its frames. */
import { invalidRequest, ScenedeltaError } from '../../base/errors.js';
import type { Size } from '../../base/images.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import { endOf, usualGap } from '../../footage/inputs/bounds.js';
import type { RecordingPlan } from '../../footage/inputs/plan.js';
import type { Every, FootageItem, FootageSequence } from '../../footage/inputs/recording-plan.js';
import { parseDuration, parseTimeOption, type TimeOption } from '../../footage/inputs/times.js';
import { probeVideo, timeOfFrame } from '../../footage/video/probe.js';
import sharp from '../../frames/sharp.js';
import type { Config } from '../../process/config.js';
import type { FootageOptions } from './options.js';

type Sequences = RecordingPlan['sequences'];

interface Context {
  readonly options: FootageOptions;
  readonly settings: CameraSettings;
  readonly config: Pick<Config, 'ffmpeg' | 'videoPixelLimit'>;
  readonly timeZone: string;
  readonly every: Every;
  readonly signal: AbortSignal;
}

/** @throws ScenedeltaError 'invalid-request' */
export async function boundSequences({ sequences }: RecordingPlan, context: Context): Promise<FootageSequence[]> {
  const { startTime, endTime, duration } = context.options;
  if (endTime !== undefined && duration !== undefined) {
    throw invalidRequest('-et and -dt are both given: expected one of them');
  }
  const bounded: FootageSequence[] = [];
  for (const sequence of sequences) {
    const at = (text: string | undefined, option: string, fallback: number) =>
      text === undefined ? fallback : instantOf(parseTimeOption(text, option, context.timeZone), sequence, context);
    const from = await at(startTime, '-st', Number.NEGATIVE_INFINITY);
    const until = duration === undefined ? await at(endTime, '-et', Number.POSITIVE_INFINITY) : null;
    const begin = Math.max(from, (sequence.items[0] as FootageItem).at);
    const end = until ?? (await endAfter(duration as string, begin, sequence, context));
    if (end <= (until === null ? begin : from)) {
      const length = duration === undefined ? `-et ${endTime}` : `-dt ${duration}`;
      throw invalidRequest(
        `${startTime === undefined ? '' : `-st ${startTime} `}${length}: expected an end after the begin`,
      );
    }
    // A camera that begins after the end has no frames in the wanted part.
    const range = { from: begin, until: Math.max(begin, end) };
    const last = await endOf(sequence, context.config, context.signal);
    const endsAt = Math.min(range.until, last.at);
    bounded.push({ ...sequence, range, endsAt, gapMs: gapOf(sequence, context, last.frameSeconds) });
  }
  return bounded;
}

async function endAfter(text: string, begin: number, sequence: Sequences[number], context: Context): Promise<number> {
  const length = parseTimeOption(text, '-dt', context.timeZone);
  if ('seconds' in length) return begin + length.seconds * 1000;
  if ('frame' in length) {
    if (length.frame === 0) return begin;
    // The part ends right after its last frame: there may be no next one.
    return begin + Math.ceil((await secondsOfFrame(length.frame - 1, sequence, context)) * 1000) + 1;
  }
  throw invalidRequest(`-dt ${text}: expected a duration or a number of frames`);
}

async function instantOf(time: TimeOption, sequence: Sequences[number], context: Context): Promise<number> {
  if ('at' in time) return time.at;
  const begin = (sequence.items[0] as FootageItem).at;
  if ('seconds' in time) return begin + time.seconds * 1000;
  // Times of frames are rounded to milliseconds: the frame itself is not before the part that begins with it.
  return begin + Math.floor((await secondsOfFrame(time.frame, sequence, context)) * 1000);
}

/** @returns seconds from the beginning of the sequence to a frame, counted from 0 */
async function secondsOfFrame(frame: number, { items }: Sequences[number], { config, signal }: Context) {
  const [first] = items;
  if (first?.kind === 'image') {
    const item = items[frame];
    if (item !== undefined) return (item.at - first.at) / 1000;
    throw invalidRequest(`frame ${frame}: expected at most ${items.length - 1}`);
  }
  if (first?.location.from !== 'file' || items.length > 1) {
    throw invalidRequest(`frame ${frame}: expected one video, or a time as 12.5s`);
  }
  return timeOfFrame(first.location.path, frame, { ffmpeg: config.ffmpeg, signal });
}

function gapOf(
  sequence: Sequences[number],
  { options, settings, every }: Context,
  frameSeconds: number | null,
): number {
  if (options.acrossGaps) return Number.POSITIVE_INFINITY;
  if (options.gap !== undefined) return parseDuration(options.gap, '--gap') * 1000;
  return usualGap(sequence, settings, every, frameSeconds);
}

/**
 * @returns the size of the first frame of the first camera, for rectangles in pixels
 * @throws ScenedeltaError 'image-unreadable' with the first file, if no file can be read
 */
export async function firstFrameSize(
  { sequences }: RecordingPlan,
  { ffmpeg, videoPixelLimit }: Pick<Config, 'ffmpeg' | 'videoPixelLimit'>,
  signal: AbortSignal,
): Promise<Size> {
  let fault = invalidRequest('--roi in pixels: expected fractions of the frame, 0 to 1');
  for (const [i, { kind, file, location }] of (sequences[0]?.items ?? []).entries()) {
    if (location.from !== 'file') break;
    try {
      if (kind === 'image') return (await sharp(location.path).metadata()).autoOrient;
      return await probeVideo(location.path, { ffmpeg, pixelLimit: videoPixelLimit, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (i === 0) fault = new ScenedeltaError('image-unreadable', `${file} ${(error as Error).message}`);
    }
  }
  throw fault;
}
