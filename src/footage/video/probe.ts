/** Description of a video file by ffprobe, with the limits that are checked before anything is decoded. */
import { open, stat } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { invalidRequest, ScenedeltaError } from '../../base/errors.js';
import { packetLength } from './packet-length.js';
import { CONFINED, ffprobeBeside, inputName, lastReason, run } from './run.js';
import { leadOf, marksCut } from './seek.js';

export interface VideoInfo {
  /** upright size, after the rotation that the container asks for; px */
  readonly width: number;
  readonly height: number;
  /** seconds; null if neither the container nor the times of the packets say */
  readonly duration: number | null;
  /** a length that the header states and that cannot be, seconds; null: none */
  readonly absurdSeconds: number | null;
  /** of the video stream, which may end before the sound; seconds */
  readonly videoDuration: number | null;
  /** of the container: presentation times count from here; seconds */
  readonly startTime: number;
  readonly interlaced: boolean;
  /** from colours to brightness, e.g. bt709; 'unknown' if the stream does not say */
  readonly matrix: string;
  /** average time between two frames by the container, seconds; null if it does not say */
  readonly frameSeconds: number | null;
  /** longest time between two key frames in the first minute, seconds; null with fewer than two */
  readonly keyFrameSeconds: number | null;
  /** whether key frames can be decoded without the others, so far as the first minute shows */
  readonly keyFramesAlone: boolean;
  /** leadOf */
  readonly lead: number;
  /** marksCut */
  readonly marksCut: boolean;
  /** frames are stored in another order than they are shown in, so far as the first minute shows */
  readonly reordered: boolean;
  /** capture time of the beginning by the container's metadata, epoch ms */
  readonly createdAt: number | null;
}

interface VideoLimits {
  /** largest width x height of the coded picture */
  readonly pixelLimit: number;
}

/** A recorder writes files of minutes or hours; a longer one is a broken header. */
const MAX_SECONDS = 31 * 86_400;
/** Recordings have one video stream, sometimes a second one, sound and data. */
const MAX_STREAMS = 64;
const PROBE_TIMEOUT_MS = 60_000;
/** Part of a file whose key frames are measured; their distance is a setting of the camera and seldom varies. */
const MEASURED_SECONDS = 60;
/** Frames that B-frames may be away from their place in the file. */
const REORDERED = 64;
/** Formats whose length ffprobe counts from 0, and not from the first frame. */
const STATES_END = /^(matroska|mov)\b/;
/** Frames that are farther apart keep ffprobe from finding the end of a file without an index. */
const SLOW_SECONDS = 1;
/** Cameras without a clock write the epoch of their container (1904, 1970). */
const EARLIEST_CREATION = Date.UTC(1990, 0, 1);

const Numeric = Type.Optional(Type.String());
const ProbeSchema = Type.Object({
  streams: Type.Array(
    Type.Object({
      codec_name: Type.Optional(Type.String()),
      width: Type.Optional(Type.Integer()),
      height: Type.Optional(Type.Integer()),
      duration: Numeric,
      field_order: Type.Optional(Type.String()),
      avg_frame_rate: Type.Optional(Type.String()),
      color_space: Type.Optional(Type.String()),
      side_data_list: Type.Optional(Type.Array(Type.Object({ rotation: Type.Optional(Type.Number()) }))),
      tags: Type.Optional(Type.Record(Type.String(), Type.String())),
    }),
  ),
  packets: Type.Optional(
    Type.Array(Type.Object({ pts_time: Numeric, dts_time: Numeric, flags: Type.Optional(Type.String()) })),
  ),
  format: Type.Object({
    nb_streams: Type.Integer(),
    duration: Numeric,
    start_time: Numeric,
    format_name: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Record(Type.String(), Type.String())),
  }),
});
type Probe = Static<typeof ProbeSchema>;
type Stream = Probe['streams'][number];

