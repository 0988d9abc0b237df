/** Times of changes in recordings: on one line per camera, and as text. Pure. */
import type { FootageChange, FootageSummary, Moment } from '../../../src/footage/records.js';

type RecordedCamera = FootageSummary['cameras'][number];

/** H:MM:SS */
export function shownSeconds(seconds: number): string {
  const full = Math.floor(seconds);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${Math.floor(full / 3600)}:${two((full / 60) % 60)}:${two(full % 60)}`;
}

/** Times of one camera in ms: capture times, or else the files one after the other from 0. */
export interface Line {
  readonly from: number;
  readonly to: number;
  timeOf(moment: Moment): number;
}

export function lineOf({ files }: Pick<RecordedCamera, 'files'>, changes: readonly FootageChange[]): Line {
  const begins = new Map<string, number>();
  let total = 0;
  for (const { file, at, duration } of files) {
    begins.set(file, at === null ? total : Date.parse(at));
    total += (duration ?? 1) * 1000;
  }
  const timeOf = ({ at, file, seconds }: Moment) =>
    at === null ? (begins.get(file) ?? 0) + seconds * 1000 : Date.parse(at);
  const ends = files.map(({ file, duration }) => (begins.get(file) ?? 0) + (duration ?? 0) * 1000);
  const seen = changes.flatMap(({ first_seen, last_seen }) => [timeOf(first_seen), timeOf(last_seen)]);
  const times = [...begins.values(), ...ends, ...seen];
  return {
    from: times.reduce((a, b) => Math.min(a, b), times[0] ?? 0),
    to: times.reduce((a, b) => Math.max(a, b), times[0] ?? 0),
    timeOf,
  };
}

/** The video among the files of a recording that has this name, whichever folder it lies in. */
export const videoNamed = (files: RecordedCamera['files'], name: string): string | undefined =>
  files.find(({ file, duration }) => duration !== null && file.split(/[\\/]/).pop() === name)?.file;
