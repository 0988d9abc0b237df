/** Where ffmpeg begins to read, so that it can decode the frame at a time: not every container has an index. */

/** The reader begins at the key frame before. Others begin anywhere, and decode nothing until the next one. */
const INDEXED = /^(mov|matroska|avi|asf|ogg|mxf|dv|ivf|gif|mjpeg|mpjpeg|jpeg_pipe)\b/;
/** Their readers take a packet for corrupt only at the end of a file that was cut. */
const MARKS_CUT = /^(mov|avi|flv|live_flv)\b/;
/** Streams without a container: their reader finds no time. */
const RAW = /^(h261|h263|h264|hevc|av1|obu|vc1|m4v|mpegvideo)\b/;
/** The distance of key frames varies, and a reader finds a time by that of decoding; seconds. */
const MARGIN = 1;

/**
 * @param format its name in ffmpeg
 * @returns seconds before a frame at which reading must begin; Infinity: at the beginning of the file
 */
export function leadOf(format: string, keyFrameSeconds: number | null): number {
  if (RAW.test(format)) return Number.POSITIVE_INFINITY;
  if (INDEXED.test(format)) return 0;
  return keyFrameSeconds === null ? Number.POSITIVE_INFINITY : 2 * keyFrameSeconds + MARGIN;
}

/** @param format its name in ffmpeg @returns whether a packet that its reader takes for corrupt is that of a cut */
export const marksCut = (format: string): boolean => MARKS_CUT.test(format);

export interface Seek {
  /** presentation time at which reading begins, seconds from the beginning of the file */
  readonly begin: number;
  /** options in front of the input, with which times stay those of the container */
  readonly options: readonly string[];
  /** filters that drop the frames before the time */
  readonly filters: readonly string[];
}

interface Sought {
  /** leadOf */
  readonly lead: number;
  /** marksCut: the packet is dropped, as the errors of its decoding would seem those of the frames before it */
  readonly marksCut: boolean;
  /** of the container, seconds */
  readonly startTime: number;
}

/** @param from presentation time of the first frame that is wanted */
export function seekTo(from: number, { lead, marksCut, startTime }: Sought): Seek {
  const begin = Math.max(0, from - lead);
  return {
    begin,
    options: [
      '-copyts',
      ...(marksCut ? ['-fflags', '+discardcorrupt'] : []),
      ...(begin > 0 ? ['-ss', begin.toFixed(6)] : []),
    ],
    filters: begin < from ? [`select='gte(t,${(from + startTime).toFixed(6)})'`] : [],
  };
}