interface ProbeOptions extends VideoLimits {
  readonly ffmpeg: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * @throws ScenedeltaError 'image-unreadable' (no video, a playlist, no video stream, no length), 'image-too-large',
 *   'not-found' (no such file, no ffprobe), 'processing-timeout', 'cancelled'
 */
export async function probeVideo(path: string, options: ProbeOptions): Promise<VideoInfo> {
  // Absent files are refused by the next step, with a reason.
  const found = await stat(path).catch(() => null);
  // A pipe would be waited for.
  if (found !== null && !found.isFile()) throw unreadable('is no regular file');
  const key = JSON.stringify([path, found?.ino, found?.size, found?.mtimeMs, options.ffmpeg, options.pixelLimit]);
  const info = known.get(key) ?? (await probed(path, options));
  known.set(key, info);
  return info;
}

/** Descriptions of the latest files: a run asks for the plan, the size, the range, and again before it decodes. */
const known = new LRUCache<string, VideoInfo>({ max: 1000 });

async function probed(path: string, options: ProbeOptions): Promise<VideoInfo> {
  await refusePlaylist(path);
  const packets = ['-show_entries', 'packet=pts_time,dts_time,flags', '-read_intervals', `%+${MEASURED_SECONDS}`];
  const shown = ['-select_streams', 'V:0', '-show_format', '-show_streams', ...packets];
  const args = ['-v', 'error', ...CONFINED, '-of', 'json', ...shown, inputName(path)];
  const { status, stdout, stderr } = await run(ffprobeBeside(options.ffmpeg), args, {
    signal: options.signal,
    timeoutMs: PROBE_TIMEOUT_MS,
  });
  const probe = status === 0 ? parsed(stdout) : null;
  if (probe === null) throw unreadable(`cannot be read as a video (${lastReason(stderr)})`);
  const info = infoOf(probe, options);
  const isSlow = info.lead > 0 && (info.frameSeconds ?? 0) > SLOW_SECONDS;
  if (info.duration !== null && !isSlow) return info;
  return { ...info, duration: (await measuredLength(path, options)) ?? info.duration, videoDuration: null };
}

async function measuredLength(path: string, options: ProbeOptions): Promise<number | null> {
  const seconds = await packetLength(path, options);
  return seconds !== null && seconds <= MAX_SECONDS ? seconds : null;
}

function infoOf({ streams: [video], packets = [], format }: Probe, { pixelLimit }: VideoLimits): VideoInfo {
  if (format.nb_streams > MAX_STREAMS) {
    throw unreadable(`has ${format.nb_streams} streams, expected at most ${MAX_STREAMS}`);
  }
  if (video === undefined) throw unreadable(`has no video stream (of ${format.nb_streams} streams)`);
  const { width = 0, height = 0 } = video;
  if (video.codec_name === undefined || width === 0 || height === 0) {
    throw unreadable('has a video stream without pictures, or in an unknown format');
  }
  if (width * height > pixelLimit) {
    const limit = `${pixelLimit} px in all (VIDEO_PIXEL_LIMIT)`;
    throw new ScenedeltaError('image-too-large', `has pictures of ${width}x${height} px, expected at most ${limit}`);
  }
  const startTime = numberOf(format.start_time) ?? 0;
  // A segment of a recording may count on from the one before: these containers then state the time of their end.
  const untilStart = STATES_END.test(format.format_name ?? '') ? startTime : 0;
  const lengthUntil = (end: number | null) => end && end - untilStart;
  // The header of the file may state an absurd length, and that of its video stream a right one.
  const stated = [
    lengthUntil(numberOf(format.duration)),
    numberOf(video.duration),
    lengthUntil(secondsOf(video.tags?.DURATION)),
  ];
  const lengths = stated.flatMap((seconds) => (seconds === null || seconds <= 0 ? [] : [seconds]));
  const keyFrameSeconds = longestInterval(packets);
  const statesFile = (stated[0] ?? 0) > 0;
  const duration = lengths.find((seconds) => seconds <= MAX_SECONDS) ?? null;
  return {
    ...(isOnItsSide(video) ? { width: height, height: width } : { width, height }),
    duration,
    absurdSeconds: lengths.find((seconds) => seconds > MAX_SECONDS) ?? null,
    videoDuration: lengths.slice(statesFile ? 1 : 0).find((seconds) => seconds <= MAX_SECONDS) ?? duration,
    startTime,
    interlaced: ['tt', 'bb', 'tb', 'bt'].includes(video.field_order ?? ''),
    matrix: video.color_space ?? 'unknown',
    frameSeconds: intervalOf(video.avg_frame_rate),
    keyFrameSeconds,
    keyFramesAlone: video.codec_name !== 'h264' || !hasLeading(packets),
    lead: leadOf(format.format_name ?? '', keyFrameSeconds),
    marksCut: marksCut(format.format_name ?? ''),
    reordered: isReordered(packets),
    createdAt: creationOf(format.tags) ?? creationOf(video.tags),
  };
}

function parsed(json: Buffer): Probe | null {
  try {
    const value: unknown = JSON.parse(json.toString('utf8'));
    return Value.Check(ProbeSchema, value) ? value : null;
  } catch {
    return null;
  }
}

const PLAYLIST_BEGINS = /^(?:\uFEFF)?\s*(#EXTM3U|ffconcat|<\?xml|<MPD|\[playlist\]|v=0\r?\n)/i;

/** ffmpeg would refuse it by its format as well, but with a message that does not help. */
async function refusePlaylist(path: string): Promise<void> {
  const file = await open(path, 'r').catch((cause: NodeJS.ErrnoException) => {
    throw new ScenedeltaError('not-found', `cannot be read (${cause.code ?? cause.message})`, { cause });
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    if (bytesRead === 0) throw unreadable('has zero bytes');
    if (!PLAYLIST_BEGINS.test(buffer.toString('latin1', 0, bytesRead))) return;
    throw unreadable('is a playlist, which may name other files or the network, expected a video file');
  } catch (thrown) {
    if (thrown instanceof ScenedeltaError) throw thrown;
    throw unreadable(`cannot be read (${(thrown as NodeJS.ErrnoException).code})`);
  } finally {
    await file.close();
  }
}

const unreadable = (what: string) => new ScenedeltaError('image-unreadable', what);

function numberOf(text: string | undefined): number | null {
  const value = Number(text);
  return text === undefined || !Number.isFinite(value) ? null : value;
}

/** @param text of Matroska, e.g. '00:01:02.500000000' */
function secondsOf(text = ''): number | null {
  const [, hours, minutes, seconds] = /^(\d+):(\d+):([\d.]+)$/.exec(text) ?? [];
  return seconds === undefined ? null : numberOf(String(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)));
}

/** @param rate frames per second as a fraction, e.g. '1/10'; '0/0': unknown @returns seconds */
function intervalOf(rate = ''): number | null {
  const [frames = 0, seconds = 0] = rate.split('/').map(Number);
  return frames > 0 && seconds > 0 ? seconds / frames : null;
}

function isOnItsSide({ side_data_list = [], tags }: Stream): boolean {
  const rotation = side_data_list.find(({ rotation }) => rotation !== undefined)?.rotation ?? Number(tags?.rotate ?? 0);
  return Math.round(Math.abs(rotation) / 90) % 2 === 1;
}

function creationOf(tags: Readonly<Record<string, string>> | undefined): number | null {
  const at = Date.parse(tags?.['com.apple.quicktime.creationdate'] ?? tags?.creation_time ?? '');
  return Number.isNaN(at) || at < EARLIEST_CREATION ? null : at;
}

function longestInterval(packets: NonNullable<Probe['packets']>): number | null {
  const times = packets
    .filter(({ flags = '' }) => flags.includes('K'))
    .flatMap(({ pts_time }) => numberOf(pts_time) ?? [])
    .sort((a, b) => a - b);
  const intervals = times.slice(1).map((time, i) => time - (times[i] as number));
  return intervals.reduce<number | null>((longest, interval) => Math.max(longest ?? 0, interval), null);
}

/** Whether frames before a key frame follow it in the file (open GOP): alone, the decoder of H.264 loses it. */
function hasLeading(packets: NonNullable<Probe['packets']>): boolean {
  let key = Number.NEGATIVE_INFINITY;
  return packets.some(({ pts_time, flags = '' }) => {
    const time = numberOf(pts_time) ?? Number.POSITIVE_INFINITY;
    if (flags.includes('K')) key = time;
    return time < key;
  });
}

/** Rounding of times in the output of ffprobe, seconds. */
const ROUNDING = 1e-5;

/** Whether frames wait differently long between decoding and presentation; true if the container does not say. */
function isReordered(packets: NonNullable<Probe['packets']>): boolean {
  const delays = packets.map(
    ({ pts_time, dts_time }) => (numberOf(pts_time) ?? Number.NaN) - (numberOf(dts_time) ?? Number.NaN),
  );
  return !delays.every((delay) => Math.abs(delay - (delays[0] as number)) <= ROUNDING);
}

/**
 * @param frame number from 0, in the order of presentation
 * @returns its presentation time from the beginning of the file, seconds
 * @throws ScenedeltaError 'invalid-request' if there are fewer frames; as probeVideo does
 */
export async function timeOfFrame(
  path: string,
  frame: number,
  { ffmpeg, signal }: Omit<ProbeOptions, 'pixelLimit'>,
): Promise<number> {
  // Coded order differs from that of presentation by a few frames.
  const packets = ['-show_entries', 'packet=pts_time', '-read_intervals', `%+#${frame + REORDERED}`];
  const args = ['-v', 'error', ...CONFINED, '-select_streams', 'V:0', '-of', 'csv=p=0', ...packets, inputName(path)];
  const { stdout } = await run(ffprobeBeside(ffmpeg), args, { signal, timeoutMs: PROBE_TIMEOUT_MS });
  const times = stdout
    .toString('latin1')
    .split('\n')
    .flatMap((line) => (line.trim() === '' ? [] : (numberOf(line.split(',')[0]) ?? [])))
    .sort((a, b) => a - b);
  const [time, first] = [times[frame], times[0]];
  if (time !== undefined && first !== undefined) return time - first;
  throw invalidRequest(`frame ${frame}: expected at most ${times.length - 1}`);
}
