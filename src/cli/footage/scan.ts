/** The table of `--scan-only`: the files of each camera, the source of their times, gaps, overlaps and doubts. */
import pLimit from 'p-limit';
import { counted } from '../../base/counted.js';
import { isoTimeIn } from '../../base/wall-clock.js';
import type { RecordingPlan } from '../../footage/inputs/plan.js';
import type { FootageItem, FootageSequence } from '../../footage/inputs/recording-plan.js';
import { probeVideo } from '../../footage/video/probe.js';
import type { Config } from '../../process/config.js';
import { formatFailures } from './report-lines.js';

/** Videos whose length is read at a time. */
const READERS = 4;
/** Clips that follow each other overlap by a frame or two, ms. */
const LEAST_OVERLAP = 1_000;
/** Gaps and overlaps of a camera that are listed; all are counted. */
const SHOWN = 5;

/** @param sequences of the plan, with the pauses that separate frames */
export async function scanTable(
  { sequences: planned, failures }: RecordingPlan,
  sequences: readonly FootageSequence[],
  { ffmpeg, videoPixelLimit: pixelLimit }: Pick<Config, 'ffmpeg' | 'videoPixelLimit'>,
  { timeZone, signal }: { timeZone: string; signal: AbortSignal },
): Promise<string> {
  const iso = (at: number) => isoTimeIn(at, timeZone);
  const limit = pLimit(READERS);
  const endOf = async ({ kind, at, location }: FootageItem): Promise<number> => {
    if (kind === 'image' || location.from !== 'file') return at;
    const { path } = location;
    const info = await limit(() => probeVideo(path, { ffmpeg, pixelLimit, signal }).catch(() => null));
    return at + Math.round((info?.duration ?? 0) * 1000);
  };
  const tables = sequences.map(async ({ camera, items, gapMs }, i) => {
    const ends = await Promise.all(items.map(endOf));
    const [gaps, overlaps]: [string[], string[]] = [[], []];
    let reached = Number.NEGATIVE_INFINITY;
    for (const [n, { at, file }] of items.entries()) {
      if (n > 0 && at - reached > gapMs) gaps.push(`${seconds(at - reached)} from ${iso(reached)} to ${iso(at)}`);
      if (n > 0 && reached - at >= LEAST_OVERLAP) overlaps.push(`${seconds(reached - at)} from ${iso(at)}: ${file}`);
      reached = Math.max(reached, ends[n] as number);
    }
    const { sources, doubts } = planned[i] as RecordingPlan['sequences'][number];
    const videos = items.filter(({ kind }) => kind === 'video').length;
    const [first, last] = [items[0] as FootageItem, items.at(-1) as FootageItem];
    const rows: [string, readonly string[]][] = [
      ['files', [`${counted(videos, 'video')}, ${counted(items.length - videos, 'picture')}`]],
      ['first', [`${iso(first.at)} ${first.file}`]],
      ['last', [`${iso(last.at)} ${last.file}`]],
      [
        'times',
        [
          Object.entries(sources)
            .map(([source, count]) => `${count} by ${SOURCES[source]}`)
            .join(', '),
        ],
      ],
      ['gaps', shown(gaps)],
      ['overlaps', shown(overlaps)],
      ['doubts', shown(doubts)],
    ];
    return [
      camera,
      ...rows.flatMap(([name, lines]) => lines.map((line, n) => `  ${(n === 0 ? name : '').padEnd(10)}${line}`)),
    ];
  });
  const files = planned.reduce((sum, { items }) => sum + items.length, 0);
  const left = failures.length === 0 ? '' : ': the reasons are above';
  return [
    ...(await Promise.all(tables)).flat(),
    ...formatFailures(failures),
    `${counted(files + failures.length, 'file')} in = ${files} of ${counted(planned.length, 'camera')} + ` +
      `${failures.length} left out${left}`,
  ].join('\n');
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const SOURCES: Readonly<Record<string, string>> = {
  start: '--start',
  name: 'their names',
  container: 'the container',
  exif: 'EXIF',
  file: 'the last modification',
};

const shown = (lines: readonly string[]): string[] =>
  lines.length === 0 ? ['none'] : [`${lines.length}`, ...lines.slice(0, SHOWN)];
